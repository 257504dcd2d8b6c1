import { type GatewayError, gatewayError, isGatewayError } from '../errors.ts'
import { decodeUtf8, readAll } from '../lib/bytes.ts'
import { startDeadline } from '../lib/deadline.ts'
import type { PendingAnswer, UpstreamCall, UpstreamFetch } from '../lib/exchange.ts'
import { startCall } from '../lib/fetch-call.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import { compatibleFormat } from '../providers/target.ts'
import { type ConnectionRecord, openApiKey, type Store } from '../store/store.ts'
import type { Clock } from '../types.ts'

interface LookUpDeps {
  store: Pick<Store, 'vault'>
  clock: Clock
  /** The time of one look-up, headers and body together. */
  timeoutMs: number
  onError(error: unknown): void
}

/** Requests the model ids of a connection's upstream; resolves to an empty list on any failure. */
export type LookUp = (connection: ConnectionRecord) => Promise<string[]>

/** The model ids of upstreams, by the id of the connection; also those that are still being requested. */
export type LookUpCache = Map<string, Promise<string[]>>

/** Makes a look-up that asks the upstream with each call (src/rules.md, Models of compatible providers). Failures go to `onError`. */
export const createLookUp =
  ({ store, clock, timeoutMs, onError }: LookUpDeps, fetch: UpstreamFetch): LookUp =>
  async (connection) => {
    try {
      const apiKey = await openApiKey(store, connection)
      const call = upstreamRequest(connection.provider, connection.providerSpecificData?.baseUrl, apiKey)
      return call ? (listedIds(await fetchJson(call, { fetch, clock, timeoutMs })) ?? []) : []
    } catch (error) {
      if (!isGatewayError(error, 'CLIENT_CLOSED_REQUEST')) onError(failureOf(connection, error))
      return []
    }
  }

/** Makes a look-up that keeps the result for each connection in `cache`, and requests it only once. */
export const cachedLookUp =
  (lookUp: LookUp, cache: LookUpCache): LookUp =>
  (connection) => {
    const answer = cache.get(connection.id) ?? lookUp(connection)
    cache.set(connection.id, answer)
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

const MAX_BYTES = 4 * 1024 * 1024

/**
 * Resolves to the JSON of an upstream's answer, headers and body within `timeoutMs`; a call that fails is cancelled. Rejects with
 * `UPSTREAM_TIMEOUT`, `UPSTREAM_FAILED` (an error status), `UPSTREAM_INVALID` (no JSON), or what `fetch` rejects with.
 */
export async function fetchJson(
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

/** The model ids in an upstream's answer, in its order, each once; `undefined` when it holds no list. */
export function listedIds(answer: unknown): string[] | undefined {
  const ids = modelsOf(answer)?.map(idOf)
  return ids && [...new Set(ids.filter((id) => id !== undefined))]
}

/** Servers in Go write an empty list as `null`. */
function modelsOf(answer: unknown): unknown[] | undefined {
  if (Array.isArray(answer)) return answer
  if (!isObject(answer)) return undefined
  const lists = [answer.data, answer.models, answer.results]
  return lists.find((models) => Array.isArray(models)) ?? (lists.includes(null) ? [] : undefined)
}

/** The first of `id`, `name` and `model` that is a string and not blank, as it is. */
function idOf(model: unknown): string | undefined {
  if (!isObject(model)) return undefined
  return [model.id, model.name, model.model].find((id): id is string => typeof id === 'string' && id.trim() !== '')
}

/** The request for a compatible provider's models (src/rules.md, Models of compatible providers); `undefined` without key or address. */
function upstreamRequest(provider: string, baseUrl: unknown, apiKey: string | undefined): UpstreamCall | undefined {
  const base = typeof baseUrl === 'string' ? baseUrl.trim().replace(/\/$/, '') : ''
  if (!base || !apiKey) return undefined
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
  if (compatibleFormat(provider) !== 'anthropic-messages') return { url: `${base}/models`, method: 'GET', headers }
  return {
    url: messagesModelsUrl(`${base}/models`),
    method: 'GET',
    headers: { ...headers, 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' },
  }
}

/** The models' address beside that of the messages endpoint, which users often give. */
export const messagesModelsUrl = (url: string): string => url.replace(/\/messages(?:\/models)?$/, '/models')
