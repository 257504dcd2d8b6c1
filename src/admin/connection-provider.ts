import { tryParseJson } from '../lib/json.ts'
import { didYouMean, nearest } from '../lib/spelling.ts'
import { getCatalogAlias, getDefinition, getProviderNames, type NamedConnection } from '../protocols/providers/names.ts'
import { getCompatibleFormat } from '../protocols/providers/target.ts'
import { cloudRules, cloudSettings } from '../request/upstream/clouds/cloud-rules.ts'
import type { Catalog, CatalogModel, Connection, ProviderSpecificData } from '../types.ts'
import { invalidInput } from './input.ts'

/**
 * A connection's provider is in the catalog, or of a compatible kind, or brings its own address. Throws `INVALID_REQUEST` naming the
 * nearest.
 */
export function requireProvider(catalog: Catalog, provider: string, data: ProviderSpecificData | undefined): void {
  if (getDefinition(catalog, provider) || getCompatibleFormat(provider) || data?.baseUrl) return
  const kind = nearKind(provider)
  const hint =
    didYouMean(kind ? [kind] : nearestProviders(catalog, provider)) ?? 'GET /api/providers lists the known providers.'
  throw invalidInput(
    `Unknown provider "${provider}". ${hint} For any other provider, send its base URL as "providerSpecificData.baseUrl".`,
  )
}

const KINDS = ['openai-compatible', 'anthropic-compatible']

/** The compatible kind whose name the provider's id nearly begins with, as in the misspelt `openai-compatable-lab`. */
function nearKind(provider: string): string | undefined {
  if (getCompatibleFormat(provider)) return undefined
  const id = provider.toLowerCase().replace(/[\s_]/g, '-')
  return KINDS.find((kind) => {
    const lengths = [-SHORTER, -2, -1, 0, 1, 2].map((more) => kind.length + more)
    return lengths.some((length) => id.length >= length && nearest(id.slice(0, length), [kind], 1).length > 0)
  })
}

/** A beginning may be this many letters shorter than the name of the kind, as in `openai-compat`. */
const SHORTER = 4

/**
 * The warning for a provider whose id nearly begins with the name of a compatible kind: it belongs to none, so that its server may be asked in the
 * wrong format.
 */
export function misspeltKind({ provider, providerSpecificData: data }: NamedConnection): string[] {
  const kind = data?.baseUrl ? nearKind(provider) : undefined
  if (kind === undefined) return []
  const format = data?.format ?? 'openai-chat'
  return [
    `The provider name "${provider}" does not start with "${kind}", so GET /v1/models does not query its models, and its format is "${format}". If you meant a compatible provider, delete this connection and create one whose "provider" starts with "${kind}".`,
  ]
}

/**
 * The id of a provider given by its id, or by an alias that belongs to one provider alone; any other name is returned unchanged. Throws
 * `INVALID_REQUEST` naming the providers that share the alias.
 */
export function providerMeant(catalog: Catalog, name: string): string {
  if (getDefinition(catalog, name)) return name
  const owners = Object.keys(catalog).filter((id) => builtInNames(catalog, id).has(name))
  if (owners.length > 1)
    throw invalidInput(`"provider" must not be "${name}", an alias of ${owners.map((id) => `"${id}"`).join(' and ')}`)
  return owners[0] ?? name
}

/** Ids of providers, found by the family of models that people name them after, and by their ids, aliases and names. */
function nearestProviders(catalog: Catalog, provider: string): string[] {
  const ids = new Map<string, string>()
  for (const [id, { alias, catalogAlias, name }] of Object.entries(catalog)) {
    for (const known of [alias, catalogAlias, name]) if (known !== undefined && !ids.has(known)) ids.set(known, id)
  }
  for (const id of Object.keys(catalog)) ids.set(id, id)
  const near = nearest(provider, ids.keys()).map((known) => ids.get(known) ?? known)
  return [...new Set([...makersOf(catalog, provider), ...near])]
}

