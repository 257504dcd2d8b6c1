import { gatewayError } from '../errors.ts'
import { startCall } from '../lib/call.ts'
import type { Exchange, PendingAnswer, UpstreamFetch } from '../lib/exchange.ts'

/** Does work with the same `fetch`, whose calls are aborted when the client leaves (security.md, rule 10). */
export async function endingWith<T>(
  exchange: Pick<Exchange, 'onAbort'>,
  fetch: UpstreamFetch,
  work: (fetch: UpstreamFetch) => Promise<T>,
): Promise<T> {
  const calls = new Set<PendingAnswer>()
  let hasLeft = false
  const stopListening = exchange.onAbort(() => {
    hasLeft = true
    for (const call of calls) call.cancel(gatewayError('CLIENT_CLOSED_REQUEST'))
  })
  const plain: UpstreamFetch = (input, init) => fetch(input, init)
  plain.raw = (call) => {
    const pending = startCall(fetch, call)
    calls.add(pending)
    if (hasLeft) pending.cancel(gatewayError('CLIENT_CLOSED_REQUEST'))
    return pending
  }
  try {
    return await work(plain)
  } finally {
    stopListening()
  }
}
