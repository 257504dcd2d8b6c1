import { isObject, type JsonObject } from '../../lib/json.ts'
import { handWrittenModels } from '../../protocols/providers/catalog.ts'
import type { Catalog, CatalogModel, Kind, Price } from '../../types.ts'
import type { CatalogChange } from './live-types.ts'
import { type Selection, selections } from './selection.ts'
import { selectModels } from './source.ts'
import { checkModels } from './validate-model.ts'

/** Models by provider. */
export type ModelLists = Readonly<Record<string, readonly CatalogModel[]>>

/** The result of comparing a new copy of the models with the one in use. */
export interface Comparison {
  models: ModelLists
  held: CatalogChange[]
  /** The changes to apply, one per line. */
  applied: string[]
  /** Why the entire copy is suspicious. */
  rejected?: string
}

interface CompareOptions {
  /** The catalog in use. */
  catalog: Catalog
  asOf: string
  /** Returns whether to apply a suspicious change anyway. */
  accepts(change: CatalogChange): boolean
}

/** Prices above this, in USD per million tokens or per unit, are treated as mistakes. */
const MAX_USD = 1_000
/** A price or limit that changes by more than this factor is suspicious. */
const MAX_FACTOR = 10
/** A copy is suspicious if more than this share of the models is missing. */
const MAX_GONE_SHARE = 0.2
/** A copy is suspicious if it is smaller than this share of the copy in use. */
const MIN_SIZE = 0.5
/** If there are at least four prices and more than this share of them is suspicious, the copy probably uses different units. */
const MAX_HELD = 0.5
/**
 * Maximum length of the list of changes on hold, in characters. A longer list is impractical to review and may exceed a store's maximum value size.
 */
export const MAX_HELD_CHARACTERS = 30_000
/** Matches a valid model ID. */
const MODEL_ID = /^[^\s\p{C}]{1,200}$/u

/** Reads a source and compares its models with the catalog in use. Providers that this release doesn't know are ignored. */
export function compareModels(source: JsonObject, options: CompareOptions): Comparison {
  const models: Record<string, CatalogModel[]> = {}
  const heldChanges: CatalogChange[] = []
  const applied: string[] = []
  let knownCount = 0
  let goneCount = 0
  let compared = 0
  let suspicious = 0
  let sizeBefore = 0
  let sizeAfter = 0
  for (const provider of Object.keys(options.catalog)) {
    const { models: oldModels = [], asOf: date, isLive } = options.catalog[provider] ?? {}
    const { models: after = isLive ? [] : undefined, invalid } = readModels(source, provider, options) // if the copy in use has this provider, its models are missing now
    if (!after) continue
    sizeAfter += JSON.stringify(after).length
    const found = new Map(after.map((model) => [model.id, model]))
    const handWrittenIds = new Set(handWrittenModels[provider]?.map(({ id }) => id))
    const mergedModels = oldModels.map((oldModel): CatalogModel => {
      const newModel = found.get(oldModel.id)
      found.delete(oldModel.id)
      if (newModel && (newModel.type ?? 'llm') !== (oldModel.type ?? 'llm')) return oldModel // keep the old model, because requests of its kind would fail
      if (!newModel && handWrittenIds.has(oldModel.id)) return oldModel
      if (!oldModel.retired) sizeBefore += JSON.stringify(oldModel).length
      if (!oldModel.retired) knownCount++
      if (!newModel) {
        if (!oldModel.retired) goneCount++
        if (invalid.has(oldModel.id)) return oldModel
        if (!oldModel.retired) applied.push(`- ${provider}/${oldModel.id}: no longer in the source`)
        return { ...oldModel, retired: true }
      }
      if (oldModel.price) compared++
      const prices = listSuspicious(oldModel.price, newModel.price)
      const limits = LIMIT_FIELDS.filter((name) => isJump(oldModel[name], newModel[name]))
      const changes = [...prices, ...limits.map((name) => `${name}: ${oldModel[name]} -> ${newModel[name]}`)]
      const change = {
        model: `${provider}/${oldModel.id}`,
        changes,
        ...(newModel.price && { price: newModel.price }),
        ...pickLimits(newModel, limits),
      }
      const isHeld = changes.length > 0 && !options.accepts(change)
      if (isHeld) heldChanges.push(change)
      if (isHeld && prices.length > 0) {
        suspicious++
        const asOf = oldModel.asOf ?? date
        return {
          ...newModel,
          ...pickLimits(oldModel, limits),
          ...(oldModel.price && { price: oldModel.price }),
          ...(asOf && { asOf }),
        }
      }
      const next = isHeld ? { ...newModel, ...pickLimits(oldModel, limits) } : newModel
      const { retired: _, asOf: __, ...fields } = oldModel
      if (!isSame(fields, next)) applied.push(`~ ${provider}/${oldModel.id}: ${describeChange(fields, next)}`)
      return next
    })
    for (const { id } of found.values()) applied.push(`+ ${provider}/${id}`)
    models[provider] = [...found.values(), ...mergedModels]
  }
  const rejected = findRejection({
    knownCount,
    goneCount,
    compared,
    suspicious,
    held: heldChanges,
    sizeBefore,
    sizeAfter,
  })
  return { models, held: heldChanges, applied, ...(rejected !== undefined && { rejected }) }
}

