import { gatewayError } from '../errors.ts'
import { decodeUtf8, readAll } from '../lib/bytes.ts'
import { startCall } from '../lib/call.ts'
import { startDeadline } from '../lib/deadline.ts'
import type { PendingAnswer, UpstreamCall, UpstreamFetch } from '../lib/exchange.ts'
import { tryParseJson } from '../lib/json.ts'
import type { Clock } from '../types.ts'

const MAX_BYTES = 4 * 1024 * 1024

/**
 * The JSON that an upstream answers, headers and body within `timeoutMs` together; a call that fails in any way is ended.
 * Throws `UPSTREAM_TIMEOUT`, `UPSTREAM_FAILED` on a status that is no success, `UPSTREAM_INVALID`, or what the `fetch` throws.
 */
export async function askUpstream(
  call: UpstreamCall,
  { fetch, clock, timeoutMs }: { fetch: UpstreamFetch; clock: Clock; timeoutMs: number },
): Promise<unknown> {
  const pending = startCall(fetch, call)
  let stopWaiting = () => {}
  const late = new Promise<never>((_, reject) => {
    stopWaiting = startDeadline(clock, timeoutMs, () => reject(gatewayError('UPSTREAM_TIMEOUT'))).cancel
  })
  try {
    return await Promise.race([readJson(pending), late])
  } catch (error) {
    pending.cancel(error)
    throw error
  } finally {
    stopWaiting()
  }
}

async function readJson(pending: PendingAnswer): Promise<unknown> {
  const { status, body } = await pending.answer
  if (status < 200 || status > 299) throw gatewayError('UPSTREAM_FAILED', { data: { status } })
  const bytes = await readAll(body, MAX_BYTES, () =>
    gatewayError('UPSTREAM_INVALID', { data: { maxBytes: MAX_BYTES } }),
  )
  const answer = tryParseJson(decodeUtf8(bytes))
  if (answer === undefined) throw gatewayError('UPSTREAM_INVALID', { message: 'The provider sent no JSON.' })
  return answer
}
