import { gatewayError } from '../errors.ts'
import { decodeUtf8, readAll } from '../lib/bytes.ts'
import { startCall } from '../lib/call.ts'
import { startDeadline } from '../lib/deadline.ts'
import type { PendingAnswer, UpstreamCall, UpstreamFetch } from '../lib/exchange.ts'
import { tryParseJson } from '../lib/json.ts'
import type { Clock } from '../types.ts'

const MAX_BYTES = 4 * 1024 * 1024

/**
 * Resolves to the JSON of an upstream's answer, headers and body within `timeoutMs`; a call that fails is cancelled. Rejects with
 * `UPSTREAM_TIMEOUT`, `UPSTREAM_FAILED` (an error status), `UPSTREAM_INVALID` (no JSON), or what `fetch` rejects with.
 */
export async function askUpstream(
  call: UpstreamCall,
  { fetch, clock, timeoutMs }: { fetch: UpstreamFetch; clock: Clock; timeoutMs: number },
): Promise<unknown> {
  const pending = startCall(fetch, call)
  let cancelDeadline = () => {}
  const late = new Promise<never>((_, reject) => {
    cancelDeadline = startDeadline(clock, timeoutMs, () => reject(gatewayError('UPSTREAM_TIMEOUT')))
  })
  try {
    return await Promise.race([readJson(pending), late])
  } catch (error) {
    pending.cancel(error)
    throw error
  } finally {
    cancelDeadline()
  }
}

async function readJson(pending: PendingAnswer): Promise<unknown> {
  const { status, body } = await pending.answer
  if (status < 200 || status > 299) {
    throw gatewayError('UPSTREAM_FAILED', { message: `The provider answered with status ${status}.`, data: { status } })
  }
  const bytes = await readAll(body, MAX_BYTES, (maxBytes) => gatewayError('UPSTREAM_INVALID', { data: { maxBytes } }))
  const answer = tryParseJson(decodeUtf8(bytes))
  if (answer === undefined) throw gatewayError('UPSTREAM_INVALID', { message: 'The provider sent no JSON.' })
  return answer
}
