import { type GatewayError, gatewayError } from '../../errors.ts'
import { didYouMean, findNearest } from '../../lib/spelling.ts'
import type { Endpoint } from '../../protocols/formats/format.ts'
import { getCatalogAlias, getDefinition, getProviderNames } from '../../protocols/providers/provider-names.ts'
import { getCompatibleFormat, isLocalProvider } from '../../protocols/providers/target.ts'
import type { Catalog, Kind } from '../../types.ts'
import type { Group } from '../routing/group.ts'
import { findMissingProviders, listKnownNames } from '../routing/known-names.ts'
import { describeOtherKind } from '../routing/other-kinds.ts'
import type { RouteTable } from '../routing/route-table.ts'

/**
 * Creates the error for an unknown model name. It names what the provider lacks, or else similar names, and the model's kind if the endpoint is for
 * other kinds. If the name is only a provider's, the endpoint's service is used as the model.
 */
export async function createUnknownModelError(
  model: string,
  table: RouteTable,
  endpoint: Endpoint,
): Promise<GatewayError> {
  const { service } = endpoint
  const nameWithService = `${model}/${service}`
  if (service !== undefined && findMissingProviders(nameWithService, table).length > 0)
    return createUnreachableModelError(nameWithService, table)
  const error = await createUnknownNameError(model, table)
  const kind = describeOtherKind(model, await findNameKind(model, table), endpoint)
  return kind === '' ? error : gatewayError('MODEL_NOT_FOUND', { message: `${error.message} ${kind}` })
}

/** Returns a model's kind by its name, with or without a provider, even if the provider isn't connected. */
async function findNameKind(model: string, { catalog, loadCustomModels }: RouteTable): Promise<Kind | undefined> {
  for (const [provider, { models = [] }] of Object.entries(catalog)) {
    const { output, catalog: catalogAlias, id } = getProviderNames(catalog, { provider })
    const names = ['', ...[output, catalogAlias, id].map((name) => `${name}/`)]
    const matchingModel = models.find((listedModel) => names.some((name) => name + listedModel.id === model))
    if (matchingModel) return matchingModel.type
  }
  const customModels = await loadCustomModels().catch(() => []) // fails silently, because this is only for a hint
  return customModels.find(({ id, providerAlias }) => id === model || `${providerAlias}/${id}` === model)?.type
}

async function createUnknownNameError(model: string, table: RouteTable): Promise<GatewayError> {
  if (findMissingProviders(model, table).length > 0) return createUnreachableModelError(model, table)
  const aliasChain = listAliases(model, table.aliases)
  const unknownName = table.aliases.get(aliasChain.at(-1) ?? '') ?? model
  const names = await listKnownNames(table).catch(() => []) // fails silently, because this is only for a hint
  const providers = [...table.namedConnections.keys()]
  const otherNames = names.filter((name) => name !== unknownName && !aliasChain.includes(name))
  const hint =
    didYouMean(findNearest(unknownName, otherNames)) ??
    getCatalogHint(unknownName, providers, table) ??
    getProviderHint(unknownName, providers, table.catalog) ??
    getUnconnectedHint(unknownName, table)
  const problem = aliasChain.length > 0 ? `is an alias of "${unknownName}", which does not exist` : 'does not exist'
  return gatewayError('MODEL_NOT_FOUND', {
    message: `The model "${model}" ${problem}. ${hint ? `${hint} ` : ''}${getNoConnectionHint(table) ?? `GET ${table.basePath}/v1/models lists the available models.`}`,
  })
}

/** Returns a hint if there is no connection. The model list then shows the entire catalog, but none of it can be called. */
function getNoConnectionHint({ namedConnections, catalog, basePath }: RouteTable): string | undefined {
  if (namedConnections.size > 0 || Object.keys(catalog).length === 0) return undefined
  return `No provider is connected yet, so GET ${basePath}/v1/models lists the whole catalog. You can call a model once its provider is connected.`
}

/** Lists the aliases that a name resolves through, including itself. Two concurrent writers can create a cycle. */
function listAliases(model: string, aliases: ReadonlyMap<string, string>): string[] {
  const aliasChain = new Set<string>()
  let name: string | undefined = model
  while (name !== undefined && aliases.has(name) && !aliasChain.has(name)) {
    aliasChain.add(name)
    name = aliases.get(name)
  }
  return [...aliasChain]
}

/** Returns a hint for a catalog model that was requested without its provider, which has no connection yet. */
function getCatalogHint(
  model: string,
  providers: readonly string[],
  { catalog, basePath }: MountedCatalog,
): string | undefined {
  const lowerCaseName = model.toLowerCase()
  for (const [provider, definition] of Object.entries(catalog)) {
    const matchingModel = definition.models?.find(
      ({ id, type = 'llm' }) => type === 'llm' && id.toLowerCase() === lowerCaseName,
    )
    if (!matchingModel || providers.includes(provider)) continue
    const name = `${getCatalogAlias(provider, definition)}/${matchingModel.id}`
    const openProvider = findOpenProvider(providers, catalog)
    return openProvider === undefined
      ? `${didYouMean([name])} ${formatConnectHint(provider, basePath)}`
      : `Put the provider before the model name, as in "${openProvider}/${model}", or use "${name}" with a connection to "${provider}".`
  }
  return undefined
}