/** The first provider that has models of that family: `claude` for `claude-opus-4-5`. Routers write `anthropic/claude-…`. */
function makersOf(catalog: Catalog, family: string): string[] {
  const wanted = family.toLowerCase()
  const isOne = ({ id }: CatalogModel) => /^[a-z]+(?=-[^/]*$)/i.exec(id)?.[0].toLowerCase() === wanted
  return Object.keys(catalog)
    .filter((provider) => catalog[provider]?.models?.some(isOne))
    .slice(0, 1)
}

/**
 * A name of one provider must not lead to another: routing would take the two for accounts of the same one and fail over between them.
 * Throws `INVALID_REQUEST` naming the owner when the prefix of `connection` is a name of another provider, or the prefix of a connection to
 * another provider is a name of this one, unless `sharesPrefix` allows it. `others`: all other connections, inactive ones too.
 */
export function requireOwnPrefix(
  catalog: Catalog,
  connection: NamedConnection,
  others: readonly Pick<Connection, 'id' | 'provider' | 'name' | 'providerSpecificData'>[],
): void {
  const { provider, providerSpecificData: data } = connection
  if (data?.sharesPrefix) return
  const prefix = prefixOf(connection)
  const builtIn = Object.keys(catalog).find((id) => id !== provider && prefix && builtInNames(catalog, id).has(prefix))
  if (builtIn !== undefined) throw takenPrefix(prefix, `the built-in provider "${builtIn}"`)

  const own = nameSet(catalog, connection)
  for (const other of others) {
    if (other.provider === provider) continue
    const owner = `the connection "${other.name}" to "${other.provider}" (id ${other.id})`
    if (prefix && nameSet(catalog, other).has(prefix)) throw takenPrefix(prefix, owner)
    const theirs = prefixOf(other)
    if (theirs && own.has(theirs) && !other.providerSpecificData?.sharesPrefix)
      throw invalidInput(
        `"provider" must not be "${provider}": its name "${theirs}" is the prefix of ${owner}, which would receive its requests. Give that connection another prefix, or set its "providerSpecificData.sharesPrefix" to true`,
      )
  }
}

const prefixOf = ({ providerSpecificData }: NamedConnection) => providerSpecificData?.prefix?.trim() ?? ''

function nameSet(catalog: Catalog, connection: NamedConnection): ReadonlySet<string> {
  const { output, catalog: filed, id } = getProviderNames(catalog, connection)
  return new Set([output, filed, id])
}

function builtInNames(catalog: Catalog, provider: string): ReadonlySet<string> {
  const definition = getDefinition(catalog, provider)
  return new Set([provider, definition?.alias?.trim() ?? provider, getCatalogAlias(provider, definition)])
}

const takenPrefix = (prefix: string, owner: string) =>
  invalidInput(
    `"providerSpecificData.prefix" must not be "${prefix}". That is a name of ${owner}, and this connection would also receive its requests. Choose another prefix, or set "providerSpecificData.sharesPrefix" to true to share it`,
  )

/** What a connection is to be. */
interface Checked {
  data: ProviderSpecificData | undefined
  apiKey: string | undefined
}

/** Throws `INVALID_REQUEST` unless the settings and the credential are what the provider's cloud, if it is in one, can use. */
export function checkCloud(catalog: Catalog, provider: string, { data = {}, apiKey }: Checked): void {
  const cloud = getDefinition(catalog, provider)?.cloud
  const rules = cloud && cloudRules[cloud]
  const strange = cloudSettings.find((name) => data[name] !== undefined && !rules?.settings.includes(name))
  if (strange) throw invalidInput(`"providerSpecificData.${strange}" has no effect for "${provider}"; omit it`)
  const isJson = apiKey?.startsWith('{')
  if (isJson && tryParseJson(apiKey ?? '') === undefined)
    throw invalidInput('"apiKey" looks like JSON but is not valid JSON')
  if (isJson && !rules?.takesJson)
    throw invalidInput(`"apiKey" must be the bare key; "${provider}" does not accept JSON`)
  const problem =
    rules?.settingsProblem(data, apiKey) ?? (apiKey === undefined ? undefined : rules?.credentialProblem(apiKey))
  if (problem) throw invalidInput(problem)
}
