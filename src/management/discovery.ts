import * as v from 'valibot'
import { isGatewayError } from '../errors.ts'
import { type Asking, askForModels, modelsCall } from '../listing/discovery.ts'
import { shownUnasked } from '../listing/unasked.ts'
import { definitionOf, namesOf } from '../providers/names.ts'
import type { ConnectionRecord } from '../store/collections.ts'
import { enabledModel, MAX_ENABLED } from '../types/records/connections.ts'
import type { Catalog, CustomModel } from '../types.ts'
import { givenSchema } from './schemas.ts'

const modelId = givenSchema(enabledModel)

/** What a server has answered to the question for its models: at least one, or why there are none and what to do. */
export type Discovered = { models: string[]; warning?: string } | { models?: undefined; warning: string }

/** Asks the server of a connection for its models, with the key or without one. Never rejects. */
export async function discoverModels(
  connection: ConnectionRecord,
  apiKey: string | undefined,
  { catalog, ...asking }: Asking & { catalog: Catalog },
): Promise<Discovered> {
  const call = modelsCall(catalog, connection, apiKey)
  if (!call) return { warning: unaskable(connection, catalog) }
  const server = `The server at ${call.url.replace(/\?.*/, '')}`
  const answer = await askForModels(call, asking).catch((error: unknown) => ({ error }))
  if (answer === undefined) return { warning: `${server} answered with no list of models: ${ADDRESS}. ${BY_HAND}` }
  if ('error' in answer) return { warning: `${server} ${problemWith(answer.error, apiKey, asking)}. ${BY_HAND}` }
  const models = answer.filter((id) => v.is(modelId, id))
  if (models.length === 0) return { warning: `${server} has no models yet: load one there, and then ${AGAIN}.` }
  if (models.length <= MAX_ENABLED) return { models }
  const warning = `${server} has ${models.length} models, of which the first ${MAX_ENABLED} are kept: name the others as custom models.`
  return { models: models.slice(0, MAX_ENABLED), warning }
}

const AGAIN = 'ask again by "discover"'
const BY_HAND = `Then ${AGAIN}, or name its models by "enabledModels".`
const ADDRESS = 'check "baseUrl", which mostly ends in "/v1"'

function unaskable({ provider, providerSpecificData }: ConnectionRecord, catalog: Catalog): string {
  const definition = definitionOf(catalog, provider)
  if (!definition?.cloud && !providerSpecificData?.baseUrl && !definition?.baseUrl)
    return `The connection has no address to ask for models: set "baseUrl". ${BY_HAND}`
  return `${definition?.name ?? provider} has no list of the models of an account: name them by "enabledModels".`
}

/** What went wrong and what to do, as the rest of a sentence. It quotes nothing from the server. */
function problemWith(error: unknown, apiKey: string | undefined, { timeoutMs }: Asking): string {
  if (isGatewayError(error, 'UPSTREAM_TIMEOUT'))
    return `did not list its models within ${timeoutMs / 1_000} s: look whether it is busy or starting`
  if (isGatewayError(error, 'UPSTREAM_INVALID')) return `answered with no list of models: ${ADDRESS}`
  if (!isGatewayError(error, 'UPSTREAM_FAILED')) return 'cannot be reached: start it, or set its "baseUrl"'
  const status = Number(error.data?.status)
  const said = `answered with status ${status}`
  if (status === 401 || status === 403)
    return apiKey === undefined ? `${said}, as it wants a key: set "apiKey"` : `${said}: check "apiKey"`
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
  const shown = shownUnasked(
    { provider, ...(providerSpecificData && { providerSpecificData }), hasKey },
    definitionOf(catalog, provider),
  )
  if (!shown) return undefined
  const { output, catalog: filed, id } = namesOf(catalog, connection)
  const customs = await customModels.all().catch(() => []) // the change is made, whatever else cannot be read
  if (customs.some(({ providerAlias }) => [output, filed, id].includes(providerAlias))) return undefined
  const what =
    shown === 'nothing'
      ? 'GET /v1/models lists none of the models of this connection, since its server is not asked for them'
      : 'GET /v1/models lists models of the catalog for this connection, which its server need not have'
  return `${what}: ask it once by "discover": true, or name its models by "enabledModels".`
}
