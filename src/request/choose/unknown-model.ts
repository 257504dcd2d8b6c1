import { type GatewayError, gatewayError } from '../../errors.ts'
import { didYouMean, findNearest } from '../../lib/spelling.ts'
import type { Endpoint } from '../../protocols/formats/format.ts'
import { getCatalogAlias, getDefinition, getProviderNames } from '../../protocols/providers/provider-names.ts'
import { getCompatibleFormat, isLocal } from '../../protocols/providers/target.ts'
import type { Catalog, Kind } from '../../types.ts'
import type { Group } from '../routing/group.ts'
import { findMissingProviders, listKnownNames } from '../routing/known-names.ts'
import { describeOtherKind } from '../routing/model-kinds.ts'
import type { RouteTable } from '../routing/route-table.ts'

/**
 * Creates the error for an unknown model name. It names what the provider lacks, or else similar names, and the model's kind if the endpoint serves
 * other kinds. If the name is only a provider's, the endpoint's service is used as the model.
 */
export async function unknownModel(model: string, table: RouteTable, endpoint: Endpoint): Promise<GatewayError> {
  const { service } = endpoint
  const whole = `${model}/${service}`
  if (service !== undefined && findMissingProviders(whole, table).length > 0) return unreachableModel(whole, table)
  const error = await createUnknownNameError(model, table)
  const kind = describeOtherKind(model, await findNameKind(model, table), endpoint)
  return kind === '' ? error : gatewayError('MODEL_NOT_FOUND', { message: `${error.message} ${kind}` })
}

/** Returns the kind of a model by its name, with or without a provider, which needn't be connected. */
async function findNameKind(model: string, { catalog, customModels }: RouteTable): Promise<Kind | undefined> {
  for (const [provider, { models = [] }] of Object.entries(catalog)) {
    const { output, catalog: filed, id } = getProviderNames(catalog, { provider })
    const names = ['', ...[output, filed, id].map((name) => `${name}/`)]
    const found = models.find((one) => names.some((name) => name + one.id === model))
    if (found) return found.type
  }
  const custom = await customModels().catch(() => []) // a hint isn't worth a failure
  return custom.find(({ id, providerAlias }) => id === model || `${providerAlias}/${id}` === model)?.type
}

async function createUnknownNameError(model: string, table: RouteTable): Promise<GatewayError> {
  if (findMissingProviders(model, table).length > 0) return unreachableModel(model, table)
  const passed = listAliases(model, table.aliases)
  const unknown = table.aliases.get(passed.at(-1) ?? '') ?? model
  const names = await listKnownNames(table).catch(() => []) // a hint isn't worth a failure
  const providers = [...table.byName.keys()]
  const others = names.filter((name) => name !== unknown && !passed.includes(name))
  const hint =
    didYouMean(findNearest(unknown, others)) ??
    catalogHint(unknown, providers, table) ??
    providerHint(unknown, providers, table.catalog) ??
    unconnectedHint(unknown, table)
  const what = passed.length > 0 ? `is an alias of "${unknown}", which does not exist` : 'does not exist'
  return gatewayError('MODEL_NOT_FOUND', {
    message: `The model "${model}" ${what}. ${hint ? `${hint} ` : ''}${listsOnlyCatalog(table) ?? `GET ${table.basePath}/v1/models lists the available models.`}`,
  })
}

/** Returns a hint if there is no connection: then the model list shows the whole catalog, but nothing in it can be called. */
function listsOnlyCatalog({ byName, catalog, basePath }: RouteTable): string | undefined {
  if (byName.size > 0 || Object.keys(catalog).length === 0) return undefined
  return `No provider is connected yet, so GET ${basePath}/v1/models lists the whole catalog. You can call a model once its provider is connected.`
}

/** Lists the aliases that a name resolves through, including itself. Two concurrent writers can create a cycle. */
function listAliases(model: string, aliases: ReadonlyMap<string, string>): string[] {
  const passed = new Set<string>()
  let name: string | undefined = model
  while (name !== undefined && aliases.has(name) && !passed.has(name)) {
    passed.add(name)
    name = aliases.get(name)
  }
  return [...passed]
}

/** Returns a hint for a catalog model that was requested without its provider, which has no connection yet. */
function catalogHint(
  model: string,
  providers: readonly string[],
  { catalog, basePath }: MountedCatalog,
): string | undefined {
  const wanted = model.toLowerCase()
  for (const [provider, definition] of Object.entries(catalog)) {
    const found = definition.models?.find(({ id, type = 'llm' }) => type === 'llm' && id.toLowerCase() === wanted)
    if (!found || providers.includes(provider)) continue
    const name = `${getCatalogAlias(provider, definition)}/${found.id}`
    const open = openProvider(providers, catalog)
    return open === undefined
      ? `${didYouMean([name])} ${needs(provider, basePath)}`
      : `Put the provider before the model name, as in "${open}/${model}", or use "${name}" with a connection to "${provider}".`
  }
  return undefined
}

