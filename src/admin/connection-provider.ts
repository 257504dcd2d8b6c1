import { didYouMean, findNearest } from '../lib/spelling.ts'
import { findPrefixConflict, findProviders, findSharedAliasProblem } from '../protocols/providers/prefix-conflict.ts'
import { getDefinition, type NamedConnection } from '../protocols/providers/provider-names.ts'
import { getCompatibleFormat } from '../protocols/providers/target.ts'
import { type CloudSettings, findCloudProblem } from '../request/upstream/clouds/cloud-problem.ts'
import type { Catalog, CatalogModel, ProviderSpecificData } from '../types.ts'
import { createInputError } from './input.ts'

/** Throws `INVALID_REQUEST`, with the most similar name, unless the provider is in the catalog, is of a compatible kind, or has a base URL. */
export function requireProvider(catalog: Catalog, provider: string, data: ProviderSpecificData | undefined): void {
  if (getDefinition(catalog, provider) || getCompatibleFormat(provider) || data?.baseUrl) return
  const kind = findSimilarKind(provider)
  const hint =
    didYouMean(kind ? [kind] : findSimilarProviders(catalog, provider)) ??
    'GET /api/providers lists the known providers.'
  throw createInputError(
    `Unknown provider "${provider}". ${hint} For any other provider, send its base URL as "providerSpecificData.baseUrl".`,
  )
}

const COMPATIBLE_KINDS = ['openai-compatible', 'anthropic-compatible']

/** Finds the compatible kind that the provider's ID almost starts with, as in the typo `openai-compatable-lab`. */
function findSimilarKind(provider: string): string | undefined {
  if (getCompatibleFormat(provider)) return undefined
  const id = provider.toLowerCase().replace(/[\s_]/g, '-')
  return COMPATIBLE_KINDS.find((kind) => {
    const lengths = [-MAX_MISSING_CHARACTERS, -2, -1, 0, 1, 2].map((delta) => kind.length + delta)
    return lengths.some((length) => id.length >= length && findNearest(id.slice(0, length), [kind], 1).length > 0)
  })
}

/** The number of letters that may be missing at the end of the kind, as in `openai-compat`. */
const MAX_MISSING_CHARACTERS = 4

/** Warns about a provider whose ID almost starts with a compatible kind. It isn't of that kind, so its server may be called in the wrong format. */
export function warnAboutMisspelledKind({ provider, providerSpecificData: data }: NamedConnection): string[] {
  const kind = data?.baseUrl ? findSimilarKind(provider) : undefined
  if (kind === undefined) return []
  const format = data?.format ?? 'openai-chat'
  return [
    `The provider name "${provider}" does not start with "${kind}", so GET /v1/models does not query its models, and its format is "${format}". If you meant a compatible provider, delete this connection and create one whose "provider" starts with "${kind}".`,
  ]
}

/**
 * Resolves a provider's ID, or an alias that only one provider has, to the ID. Returns any other name unchanged. Throws `INVALID_REQUEST` if several
 * providers share the alias.
 */
export function resolveProvider(catalog: Catalog, name: string): string {
  const problem = findSharedAliasProblem(catalog, name)
  if (problem) throw createInputError(`"provider" ${problem}`)
  return findProviders(catalog, name)[0] ?? name
}

/** Finds provider IDs by a model family's name, and by similar IDs, aliases, and names. */
function findSimilarProviders(catalog: Catalog, provider: string): string[] {
  const idsByName = new Map<string, string>()
  for (const [id, { alias, catalogAlias, name }] of Object.entries(catalog)) {
    for (const knownName of [alias, catalogAlias, name])
      if (knownName !== undefined && !idsByName.has(knownName)) idsByName.set(knownName, id)
  }
  for (const id of Object.keys(catalog)) idsByName.set(id, id)
  const nearestIds = findNearest(provider, idsByName.keys()).map((name) => idsByName.get(name) ?? name)
  return [...new Set([...findFamilyProviders(catalog, provider), ...nearestIds])]
}

/** Finds the first provider with models of a family, such as `claude`. Routers have names like `anthropic/claude-…`, which don't count. */
function findFamilyProviders(catalog: Catalog, name: string): string[] {
  const family = name.toLowerCase()
  const isInFamily = ({ id }: CatalogModel) => /^[a-z]+(?=-[^/]*$)/i.exec(id)?.[0].toLowerCase() === family
  return Object.keys(catalog)
    .filter((provider) => catalog[provider]?.models?.some(isInFamily))
    .slice(0, 1)
}

/** Throws `INVALID_REQUEST` if `findPrefixConflict` finds a conflict. */
export function requireUniquePrefix(...args: Parameters<typeof findPrefixConflict>): void {
  const conflict = findPrefixConflict(...args)
  if (!conflict) return
  const { prefix, owner, isOwnersPrefix } = conflict
  const subject =
    typeof owner === 'string'
      ? `the built-in provider "${owner}"`
      : `the connection "${owner.name}" to "${owner.provider}" (id ${owner.id})`
  throw createInputError(
    isOwnersPrefix
      ? `"provider" must not be "${args[1].provider}": its name "${prefix}" is the prefix of ${subject}, which would receive its requests. Give that connection another prefix, or set its "providerSpecificData.sharesPrefix" to true`
      : `"providerSpecificData.prefix" must not be "${prefix}". That is a name of ${subject}, and this connection would also receive its requests. Choose another prefix, or set "providerSpecificData.sharesPrefix" to true to share it`,
  )
}

/** Throws `INVALID_REQUEST` unless the settings and the credential are valid for the provider's cloud, if it has one. */
export function validateCloudSettings(catalog: Catalog, provider: string, settings: CloudSettings): void {
  const problem = findCloudProblem(catalog, provider, settings)
  if (problem) throw createInputError(problem)
}
