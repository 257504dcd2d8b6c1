import type { UpstreamCall, UpstreamFetch } from '../../lib/exchange.ts'
import { getDefaultAuth } from '../../protocols/formats/formats.ts'
import { NAME_PREFIX } from '../../protocols/formats/gemini/client/gemini-client-models.ts'
import type { NamedConnection } from '../../protocols/providers/provider-names.ts'
import { createTarget, getCompatibleFormat } from '../../protocols/providers/target.ts'
import type { Catalog, Clock, Connection } from '../../types.ts'
import { fetchJson, parseModelIds, toModelsUrl } from './model-lookup.ts'

/** Options for querying a server. `timeoutMs` includes reading the body. */
export interface ServerQuery {
  fetch: UpstreamFetch
  clock: Clock
  timeoutMs: number
}

/** The request that lists the models on a connection's server. */
export interface ModelsCall extends UpstreamCall {
  /** Whether the server uses Gemini's format, whose responses differ. */
  isGemini: boolean
}

/**
 * Builds the request that lists a connection's models, with or without a key. Returns `undefined` if there is no base URL, or for a cloud platform,
 * which doesn't list an account's models.
 */
export function buildModelsCall(
  catalog: Catalog,
  connection: NamedConnection & Pick<Connection, 'id'>,
  apiKey: string | undefined,
): ModelsCall | undefined {
  const { baseUrl, format, auth = getDefaultAuth(format), cloud } = createTarget(catalog, connection, '')
  if (baseUrl === undefined || cloud || format === 'bedrock-converse') return undefined
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (apiKey !== undefined && auth === 'bearer') headers.authorization = `Bearer ${apiKey}`
  else if (apiKey !== undefined) headers[auth] = apiKey
  const call = { url: `${baseUrl}/models`, method: 'GET' as const, headers, isGemini: format === 'gemini' }
  if (format === 'gemini') return { ...call, url: `${call.url}?pageSize=1000` } // the default is 50
  if (format !== 'anthropic-messages') return call
  headers['anthropic-version'] = '2023-06-01'
  if (apiKey !== undefined && getCompatibleFormat(connection.provider)) headers.authorization = `Bearer ${apiKey}` // the listing does the same
  return { ...call, url: `${toModelsUrl(call.url)}?limit=1000` } // the default is 20
}

/** Fetches a server's model IDs. Returns `undefined` if the response doesn't contain a list. Rejects with the same errors as `fetchJson`. */
export async function fetchModelIds(
  { isGemini, ...call }: ModelsCall,
  query: ServerQuery,
): Promise<string[] | undefined> {
  const ids = parseModelIds(await fetchJson(call, query))
  return isGemini ? ids?.map((id) => (id.startsWith(NAME_PREFIX) ? id.slice(NAME_PREFIX.length) : id)) : ids
}