interface Counts {
  knownCount: number
  goneCount: number
  /** The number of models with a price. */
  compared: number
  /** The number of models with a suspicious price. */
  suspicious: number
  held: readonly CatalogChange[]
  /** In characters. */
  sizeBefore: number
  sizeAfter: number
}

function findRejection({ knownCount, goneCount, compared, suspicious, held, ...sizes }: Counts): string | undefined {
  if (knownCount === 0) return 'The source has none of the known models.'
  if (goneCount > knownCount * MAX_GONE_SHARE) return `${goneCount} of ${knownCount} known models are missing.`
  const isTooLong = JSON.stringify(held).length > MAX_HELD_CHARACTERS
  if (isTooLong && held.length > suspicious)
    return `${held.length} of ${knownCount} models have suspicious prices or limits.`
  if (isTooLong || (compared > 3 && suspicious > compared * MAX_HELD))
    return `${suspicious} of ${compared} prices are suspicious.`
  if (sizes.sizeAfter < sizes.sizeBefore * MIN_SIZE) return 'The source has less than half of the data in use.'
  return undefined
}

/** A provider's models in a source. */
interface ReadModels {
  /** The valid models. Absent if the source doesn't have the provider. */
  models?: CatalogModel[]
  /** The IDs of the invalid models. */
  invalid: ReadonlySet<unknown>
}

function readModels(source: JsonObject, provider: string, { catalog, asOf }: CompareOptions): ReadModels {
  const { serviceKinds: kinds = ['llm'], models: oldModels = [], alias, catalogAlias } = catalog[provider] ?? {}
  const sourceModels = source[provider]
  const list: unknown = isObject(sourceModels) ? sourceModels.models : sourceModels
  const selection = selections[provider]
  const found = Array.isArray(list)
    ? list.filter(isObject).map((model) => dropNewZeros(pickFields(model), oldModels))
    : selection && selectIncludingKnown(source, selection, { kinds, asOf, before: oldModels })
  const isValid = (model: object) => checkModels(provider, { alias, catalogAlias, models: [model] }, kinds).length === 0
  const getId = (model: object): unknown => Reflect.get(model, 'id')
  const models = found?.filter(
    (model): model is CatalogModel => isValid(model) && MODEL_ID.test(String(getId(model))) && hasPlausiblePrice(model),
  )
  const invalid = new Set((Array.isArray(list) ? list.filter(isObject) : []).map(getId))
  for (const { id } of models ?? []) invalid.delete(id)
  return { ...(models && { models }), invalid }
}

/** Selects models from models.dev by the built-in catalog's rules, plus all models that are already in the catalog. */
function selectIncludingKnown(
  source: JsonObject,
  selection: Selection,
  { kinds, asOf, before }: { kinds: readonly Kind[]; asOf: string; before: readonly CatalogModel[] },
): object[] | undefined {
  const entry = source[selection.from]
  if (!isObject(entry) || !isObject(entry.models)) return undefined
  const always = [...(selection.always ?? []), ...before.map(({ id }) => id)]
  return selectModels(source, { ...selection, always }, { kinds, asOf, problems: [] })
}

const COMPARED_FIELDS = ['id', 'type', 'contextWindow', 'maxOutputTokens', 'price'] as const

const pickFields = (model: JsonObject): JsonObject =>
  Object.fromEntries(COMPARED_FIELDS.flatMap((name) => (model[name] === undefined ? [] : [[name, model[name]]])))

/**
 * Removes zero prices that the catalog doesn't have, because they mean that the source doesn't know the price. Without an input token price, removes
 * all prices, because the others are useless.
 */
