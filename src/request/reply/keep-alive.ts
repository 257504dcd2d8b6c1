import { settlesWithin } from '../../lib/deadline.ts'
import type { Reply } from '../../lib/exchange.ts'
import { KEEP_ALIVE_MS } from '../codec/stream-headers.ts'
import type { ModelRequest } from '../model-request.ts'

/**
 * The reply to a request for a stream. A translated one begins before there is an answer when that takes longer than 15 s, and shows a sign of
 * life at least every 15 s, since proxies and clients cut silent connections; a provider of the client's own format is heard as it is, its
 * status included.
 */
export async function keepAlive(answering: Promise<Reply>, request: ModelRequest): Promise<Reply> {
  const { log, context } = request
  while (!(await settlesWithin(answering, KEEP_ALIVE_MS, context.clock))) {
    const { inFlight } = log
    if (!inFlight || inFlight.isPassThrough) continue
    const { earlyReply } = await import('./early-reply.ts')
    return earlyReply(answering, request, inFlight)
  }
  return await answering
}