/** Returns a hint for a name without a provider, or with a misspelled one: the name with the right provider. */
function providerHint(model: string, providers: readonly string[], catalog: Catalog): string | undefined {
  const slash = model.indexOf('/')
  const example = openProvider(providers, catalog) ?? providers[0]
  if (slash < 0) return example && `Put the provider before the model name, as in "${example}/${model}".`
  const nearest = findNearestName(model, getCompatibleFormat(model) ? providers.filter(getCompatibleFormat) : providers)
  return nearest && didYouMean([nearest + model.slice(slash)])
}

/** Returns a hint for a provider that has no connection yet, and is misspelled or compatible. */
function unconnectedHint(model: string, { catalog, basePath }: MountedCatalog): string | undefined {
  const slash = model.indexOf('/')
  if (slash > 0 && getCompatibleFormat(model)) return needs(model.slice(0, slash), basePath) // users choose these names
  const nearest = findNearestName(model, Object.keys(catalog))
  const name = nearest && nearest + model.slice(slash)
  return name && `${didYouMean([name])} ${needs(nearest, basePath)}`
}

type MountedCatalog = Pick<RouteTable, 'catalog' | 'basePath'>

const needs = (provider: string, basePath: string) =>
  `It needs a connection to "${provider}". Ask the operator of this gateway to add one at ${basePath}/api/connections.`

/** Finds the first provider without models in the catalog, which may serve any model. */
function openProvider(providers: readonly string[], catalog: Catalog): string | undefined {
  const known = new Set<string>()
  for (const [provider, definition] of Object.entries(catalog))
    if (definition.models?.length) known.add(provider).add(getCatalogAlias(provider, definition))
  return providers.find((name) => !known.has(name))
}

/** Finds the provider whose name is most similar to the start of the model's. */
function findNearestName(model: string, providers: readonly string[]): string | undefined {
  const slash = model.indexOf('/')
  return slash < 1 || slash === model.length - 1 ? undefined : findNearest(model.slice(0, slash), providers, 1)[0]
}

/**
 * Creates the error for a known name that resolves to no active connection. Names the providers without one, and the call that adds it if there is
 * only one such provider. `group`: the requested group. For a model list, its name is only used in records.
 */
export function unreachableModel(model: string, table: RouteTable, group?: Group): GatewayError {
  const list = group?.label === 'list' ? group : undefined
  const names = list?.entries.map(({ name }) => name) ?? [model]
  const providers = [...new Set(names.flatMap((name) => findMissingProviders(name, table)))].slice(0, 3)
  const missing = providers.map((provider) => `"${provider}"`)
  const combo = list ? undefined : table.findCombo(model)
  const why =
    combo?.entries.length === 0
      ? `the combo "${combo.name}" has no models. Ask the operator of this gateway to add some with PUT ${table.basePath}/api/combos/{id}.`
      : missing.length === 0
        ? 'no active connection serves it. Ask the operator of this gateway to connect one of its providers or to change its models.'
        : `there is no active connection to ${missing.join(' or ')}. Ask the operator of this gateway to add or activate one at ${table.basePath}/api/connections${formatConnectCall(providers, table)}.`
  const listed = missing.length > 0 ? listsOnlyCatalog(table) : undefined
  const what = list
    ? `None of the models in "${list.name}" (${shortList(names)}) is available`
    : `The model "${model}" is not available`
  const message = `${what}: ${why}${listed ? ` ${listed}` : ''}`
  return gatewayError('MODEL_NOT_FOUND', { message })
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => `"${name}"`)
  return shown.join(', ') + (names.length > shown.length ? ` and ${names.length - shown.length} more` : '')
}

/** Clouds need more than a key, as their README explains. Self-hosted servers need no key, and are queried for their models. */
function formatConnectCall([provider, ...others]: readonly string[], { catalog }: Pick<RouteTable, 'catalog'>): string {
  const definition = provider === undefined || others.length > 0 ? undefined : getDefinition(catalog, provider)
  if (!definition || definition.cloud) return ''
  const connection = isLocal(definition) ? { provider, discover: true } : { provider, apiKey: '<API key>' }
  return ` (POST ${JSON.stringify(connection)})`
}
