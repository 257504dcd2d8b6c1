import { isObject, type JsonObject } from '../../lib/json.ts'
import { authStyles, clouds } from '../../protocols/providers/catalog-problem.ts'
import { providerFormats } from '../../types/unions.ts'
import type { CatalogProvider } from '../../types.ts'
import {
  checkField,
  checkModels,
  findUnknownFields,
  formatValue,
  isMember,
  isNonBlankString,
  kindCategories,
} from './validate-model.ts'

/* These are records, so the compiler requires a check for each new field of the type. */
const providerFields: Record<keyof CatalogProvider, true> = {
  alias: true,
  catalogAlias: true,
  name: true,
  docsUrl: true,
  baseUrl: true,
  format: true,
  formats: true,
  alsoSpeaks: true,
  auth: true,
  cloud: true,
  serviceKinds: true,
  models: true,
  asOf: true,
  isLive: true,
  ttsConfig: true,
  embeddingConfig: true,
  searchConfig: true,
  fetchConfig: true,
}

/**
 * Returns a catalog's problems as lines that start with `<provider>:` or `<provider>/<model>:`. Stricter than the gateway's check of custom catalogs:
 * each provider also needs a name, a documentation URL, and a base URL.
 */
export function validateCatalog(catalog: unknown): string[] {
  if (!isObject(catalog)) return ['the catalog is not an object']
  return [
    ...Object.entries(catalog).flatMap(([id, provider]) => checkProvider(id, provider)),
    ...checkSharedNames(catalog),
  ]
}

function checkProvider(id: string, provider: unknown): string[] {
  if (!isObject(provider)) return [`${id}: is not an object`]
  const servedKinds = listServedKinds(provider)
  const problems = [
    ...findUnknownFields(provider, providerFields),
    ...(isValidName(id) ? [] : [`the id "${id}" has other characters than a-z, 0-9 and "-"`]),
    ...['alias', 'catalogAlias'].flatMap((field) =>
      provider[field] === undefined || isValidName(provider[field])
        ? []
        : [`${field} ${formatValue(provider[field])} has other characters than a-z, 0-9 and "-"`],
    ),
    ...(isNonBlankString(provider.name) ? [] : ['name is missing or blank']),
    ...checkUrl('docsUrl', provider.docsUrl),
    ...(provider.baseUrl === undefined ? [] : checkUrl('baseUrl', provider.baseUrl)),
    ...checkField('format', provider.format, providerFormats),
    ...(provider.formats === undefined ? [] : checkFormats(provider.formats)),
    ...(provider.alsoSpeaks === undefined ? [] : checkOtherFormats(provider.alsoSpeaks)),
    ...checkField('auth', provider.auth, authStyles),
    ...checkField('cloud', provider.cloud, clouds),
    ...checkServices(provider, servedKinds),
    ...checkConfigs(provider, servedKinds),
  ].map((problem) => `${id}: ${problem}`)
  return [...problems, ...checkModels(id, provider, servedKinds)]
}

function checkFormats(value: unknown): string[] {
  if (!isObject(value)) return ['formats is not an object']
  return Object.entries(value).flatMap(([prefix, format]) =>
    checkField(`formats.${prefix}`, format ?? null, providerFormats),
  )
}

const checkOtherFormats = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.flatMap((format) => checkField('alsoSpeaks', format ?? null, providerFormats))
    : ['alsoSpeaks is not a list']

/** Returns the provider's service kinds, or `undefined` if `serviceKinds` is set but isn't a non-empty list. */
function listServedKinds(provider: JsonObject): readonly unknown[] | undefined {
  if (provider.serviceKinds === undefined) return ['llm']
  return Array.isArray(provider.serviceKinds) && provider.serviceKinds.length > 0 ? provider.serviceKinds : undefined
}

function checkServices(provider: JsonObject, servedKinds: readonly unknown[] | undefined): string[] {
  if (!servedKinds) return ['serviceKinds is not a list with a kind in it']
  const problems = servedKinds.flatMap((kind) => checkField('serviceKinds', kind ?? null, Object.keys(kindCategories)))
  if (new Set(servedKinds).size < servedKinds.length) problems.push('serviceKinds names a kind twice')
  const servesModels = servedKinds.some((kind) => isMember(kind, kindCategories) && kindCategories[kind] === 'model')
  if (provider.cloud !== undefined) return problems // the user's account decides the URL and, on some clouds, the models
  if (servesModels && provider.baseUrl === undefined) problems.push('baseUrl is missing')
  if (servesModels && (!Array.isArray(provider.models) || provider.models.length === 0)) problems.push('has no models')
  return problems
}

function checkConfigs(provider: JsonObject, servedKinds: readonly unknown[] | undefined): string[] {
  const problems: string[] = []
  for (const [field, kind] of [
    ['searchConfig', 'webSearch'],
    ['fetchConfig', 'webFetch'],
  ] as const) {
    const config = provider[field]
    const servesKind = servedKinds?.includes(kind) ?? false
    if (config === undefined) {
      if (servesKind) problems.push(`serves ${kind} without ${field}`)
      continue
    }
    if (!servesKind) problems.push(`has ${field} without ${kind} in serviceKinds`)
    problems.push(...checkUrl(`${field}.baseUrl`, isObject(config) ? config.baseUrl : undefined))
  }
  for (const [field, kind] of [
    ['ttsConfig', 'tts'],
    ['embeddingConfig', 'embedding'],
  ] as const) {
    const config = provider[field]
    if (config === undefined) continue
    if (!servedKinds?.includes(kind)) problems.push(`has ${field} without ${kind} in serviceKinds`)
    const models = isObject(config) ? config.models : undefined
    const isModelList =
      Array.isArray(models) && models.every((model: unknown) => isObject(model) && isNonBlankString(model.id))
    if (!isModelList) problems.push(`${field}.models is not a list of { id }`)
  }
  return problems
}

/** Returns a problem for each name that two providers share as an ID, alias, or catalog alias. */
function checkSharedNames(catalog: JsonObject): string[] {
  const owners = new Map<string, string>()
  const problems: string[] = []
  for (const [id, provider] of Object.entries(catalog)) {
    const names = isObject(provider) ? [id, provider.alias, provider.catalogAlias].filter(isNonBlankString) : [id]
    for (const name of new Set(names)) {
      const owner = owners.get(name)
      if (owner) problems.push(`${id}: the name "${name}" belongs to ${owner} already`)
      else owners.set(name, id)
    }
  }
  return problems
}

function checkUrl(field: string, value: unknown): string[] {
  if (!isNonBlankString(value)) return [`${field} is missing or blank`]
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) return [`${field} ${formatValue(value)} is not an http(s) URL`]
  if (url.username || url.password) return [`${field} holds a credential`]
  if (field === 'docsUrl') return []
  if (url.protocol === 'http:' && url.hostname !== 'localhost') return [`${field} ${formatValue(value)} is not https`]
  if (value.endsWith('/') || url.search || url.hash)
    return [`${field} ${formatValue(value)} ends in a slash, or has a query or a fragment`]
  return []
}

const isValidName = (value: unknown) => typeof value === 'string' && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(value)
