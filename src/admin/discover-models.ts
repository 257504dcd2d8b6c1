import * as v from 'valibot'
import { isGatewayError } from '../errors.ts'
import { getFallbackList } from '../features/listing/fallback-list.ts'
import { buildModelsCall, fetchModelIds, type ServerQuery } from '../features/listing/model-discovery.ts'
import { getDefinition, getProviderNames } from '../protocols/providers/provider-names.ts'
import type { ConnectionRecord } from '../records/record-collections.ts'
import { enabledModel, MAX_ENABLED_MODELS } from '../types/records/connection-fields.ts'
import type { Catalog, CustomModel } from '../types.ts'
import { createSchema } from './schemas.ts'

const modelIdSchema = createSchema(enabledModel)

/** A server's models, at least one, or a warning that explains why there are none and what to do. */
export type Discovery = { models: string[]; warning?: string } | { models?: undefined; warning: string }

/** Queries a connection's server for its models, with or without a key. Never rejects. */
export async function discoverModels(
  connection: ConnectionRecord,
  apiKey: string | undefined,
  { catalog, ...query }: ServerQuery & { catalog: Catalog },
): Promise<Discovery> {
  const call = buildModelsCall(catalog, connection, apiKey)
  if (!call) return { warning: describeMissingList(connection, catalog) }
  const serverDescription = `The server at ${call.url.replace(/\?.*/, '')}`
  const response = await fetchModelIds(call, query).catch((error: unknown) => ({ error }))
  if (response === undefined)
    return {
      warning: `${serverDescription} did not return a list of models: ${BASE_URL_ADVICE}. ${ENABLED_MODELS_ADVICE}`,
    }
  if ('error' in response)
    return {
      warning: `${serverDescription} ${describeProblem(response.error, apiKey, query)}. ${ENABLED_MODELS_ADVICE}`,
    }
  const models = response.filter((id) => v.is(modelIdSchema, id))
  if (models.length === 0)
    return { warning: `${serverDescription} has no models yet. Load one there, then ${RETRY_ADVICE}.` }
  if (models.length <= MAX_ENABLED_MODELS) return { models }
  const warning = `${serverDescription} has ${models.length} models. The first ${MAX_ENABLED_MODELS} are kept; add the others as custom models.`
  return { models: models.slice(0, MAX_ENABLED_MODELS), warning }
}

const RETRY_ADVICE = 'try "discover" again'
const ENABLED_MODELS_ADVICE = `Then ${RETRY_ADVICE}, or list its models with "enabledModels".`
const BASE_URL_ADVICE = 'check "baseUrl", which usually ends in "/v1"'

function describeMissingList({ provider, providerSpecificData }: ConnectionRecord, catalog: Catalog): string {
  const definition = getDefinition(catalog, provider)
  if (!definition?.cloud && !providerSpecificData?.baseUrl && !definition?.baseUrl)
    return `The connection has no URL to get models from. Set "baseUrl". ${ENABLED_MODELS_ADVICE}`
  return `${definition?.name ?? provider} cannot list an account's models. List them with "enabledModels".`
}

/** Describes the problem and its fix in words that follow the server's name, such as `is unreachable`. Never quotes the server's response. */
function describeProblem(error: unknown, apiKey: string | undefined, { timeoutMs }: ServerQuery): string {
  if (isGatewayError(error, 'UPSTREAM_TIMEOUT'))
    return `did not list its models within ${timeoutMs / 1_000} s: check whether it is busy or starting`
  if (isGatewayError(error, 'UPSTREAM_INVALID')) return `did not return a list of models: ${BASE_URL_ADVICE}`
  if (!isGatewayError(error, 'UPSTREAM_FAILED')) return 'is unreachable: start it, or set its "baseUrl"'
  const status = Number(error.data?.status)
  const problem = `returned status ${status}`
  if (status === 401 || status === 403)
    return apiKey === undefined ? `${problem} because it requires a key: set "apiKey"` : `${problem}: check "apiKey"`
  if (status >= 500 || status === 429) return `${problem}: wait until it is ready`
  return `${problem}: ${BASE_URL_ADVICE}`
}

/** Adds the server's models to the connection. If the server is unreachable, keeps the given models, or else the stored ones. */
export function addDiscoveredModels(
  connection: ConnectionRecord,
  { models }: Discovery,
  storedModels?: string[],
): ConnectionRecord {
  const { providerSpecificData } = connection
  const enabledModels = models ?? providerSpecificData?.enabledModels ?? storedModels
  return enabledModels
    ? { ...connection, providerSpecificData: { ...providerSpecificData, enabledModels } }
    : connection
}

/**
 * Warns if the listing doesn't query a connection's server: it then shows none of its models, or catalog models that the server may not have.
 * Resolves to `undefined` if no warning is needed, for example because the connection has custom models.
 */
export async function warnIfNotQueried(
  connection: ConnectionRecord,
  { catalog, customModels }: { catalog: Catalog; customModels: { all(): Promise<readonly CustomModel[]> } },
): Promise<string | undefined> {
  const hasKey = connection.sealedApiKey !== undefined
  const { provider, providerSpecificData } = connection
  const fallbackList = getFallbackList(
    { provider, ...(providerSpecificData && { providerSpecificData }), hasKey },
    getDefinition(catalog, provider),
  )
  if (!fallbackList) return undefined
  const { output, catalog: catalogName, id } = getProviderNames(catalog, connection)
  const records = await customModels.all().catch(() => []) // a failed warning must not fail a change that is already stored
  if (records.some(({ providerAlias }) => [output, catalogName, id].includes(providerAlias))) return undefined
  const problem =
    fallbackList === 'nothing'
      ? "GET /v1/models lists none of this connection's models because its server was never queried"
      : "GET /v1/models lists this connection's models from the catalog, and its server may not have them"
  return `${problem}. Query the server with "discover": true, or list its models with "enabledModels".`
}
