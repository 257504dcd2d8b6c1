import * as v from 'valibot'
import { isGatewayError } from '../errors.ts'
import { getFallbackList } from '../features/listing/fallback-list.ts'
import { buildModelsCall, fetchModelIds, type ServerQuery } from '../features/listing/model-discovery.ts'
import { getDefinition, getProviderNames } from '../protocols/providers/names.ts'
import type { ConnectionRecord } from '../records/record-collections.ts'
import { enabledModel, MAX_ENABLED } from '../types/records/connection-fields.ts'
import type { Catalog, CustomModel } from '../types.ts'
import { givenSchema } from './schemas.ts'

const modelId = givenSchema(enabledModel)

/** What a server has answered to the question for its models: at least one, or why there are none and what to do. */
export type Discovered = { models: string[]; warning?: string } | { models?: undefined; warning: string }

/** Asks the server of a connection for its models, with the key or without one. Never rejects. */
export async function discoverModels(
  connection: ConnectionRecord,
  apiKey: string | undefined,
  { catalog, ...asking }: ServerQuery & { catalog: Catalog },
): Promise<Discovered> {
  const call = buildModelsCall(catalog, connection, apiKey)
  if (!call) return { warning: unaskable(connection, catalog) }
  const server = `The server at ${call.url.replace(/\?.*/, '')}`
  const answer = await fetchModelIds(call, asking).catch((error: unknown) => ({ error }))
  if (answer === undefined) return { warning: `${server} did not return a list of models: ${ADDRESS}. ${BY_HAND}` }
  if ('error' in answer) return { warning: `${server} ${problemWith(answer.error, apiKey, asking)}. ${BY_HAND}` }
  const models = answer.filter((id) => v.is(modelId, id))
  if (models.length === 0) return { warning: `${server} has no models yet. Load one there, then ${AGAIN}.` }
  if (models.length <= MAX_ENABLED) return { models }
  const warning = `${server} has ${models.length} models. The first ${MAX_ENABLED} are kept; add the others as custom models.`
  return { models: models.slice(0, MAX_ENABLED), warning }
}

const AGAIN = 'try "discover" again'
const BY_HAND = `Then ${AGAIN}, or list its models with "enabledModels".`
const ADDRESS = 'check "baseUrl", which usually ends in "/v1"'

function unaskable({ provider, providerSpecificData }: ConnectionRecord, catalog: Catalog): string {
  const definition = getDefinition(catalog, provider)
  if (!definition?.cloud && !providerSpecificData?.baseUrl && !definition?.baseUrl)
    return `The connection has no URL to get models from. Set "baseUrl". ${BY_HAND}`
  return `${definition?.name ?? provider} cannot list an account's models. List them with "enabledModels".`
}

/** What went wrong and what to do, as the rest of a sentence. It quotes nothing from the server. */
function problemWith(error: unknown, apiKey: string | undefined, { timeoutMs }: ServerQuery): string {
  if (isGatewayError(error, 'UPSTREAM_TIMEOUT'))
    return `did not list its models within ${timeoutMs / 1_000} s: check whether it is busy or starting`
  if (isGatewayError(error, 'UPSTREAM_INVALID')) return `did not return a list of models: ${ADDRESS}`
  if (!isGatewayError(error, 'UPSTREAM_FAILED')) return 'is unreachable: start it, or set its "baseUrl"'
  const status = Number(error.data?.status)
  const said = `returned status ${status}`
  if (status === 401 || status === 403)
    return apiKey === undefined ? `${said} because it requires a key: set "apiKey"` : `${said}: check "apiKey"`
  if (status >= 500 || status === 429) return `${said}: wait until it is ready`
  return `${said}: ${ADDRESS}`
}

/**
 * The connection with the models that its server named. If the server cannot be reached, the models given for the connection stay, or else those that
 * were stored.
 */
export function withDiscovered(
  connection: ConnectionRecord,
  { models }: Discovered,
  stored?: string[],
): ConnectionRecord {
  const { providerSpecificData } = connection
  const enabledModels = models ?? providerSpecificData?.enabledModels ?? stored
  return enabledModels
    ? { ...connection, providerSpecificData: { ...providerSpecificData, enabledModels } }
    : connection
}

/**
 * The warning for a connection whose server the listing does not ask: the listing shows none of its models, or models of the catalog that the server
 * may lack. `undefined` when no warning is needed, such as when custom models are filed under one of its names.
 */
export async function warningOfUnasked(
  connection: ConnectionRecord,
  { catalog, customModels }: { catalog: Catalog; customModels: { all(): Promise<readonly CustomModel[]> } },
): Promise<string | undefined> {
  const hasKey = connection.sealedApiKey !== undefined
  const { provider, providerSpecificData } = connection
  const shown = getFallbackList(
    { provider, ...(providerSpecificData && { providerSpecificData }), hasKey },
    getDefinition(catalog, provider),
  )
  if (!shown) return undefined
  const { output, catalog: filed, id } = getProviderNames(catalog, connection)
  const customs = await customModels.all().catch(() => []) // the change is made, whatever else cannot be read
  if (customs.some(({ providerAlias }) => [output, filed, id].includes(providerAlias))) return undefined
  const what =
    shown === 'nothing'
      ? "GET /v1/models lists none of this connection's models because its server was never queried"
      : "GET /v1/models lists this connection's models from the catalog, and its server may not have them"
  return `${what}. Query the server with "discover": true, or list its models with "enabledModels".`
}
