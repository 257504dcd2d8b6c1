import { settlesWithin } from '../../lib/deadline.ts'
import type { Reply } from '../../lib/exchange.ts'
import { KEEP_ALIVE_MS } from '../codec/stream-headers.ts'
import type { ModelRequest } from '../model-request.ts'

/**
 * Replies to a streaming request. If there is no response within 15 s, a translated stream starts without one. It sends a keep-alive at least every
 * 15 s, because proxies and clients close silent connections. Responses from providers with the client's own format are forwarded unchanged,
 * including their status.
 */
export async function replyWithKeepAlive(replyPromise: Promise<Reply>, request: ModelRequest): Promise<Reply> {
  const { log, context } = request
  while (!(await settlesWithin(replyPromise, KEEP_ALIVE_MS, context.clock))) {
    const { inFlight } = log
    if (!inFlight || inFlight.isPassThrough) continue
    const { createEarlyReply } = await import('./early-reply.ts')
    return createEarlyReply(replyPromise, request, inFlight)
  }
  return await replyPromise
}
