import { defaultAuth } from '../formats/formats.ts'
import { NAME_PREFIX } from '../formats/gemini/client/models.ts'
import type { UpstreamCall, UpstreamFetch } from '../lib/exchange.ts'
import type { NamedConnection } from '../providers/names.ts'
import { compatibleFormat, targetOf } from '../providers/target.ts'
import type { Catalog, Clock, Connection } from '../types.ts'
import { fetchJson, listedIds, messagesModelsUrl } from './look-up.ts'

/** How a server is asked; `timeoutMs`: headers and body together. */
export interface Asking {
  fetch: UpstreamFetch
  clock: Clock
  timeoutMs: number
}

/** The request for the models of a connection's server. */
export interface ModelsCall extends UpstreamCall {
  /** The format that it speaks, whose answer differs. */
  isGemini: boolean
}

/**
 * The request for the models of a connection, with its key or without one; `undefined` where there is no address, or a cloud, whose list is
 * not of the models of an account.
 */
export function modelsCall(
  catalog: Catalog,
  connection: NamedConnection & Pick<Connection, 'id'>,
  apiKey: string | undefined,
): ModelsCall | undefined {
  const { baseUrl, format, auth = defaultAuth(format), cloud } = targetOf(catalog, connection, '')
  if (baseUrl === undefined || cloud || format === 'bedrock-converse') return undefined
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (apiKey !== undefined && auth === 'bearer') headers.authorization = `Bearer ${apiKey}`
  else if (apiKey !== undefined) headers[auth] = apiKey
  const call = { url: `${baseUrl}/models`, method: 'GET' as const, headers, isGemini: format === 'gemini' }
  if (format === 'gemini') return { ...call, url: `${call.url}?pageSize=1000` } // by default there are 50 on a page
  if (format !== 'anthropic-messages') return call
  headers['anthropic-version'] = '2023-06-01'
  if (apiKey !== undefined && compatibleFormat(connection.provider)) headers.authorization = `Bearer ${apiKey}` // as the listing does
  return { ...call, url: `${messagesModelsUrl(call.url)}?limit=1000` } // by default there are 20 on a page
}

/** The ids that a server lists; `undefined` when its answer holds no list. Rejects with what `fetchJson` rejects with. */
export async function askForModels({ isGemini, ...call }: ModelsCall, asking: Asking): Promise<string[] | undefined> {
  const ids = listedIds(await fetchJson(call, asking))
  return isGemini ? ids?.map((id) => (id.startsWith(NAME_PREFIX) ? id.slice(NAME_PREFIX.length) : id)) : ids
}
