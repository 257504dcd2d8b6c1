import { type GatewayError, gatewayError, isGatewayError } from '../../errors.ts'
import { decodeUtf8, readAll } from '../../lib/bytes.ts'
import { startDeadline } from '../../lib/deadline.ts'
import type { PendingResponse, UpstreamCall, UpstreamFetch } from '../../lib/exchange.ts'
import { startCall } from '../../lib/fetch-call.ts'
import { isObject, tryParseJson } from '../../lib/json.ts'
import { getCompatibleFormat } from '../../protocols/providers/target.ts'
import { type ConnectionRecord, decryptApiKey, type Store } from '../../records/store.ts'
import type { Clock } from '../../types.ts'

interface LookupDeps {
  store: Pick<Store, 'keyring' | 'code'>
  clock: Clock
  /** Timeout of a lookup, including reading the body, in ms. */
  timeoutMs: number
  onError(error: unknown): void
}

/** Fetches the model IDs from a connection's upstream. Resolves to an empty list on failure. */
export type Lookup = (connection: ConnectionRecord) => Promise<string[]>

/** Model IDs by connection ID, including lookups in progress. */
export type LookupCache = Map<string, Promise<string[]>>

/** Creates a lookup that queries the upstream on every call (src/rules.md, Models of compatible providers). Failures go to `onError`. */
export const createLookup =
  ({ store, clock, timeoutMs, onError }: LookupDeps, fetch: UpstreamFetch): Lookup =>
  async (connection) => {
    try {
      const apiKey = await decryptApiKey(store, connection)
      const call = buildLookupCall(connection.provider, connection.providerSpecificData?.baseUrl, apiKey)
      return call ? (parseModelIds(await fetchJson(call, { fetch, clock, timeoutMs })) ?? []) : []
    } catch (error) {
      if (!isGatewayError(error, 'CLIENT_CLOSED_REQUEST')) onError(addConnection(connection, error))
      return []
    }
  }

/** Creates a lookup that queries each connection only once and caches the result in `cache`. */
export const cacheLookup =
  (lookup: Lookup, cache: LookupCache): Lookup =>
  (connection) => {
    const response = cache.get(connection.id) ?? lookup(connection)
    cache.set(connection.id, response)
    return response
  }

/** Adds the connection to the error. Drops errors from HTTP clients, because they may quote the header with the key. */
function addConnection({ id, provider }: ConnectionRecord, error: unknown): GatewayError {
  const cause = isGatewayError(error) ? error : gatewayError('UPSTREAM_UNREACHABLE')
  return gatewayError(cause.code, {
    message: `No models from ${provider}: ${cause.message}`,
    data: { ...cause.data, provider, connection: id },
  })
}

const MAX_BYTES = 4 * 1024 * 1024

/**
 * Fetches JSON from an upstream. `timeoutMs` includes reading the body. Rejects with `UPSTREAM_TIMEOUT`, `UPSTREAM_FAILED` (an error status),
 * `UPSTREAM_INVALID` (not JSON), or the error from `fetch`.
 */
export async function fetchJson(
  call: UpstreamCall,
  { fetch, clock, timeoutMs }: { fetch: UpstreamFetch; clock: Clock; timeoutMs: number },
): Promise<unknown> {
  const pendingResponse = startCall(fetch, call)
  let cancelDeadline = () => {}
  const timeoutPromise = new Promise<never>((_, reject) => {
    cancelDeadline = startDeadline(clock, timeoutMs, () => reject(gatewayError('UPSTREAM_TIMEOUT')))
  })
  try {
    return await Promise.race([readJson(pendingResponse), timeoutPromise])
  } catch (error) {
    pendingResponse.cancel(error)
    throw error
  } finally {
    cancelDeadline()
  }
}

async function readJson(pendingResponse: PendingResponse): Promise<unknown> {
  const { status, body } = await pendingResponse.response
  if (status < 200 || status > 299) {
    throw gatewayError('UPSTREAM_FAILED', { message: `The provider returned status ${status}.`, data: { status } })
  }
  const bytes = await readAll(body, MAX_BYTES, (maxBytes) => gatewayError('UPSTREAM_INVALID', { data: { maxBytes } }))
  const response = tryParseJson(decodeUtf8(bytes))
  if (response === undefined) throw gatewayError('UPSTREAM_INVALID', { message: 'The provider did not return JSON.' })
  return response
}

/** Returns the distinct model IDs in an upstream's response, in order. Returns `undefined` if it doesn't contain a list. */
export function parseModelIds(response: unknown): string[] | undefined {
  const ids = findModels(response)?.map(getModelId)
  return ids && [...new Set(ids.filter((id) => id !== undefined))]
}

/** Finds the list of models in a response. Servers written in Go may encode an empty list as `null`. */
function findModels(response: unknown): unknown[] | undefined {
  if (Array.isArray(response)) return response
  if (!isObject(response)) return undefined
  const lists = [response.data, response.models, response.results]
  return lists.find((models) => Array.isArray(models)) ?? (lists.includes(null) ? [] : undefined)
}

function getModelId(model: unknown): string | undefined {
  if (!isObject(model)) return undefined
  return [model.id, model.name, model.model].find((id): id is string => typeof id === 'string' && id.trim() !== '')
}

/**
 * Builds the request for a compatible provider's models (src/rules.md, Models of compatible providers). Returns `undefined` if there is no key or
 * base URL.
 */
function buildLookupCall(provider: string, baseUrl: unknown, apiKey: string | undefined): UpstreamCall | undefined {
  const trimmedUrl = typeof baseUrl === 'string' ? baseUrl.trim().replace(/\/$/, '') : ''
  if (!trimmedUrl || !apiKey) return undefined
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
  if (getCompatibleFormat(provider) !== 'anthropic-messages')
    return { url: `${trimmedUrl}/models`, method: 'GET', headers }
  return {
    url: toModelsUrl(`${trimmedUrl}/models`),
    method: 'GET',
    headers: { ...headers, 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' },
  }
}

/** Corrects the models URL if the base URL includes the path of the messages endpoint, which is a common mistake. */
export const toModelsUrl = (url: string): string => url.replace(/\/messages(?:\/models)?$/, '/models')
