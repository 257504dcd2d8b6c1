import { type GatewayError, gatewayError, isGatewayError } from '../errors.ts'
import type { UpstreamFetch } from '../lib/exchange.ts'
import { type ConnectionRecord, openApiKey, type Store } from '../store/store.ts'
import type { Clock } from '../types.ts'
import { askUpstream } from './ask-upstream.ts'
import type { Asked, LookUp } from './base-ids.ts'
import { upstreamIds } from './upstream-ids.ts'
import { upstreamRequest } from './upstream-request.ts'

export interface LookUpDeps {
  store: Pick<Store, 'vault'>
  clock: Clock
  /** The time of one look-up, headers and body together. */
  timeoutMs: number
  onError(error: unknown): void
}

/** Makes a look-up that asks a compatible provider for its models each time; on failure there are none (spec.md, Upstream model fetch). */
export const createLookUp =
  ({ store, clock, timeoutMs, onError }: LookUpDeps, fetch: UpstreamFetch): LookUp =>
  async (connection) => {
    try {
      const apiKey = await openApiKey(store, connection)
      const call = upstreamRequest(connection.provider, connection.providerSpecificData?.baseUrl, apiKey)
      return call ? upstreamIds(await askUpstream(call, { fetch, clock, timeoutMs })) : []
    } catch (error) {
      if (!isGatewayError(error, 'CLIENT_CLOSED_REQUEST')) onError(failureOf(connection, error))
      return []
    }
  }

/** The same, but it asks nobody whose answer is in `asked`, and adds the answers of the others. */
export const onceEach =
  (lookUp: LookUp, asked: Asked): LookUp =>
  (connection) => {
    const answer = asked.get(connection.id) ?? lookUp(connection)
    asked.set(connection.id, answer)
    return answer
  }

/** The failure with the connection's name. The error of an HTTP client is not kept: its text may quote the header with the key. */
function failureOf({ id, provider }: ConnectionRecord, error: unknown): GatewayError {
  const known = isGatewayError(error) ? error : gatewayError('UPSTREAM_UNREACHABLE')
  return gatewayError(known.code, {
    message: `No models from ${provider}: ${known.message}`,
    data: { ...known.data, provider, connection: id },
  })
}