/** Returns a hint for a name without a provider, or with a misspelled one: the name with the right provider. */
function getProviderHint(model: string, providers: readonly string[], catalog: Catalog): string | undefined {
  const slash = model.indexOf('/')
  const example = findOpenProvider(providers, catalog) ?? providers[0]
  if (slash < 0) return example && `Put the provider before the model name, as in "${example}/${model}".`
  const nearest = findNearestName(model, getCompatibleFormat(model) ? providers.filter(getCompatibleFormat) : providers)
  return nearest && didYouMean([nearest + model.slice(slash)])
}

/** Returns a hint for a misspelled or compatible provider that has no connection yet. */
function getUnconnectedHint(model: string, { catalog, basePath }: MountedCatalog): string | undefined {
  const slash = model.indexOf('/')
  if (slash > 0 && getCompatibleFormat(model)) return formatConnectHint(model.slice(0, slash), basePath) // the user chose this provider name
  const nearest = findNearestName(model, Object.keys(catalog))
  const name = nearest && nearest + model.slice(slash)
  return name && `${didYouMean([name])} ${formatConnectHint(nearest, basePath)}`
}

type MountedCatalog = Pick<RouteTable, 'catalog' | 'basePath'>

const formatConnectHint = (provider: string, basePath: string) =>
  `It needs a connection to "${provider}". Ask the operator of this gateway to add one at ${basePath}/api/connections.`

/** Finds the first provider without models in the catalog, which may support any model. */
function findOpenProvider(providers: readonly string[], catalog: Catalog): string | undefined {
  const catalogedNames = new Set<string>()
  for (const [provider, definition] of Object.entries(catalog))
    if (definition.models?.length) catalogedNames.add(provider).add(getCatalogAlias(provider, definition))
  return providers.find((name) => !catalogedNames.has(name))
}

/** Finds the provider whose name is most similar to the start of the model name. */
function findNearestName(model: string, providers: readonly string[]): string | undefined {
  const slash = model.indexOf('/')
  return slash < 1 || slash === model.length - 1 ? undefined : findNearest(model.slice(0, slash), providers, 1)[0]
}

/**
 * Creates the error for a known name that resolves to no active connection. The message names the providers without a connection, and the call that
 * adds one if there is only one such provider. `group` is the requested group. The name of a model list is only used in records.
 */
export function createUnreachableModelError(model: string, table: RouteTable, group?: Group): GatewayError {
  const modelList = group?.label === 'list' ? group : undefined
  const names = modelList?.entries.map(({ name }) => name) ?? [model]
  const providers = [...new Set(names.flatMap((name) => findMissingProviders(name, table)))].slice(0, 3)
  const quotedProviders = providers.map((provider) => `"${provider}"`)
  const combo = modelList ? undefined : table.findCombo(model)
  const reason =
    combo?.entries.length === 0
      ? `the combo "${combo.name}" has no models. Ask the operator of this gateway to add some with PUT ${table.basePath}/api/combos/{id}.`
      : quotedProviders.length === 0
        ? 'no active connection serves it. Ask the operator of this gateway to connect one of its providers or to change its models.'
        : `there is no active connection to ${quotedProviders.join(' or ')}. Ask the operator of this gateway to add or activate one at ${table.basePath}/api/connections${formatConnectCall(providers, table)}.`
  const listHint = quotedProviders.length > 0 ? getNoConnectionHint(table) : undefined
  const subject = modelList
    ? `None of the models in "${modelList.name}" (${formatShortList(names)}) is available`
    : `The model "${model}" is not available`
  const message = `${subject}: ${reason}${listHint ? ` ${listHint}` : ''}`
  return gatewayError('MODEL_NOT_FOUND', { message })
}

function formatShortList(names: readonly string[]): string {
  const quotedNames = names.slice(0, 5).map((name) => `"${name}"`)
  return (
    quotedNames.join(', ') + (names.length > quotedNames.length ? ` and ${names.length - quotedNames.length} more` : '')
  )
}

/**
 * Formats an example call that adds a connection for the first provider. Empty for clouds, which need more than a key. Self-hosted servers don't need
 * a key, and are queried for their models.
 */
function formatConnectCall([provider, ...others]: readonly string[], { catalog }: Pick<RouteTable, 'catalog'>): string {
  const definition = provider === undefined || others.length > 0 ? undefined : getDefinition(catalog, provider)
  if (!definition || definition.cloud) return ''
  const connection = isLocalProvider(definition) ? { provider, discover: true } : { provider, apiKey: '<API key>' }
  return ` (POST ${JSON.stringify(connection)})`
}
