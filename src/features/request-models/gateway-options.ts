import { gatewayError, redactClientKeys } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { LABEL_LIMITS } from '../../protocols/formats/ai-sdk/client/ai-sdk-client-gateway.ts'
import { getCatalogModel } from '../../protocols/providers/catalog-model.ts'
import { getProviderNames } from '../../protocols/providers/provider-names.ts'
import type { RequestSettingsSource } from '../../request/context.ts'
import { addPolicies, type DataPolicy } from '../../request/data-policy.ts'
import type { RouteTarget, TargetOrder } from '../../request/routing/group.ts'
import type { DataTags } from '../../types.ts'

const OPTIONS_PATH = 'providerOptions.gateway'

/** The models to try after the requested one and the order of each model's targets. */
export interface GatewaySelection {
  models: readonly string[]
  arrangement: TargetOrder
}

/**
 * Reads the AI SDK options for Vercel's own gateway and adds their rules and labels to the request. Returns `undefined` if they don't change the
 * models or the order of targets. Throws `INVALID_REQUEST` for a malformed field, and `ACCOUNT_NOT_ALLOWED` if they name an account other than the
 * caller's.
 */
export async function readGatewayOptions({
  call,
  context: { catalog },
  table,
  log,
}: RequestSettingsSource): Promise<GatewaySelection | undefined> {
  const { endpoint, body } = call
  const options = isObject(body.providerOptions) ? body.providerOptions.gateway : undefined
  if (!isObject(options)) return undefined
  const accountId = log.caller.account?.id
  if ((options.quotaEntityId ?? accountId) !== accountId) throw gatewayError('ACCOUNT_NOT_ALLOWED')
  if (endpoint.format !== 'ai-sdk') return undefined
  if ((options.byok ?? undefined) !== undefined) throw createInvalidOptionError('byok', CREDENTIALS_MESSAGE)

  addPolicies(listPolicies(options), log)
  const allowedProviders = readNames(options, 'only')
  if (allowedProviders.length > 0) {
    const providerNames = new Set([...table.namedConnections.keys(), ...table.connections.map(({ id }) => id)])
    for (const provider of Object.keys(catalog))
      for (const name of Object.values(getProviderNames(catalog, { provider }))) providerNames.add(name)
    const unknownIndex = allowedProviders.findIndex((name) => !providerNames.has(name))
    if (unknownIndex >= 0)
      throw createInvalidOptionError(
        `only[${unknownIndex}]`,
        `"${allowedProviders[unknownIndex]}" is not a provider. ${PROVIDER_NAME_ADVICE}`,
      )
    log.targetRules.push((_, target) =>
      allowedProviders.some((name) => matchesName(target, name, catalog))
        ? undefined
        : createInvalidOptionError('only', `none of these providers serves "${call.model}".`),
    )
  }
  const requiredFeatures = readNames(options, 'has')
  const unsupportedIndex = requiredFeatures.findIndex((name) => name !== 'vision')
  if (unsupportedIndex >= 0) throw createInvalidOptionError(`has[${unsupportedIndex}]`, 'only "vision" is supported.')
  if (requiredFeatures.length > 0) await addVisionRule({ call, catalog, table, log })
  const tags = listLabels(options)
  if (tags.length > 0) log.tags = [...(log.caller.account?.tags ?? []), ...tags.map(redactClientKeys)]

  const models = readNames(options, 'models')
  if (models.length > MAX_MODELS)
    throw createInvalidOptionError('models', `must not contain more than ${MAX_MODELS} models.`)
  const providerOrder = readNames(options, 'order')
  const strategy = readSort(options)
  if (models.length === 0 && providerOrder.length === 0 && !strategy) return undefined
  return { models, arrangement: { getRank: (target) => getRank(target, providerOrder, catalog), strategy } }
}

const MAX_MODELS = 99

const CREDENTIALS_MESSAGE =
  'this gateway accepts no provider credentials in requests. Remove it, or ask the operator of this gateway to connect the provider.'