function dropNewZeros(model: JsonObject, oldModels: readonly CatalogModel[]): JsonObject {
  const { price, ...others } = model
  const oldPrices = new Map(listPrices(oldModels.find(({ id }) => id === model.id)?.price))
  const isUnknown = (name: string, usd: unknown) => usd === 0 && !oldPrices.has(name)
  const dropZeros = (value: unknown, prefix = ''): unknown => {
    if (Array.isArray(value)) return value.map((tier) => dropZeros(tier, `${prefix}${Object(tier).above}.`))
    if (!isObject(value)) return value
    const validPrices = Object.entries(value).filter(([name, usd]) => !isUnknown(prefix + name, usd))
    return Object.fromEntries(
      validPrices.flatMap(([name, inner]) => {
        const remaining = dropZeros(inner, `${prefix}${name}.`)
        return isObject(remaining) && Object.keys(remaining).length === 0 ? [] : [[name, remaining]]
      }),
    )
  }
  if (!isObject(price)) return model
  const rest = dropZeros(price)
  const isPriced = isObject(rest) && Object.keys(rest).length > 0 && !isUnknown('input', price.input)
  return isPriced ? { ...others, price: rest } : others
}

/** The limits to check for suspicious jumps, because requests might no longer fit after one. */
const LIMIT_FIELDS = ['contextWindow', 'maxOutputTokens'] as const

type ModelLimits = Pick<CatalogModel, (typeof LIMIT_FIELDS)[number]>

const pickLimits = (model: ModelLimits, names: ReadonlyArray<keyof ModelLimits>): ModelLimits =>
  Object.fromEntries(names.map((name) => [name, model[name]]))

const isJump = (from: number | undefined, to: number | undefined): boolean =>
  from !== undefined && to !== undefined && (to > from * MAX_FACTOR || to * MAX_FACTOR < from)

const hasPlausiblePrice = ({ price }: { price?: unknown }): boolean =>
  listPrices(price).every(([, usd]) => usd <= MAX_USD)

/** Matches the names of prices per million tokens, including those in tiers. */
const TOKEN_PRICE = /(?:^|\.)(?:input|output|(?:cache|audio|image)[A-Z]\w*)$/

/** Lists the prices that a change sets to 0, removes, or changes by more than a factor of ten. Also compares new tiers with the regular price. */
function listSuspicious(before: Price | undefined, after: Price | undefined): string[] {
  return [...listSuspiciousChanges(before, after), ...listSuspiciousAdditions(before, after)]
}

function listSuspiciousAdditions(before: Price | undefined, after: Price | undefined): string[] {
  const oldPrices = new Map(listPrices(before))
  return listPrices(after).flatMap(([name, usd]) => {
    if (oldPrices.has(name) || !TOKEN_PRICE.test(name)) return []
    const regular = name.includes('.') ? oldPrices.get(name.slice(name.lastIndexOf('.') + 1)) : undefined
    const isSuspicious =
      regular === undefined ? usd > (oldPrices.get('input') ?? usd) * MAX_FACTOR : isJump(regular, usd)
    return isSuspicious ? [`${name}: unknown -> ${usd}`] : []
  })
}

function listSuspiciousChanges(before: Price | undefined, after: Price | undefined): string[] {
  const now = new Map(listPrices(after))
  return listPrices(before).flatMap(([name, from]) => {
    const to = now.get(name)
    if (from === 0 || to === from) return []
    const isGone = to === undefined || to === 0
    if (isGone && to === undefined && name.includes('.') && after) return [] // the new price has different tiers
    return isGone || isJump(from, to) ? [`${name}: ${from} -> ${to ?? 'unknown'}`] : []
  })
}

/** Lists all prices by name, such as `input` and `tiers.200000.input`. */
function listPrices(value: unknown, prefix = ''): [name: string, usd: number][] {
  if (Array.isArray(value))
    return value.filter(isObject).flatMap(({ above, ...tier }) => listPrices(tier, `${prefix}${above}.`))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]): [string, number][] =>
    typeof inner === 'number' ? [[prefix + name, inner]] : listPrices(inner, `${prefix}${name}.`),
  )
}

const isSame = (a: CatalogModel, b: CatalogModel) => describeChange(a, b) === ''

function describeChange({ price: oldPrice, ...old }: CatalogModel, { price, ...model }: CatalogModel): string {
  const oldValues = new Map<string, unknown>([...Object.entries(old), ...listPrices(oldPrice)])
  const after = new Map<string, unknown>([...Object.entries(model), ...listPrices(price)])
  return [...new Set([...oldValues.keys(), ...after.keys()])]
    .filter((name) => oldValues.get(name) !== after.get(name))
    .map((name) => `${name} ${oldValues.get(name) ?? 'unknown'} -> ${after.get(name) ?? 'unknown'}`)
    .join(', ')
}
