import { gatewayError } from '../errors.ts'
import { startCall } from '../lib/call.ts'
import type { Exchange, UpstreamFetch } from '../lib/exchange.ts'

/** The same function, with calls that are aborted when the client leaves (security.md, rule 10). */
export function endingWith(exchange: Pick<Exchange, 'onAbort'>, fetch: UpstreamFetch): UpstreamFetch {
  const plain: UpstreamFetch = (input, init) => fetch(input, init)
  plain.raw = (call) => {
    const pending = startCall(fetch, call)
    exchange.onAbort(() => pending.cancel(gatewayError('CLIENT_CLOSED_REQUEST')))
    return pending
  }
  return plain
}