const PROVIDER_NAME_ADVICE = 'Use the part before the slash of a name from GET /v1/models.'

/** The tags that each option requires. */
const POLICY_TAGS: Readonly<Record<string, DataTags>> = {
  zeroDataRetention: { zdr: true },
  disallowPromptTraining: { training: false },
}

function listPolicies(options: JsonObject): DataPolicy[] {
  return Object.entries(POLICY_TAGS).flatMap(([name, tags]) => {
    const value = options[name] ?? false
    if (typeof value !== 'boolean') throw createInvalidOptionError(name, 'must be true or false.')
    return value ? [{ tags, source: `"${OPTIONS_PATH}.${name}"` }] : []
  })
}

/** The strategy for each value of `sort`. Throughput isn't measured, so `tps` sorts by time to first token, with a warning. */
const STRATEGY_BY_SORT = { cost: 'least-cost', ttft: 'least-latency', tps: 'least-latency' } as const

function readSort({ sort = null }: JsonObject): (typeof STRATEGY_BY_SORT)[keyof typeof STRATEGY_BY_SORT] | undefined {
  if (sort === null) return undefined
  if (sort !== 'cost' && sort !== 'ttft' && sort !== 'tps')
    throw createInvalidOptionError('sort', 'must be "cost", "ttft", or "tps".')
  return STRATEGY_BY_SORT[sort]
}

function readNames(options: JsonObject, name: string): string[] {
  const value = options[name] ?? []
  if (!Array.isArray(value)) throw createInvalidOptionError(name, 'must be an array of strings.')
  return value.map((item: unknown, index) => {
    if (typeof item !== 'string' || item.trim() === '' || item.length > MAX_NAME_LENGTH)
      throw createInvalidOptionError(`${name}[${index}]`, `must be a string of 1 to ${MAX_NAME_LENGTH} characters.`)
    return item.trim()
  })
}

const MAX_NAME_LENGTH = 512

/** Lists the tags to record. A warning reports all others. */
const listLabels = (options: JsonObject): string[] =>
  readNames(options, 'tags')
    .filter((tag) => tag.length <= LABEL_LIMITS.maxLength)
    .slice(0, LABEL_LIMITS.maxCount)

const matchesName = ({ connection }: RouteTarget, name: string, catalog: RequestSettingsSource['context']['catalog']) =>
  connection.id === name || Object.values<string>({ ...getProviderNames(catalog, connection) }).includes(name)

function getRank(
  target: RouteTarget,
  order: readonly string[],
  catalog: RequestSettingsSource['context']['catalog'],
): number {
  const rank = order.findIndex((name) => matchesName(target, name, catalog))
  return rank < 0 ? order.length : rank
}

/** Makes the request skip models that can't read images according to the catalog, the custom models, and the connection's `vision` tag. */
async function addVisionRule({
  call,
  catalog,
  table,
  log,
}: Pick<RequestSettingsSource, 'call' | 'table' | 'log'> &
  Pick<RequestSettingsSource['context'], 'catalog'>): Promise<void> {
  const customVisionModels = (await table.loadCustomModels()).filter(({ type }) => type === 'imageToText')
  log.targetRules.push((_, target) => {
    const { model, connection } = target
    const isCustomVisionModel = customVisionModels.some(
      ({ id, providerAlias }) => id === model && matchesName(target, providerAlias, catalog),
    )
    const { type } = getCatalogModel(catalog, { provider: connection.provider, model }) ?? {}
    if (isCustomVisionModel || type === 'imageToText' || connection.tags?.vision === true) return undefined
    return createInvalidOptionError(
      'has',
      `nothing says that "${call.model}" reads images. Remove the option, or ask the operator of this gateway to give the model's connection the tag "vision", or to add the model as a custom model of type "imageToText".`,
    )
  })
}

const createInvalidOptionError = (name: string, problem: string) =>
  gatewayError('INVALID_REQUEST', {
    message: `"${OPTIONS_PATH}.${name}": ${problem}`,
    data: { param: `${OPTIONS_PATH}.${name}` },
  })
