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
const MAX_PRICE_USD = 1_000
/** A price or limit that changes by more than this factor is suspicious. */
const MAX_CHANGE_FACTOR = 10
/** A copy is suspicious if more than this share of the models is missing. */
const MAX_MISSING_SHARE = 0.2
/** A copy is suspicious if it is smaller than this share of the copy in use. */
const MIN_SIZE_SHARE = 0.5
/** If there are at least four prices and more than this share of them is suspicious, the copy probably uses different units. */
const MAX_SUSPICIOUS_SHARE = 0.5
/**
 * Maximum length of the list of changes on hold, in characters. A longer list is impractical to review and may exceed a store's maximum value size.
 */
export const MAX_HELD_CHARACTERS = 30_000
/** Matches a valid model ID. */
const MODEL_ID_PATTERN = /^[^\s\p{C}]{1,200}$/u

/** Reads a source and compares its models with the catalog in use. Providers that this release doesn't know are ignored. */
export function compareModels(source: JsonObject, options: CompareOptions): Comparison {
  const models: Record<string, CatalogModel[]> = {}
  const heldChanges: CatalogChange[] = []
  const appliedLines: string[] = []
  let knownCount = 0
  let missingCount = 0
  let pricedCount = 0
  let suspiciousCount = 0
  let sizeBefore = 0
  let sizeAfter = 0
  for (const provider of Object.keys(options.catalog)) {
    const { models: oldModels = [], asOf: catalogDate, isLive } = options.catalog[provider] ?? {}
    const { models: newModels = isLive ? [] : undefined, invalidIds } = readModels(source, provider, options) // if the copy in use has this provider, its models are missing now
    if (!newModels) continue
    sizeAfter += JSON.stringify(newModels).length
    const newModelsById = new Map(newModels.map((model) => [model.id, model]))
    const handWrittenIds = new Set(handWrittenModels[provider]?.map(({ id }) => id))
    const mergedModels = oldModels.map((oldModel): CatalogModel => {
      const newModel = newModelsById.get(oldModel.id)
      newModelsById.delete(oldModel.id)
      if (newModel && (newModel.type ?? 'llm') !== (oldModel.type ?? 'llm')) return oldModel // keep the old model, because requests of its kind would fail
      if (!newModel && handWrittenIds.has(oldModel.id)) return oldModel
      if (!oldModel.retired) sizeBefore += JSON.stringify(oldModel).length
      if (!oldModel.retired) knownCount++
      if (!newModel) {
        if (!oldModel.retired) missingCount++
        if (invalidIds.has(oldModel.id)) return oldModel
        if (!oldModel.retired) appliedLines.push(`- ${provider}/${oldModel.id}: no longer in the source`)
        return { ...oldModel, retired: true }
      }
      if (oldModel.price) pricedCount++
      const suspiciousPrices = listSuspiciousPrices(oldModel.price, newModel.price)
      const suspiciousLimits = LIMIT_FIELDS.filter((name) => isSuspiciousJump(oldModel[name], newModel[name]))
      const changes = [
        ...suspiciousPrices,
        ...suspiciousLimits.map((name) => `${name}: ${oldModel[name]} -> ${newModel[name]}`),
      ]
      const change = {
        model: `${provider}/${oldModel.id}`,
        changes,
        ...(newModel.price && { price: newModel.price }),
        ...pickLimits(newModel, suspiciousLimits),
      }
      const isHeld = changes.length > 0 && !options.accepts(change)
      if (isHeld) heldChanges.push(change)
      if (isHeld && suspiciousPrices.length > 0) {
        suspiciousCount++
        const asOf = oldModel.asOf ?? catalogDate
        return {
          ...newModel,
          ...pickLimits(oldModel, suspiciousLimits),
          ...(oldModel.price && { price: oldModel.price }),
          ...(asOf && { asOf }),
        }
      }
      const mergedModel = isHeld ? { ...newModel, ...pickLimits(oldModel, suspiciousLimits) } : newModel
      const { retired: _, asOf: __, ...oldFields } = oldModel
      if (!isSameModel(oldFields, mergedModel))
        appliedLines.push(`~ ${provider}/${oldModel.id}: ${describeChange(oldFields, mergedModel)}`)
      return mergedModel
    })
    for (const { id } of newModelsById.values()) appliedLines.push(`+ ${provider}/${id}`)
    models[provider] = [...newModelsById.values(), ...mergedModels]
  }
  const rejection = findRejection({
    knownCount,
    missingCount,
    pricedCount,
    suspiciousCount,
    heldChanges,
    sizeBefore,
    sizeAfter,
  })
  return { models, held: heldChanges, applied: appliedLines, ...(rejection !== undefined && { rejected: rejection }) }
}

interface Counts {
  knownCount: number
  missingCount: number
  /** The number of models with a price. */
  pricedCount: number
  /** The number of models with a suspicious price. */
  suspiciousCount: number
  heldChanges: readonly CatalogChange[]
  /** In characters. */
  sizeBefore: number
  sizeAfter: number
}

function findRejection({
  knownCount,
  missingCount,
  pricedCount,
  suspiciousCount,
  heldChanges,
  ...sizes
}: Counts): string | undefined {
  if (knownCount === 0) return 'The source has none of the known models.'
  if (missingCount > knownCount * MAX_MISSING_SHARE) return `${missingCount} of ${knownCount} known models are missing.`
  const isTooLong = JSON.stringify(heldChanges).length > MAX_HELD_CHARACTERS
  if (isTooLong && heldChanges.length > suspiciousCount)
    return `${heldChanges.length} of ${knownCount} models have suspicious prices or limits.`
  if (isTooLong || (pricedCount > 3 && suspiciousCount > pricedCount * MAX_SUSPICIOUS_SHARE))
    return `${suspiciousCount} of ${pricedCount} prices are suspicious.`
  if (sizes.sizeAfter < sizes.sizeBefore * MIN_SIZE_SHARE) return 'The source has less than half of the data in use.'
  return undefined
}

/** A provider's models in a source. */
interface ParsedModels {
  /** The valid models. Absent if the source doesn't have the provider. */
  models?: CatalogModel[]
  /** The IDs of the invalid models. */
  invalidIds: ReadonlySet<unknown>
}

function readModels(source: JsonObject, provider: string, { catalog, asOf }: CompareOptions): ParsedModels {
  const { serviceKinds: kinds = ['llm'], models: oldModels = [], alias, catalogAlias } = catalog[provider] ?? {}
  const sourceModels = source[provider]
  const rawModels: unknown = isObject(sourceModels) ? sourceModels.models : sourceModels
  const selection = selections[provider]
  const candidates = Array.isArray(rawModels)
    ? rawModels.filter(isObject).map((model) => dropNewZeroPrices(pickFields(model), oldModels))
    : selection && selectIncludingKnown(source, selection, { kinds, asOf, oldModels })
  const isValid = (model: object) => checkModels(provider, { alias, catalogAlias, models: [model] }, kinds).length === 0
  const getId = (model: object): unknown => Reflect.get(model, 'id')
  const models = candidates?.filter(
    (model): model is CatalogModel =>
      isValid(model) && MODEL_ID_PATTERN.test(String(getId(model))) && hasPlausiblePrice(model),
  )
  const invalidIds = new Set((Array.isArray(rawModels) ? rawModels.filter(isObject) : []).map(getId))
  for (const { id } of models ?? []) invalidIds.delete(id)
  return { ...(models && { models }), invalidIds }
}

/** Selects models from models.dev by the built-in catalog's rules, plus all models that are already in the catalog. */
function selectIncludingKnown(
  source: JsonObject,
  selection: Selection,
  { kinds, asOf, oldModels }: { kinds: readonly Kind[]; asOf: string; oldModels: readonly CatalogModel[] },
): object[] | undefined {
  const entry = source[selection.from]
  if (!isObject(entry) || !isObject(entry.models)) return undefined
  const always = [...(selection.always ?? []), ...oldModels.map(({ id }) => id)]
  return selectModels(source, { ...selection, always }, { kinds, asOf, problems: [] })
}

const COMPARED_FIELDS = ['id', 'type', 'contextWindow', 'maxOutputTokens', 'price'] as const

const pickFields = (model: JsonObject): JsonObject =>
  Object.fromEntries(COMPARED_FIELDS.flatMap((name) => (model[name] === undefined ? [] : [[name, model[name]]])))

/**
 * Removes zero prices that the catalog doesn't have, because they mean that the source doesn't know the price. Without an input token price, removes
 * all prices, because the others are useless.
 */
function dropNewZeroPrices(model: JsonObject, oldModels: readonly CatalogModel[]): JsonObject {
  const { price, ...otherFields } = model
  const oldPrices = new Map(listPrices(oldModels.find(({ id }) => id === model.id)?.price))
  const isNewZeroPrice = (name: string, usd: unknown) => usd === 0 && !oldPrices.has(name)
  const dropZeroPrices = (value: unknown, prefix = ''): unknown => {
    if (Array.isArray(value)) return value.map((tier) => dropZeroPrices(tier, `${prefix}${Object(tier).above}.`))
    if (!isObject(value)) return value
    const validPrices = Object.entries(value).filter(([name, usd]) => !isNewZeroPrice(prefix + name, usd))
    return Object.fromEntries(
      validPrices.flatMap(([name, nestedValue]) => {
        const nonZeroValue = dropZeroPrices(nestedValue, `${prefix}${name}.`)
        return isObject(nonZeroValue) && Object.keys(nonZeroValue).length === 0 ? [] : [[name, nonZeroValue]]
      }),
    )
  }
  if (!isObject(price)) return model
  const nonZeroPrice = dropZeroPrices(price)
  const isPriced =
    isObject(nonZeroPrice) && Object.keys(nonZeroPrice).length > 0 && !isNewZeroPrice('input', price.input)
  return isPriced ? { ...otherFields, price: nonZeroPrice } : otherFields
}

/** The limits to check for suspicious jumps, because requests might no longer fit after one. */
const LIMIT_FIELDS = ['contextWindow', 'maxOutputTokens'] as const

type ModelLimits = Pick<CatalogModel, (typeof LIMIT_FIELDS)[number]>

const pickLimits = (model: ModelLimits, names: ReadonlyArray<keyof ModelLimits>): ModelLimits =>
  Object.fromEntries(names.map((name) => [name, model[name]]))

const isSuspiciousJump = (oldValue: number | undefined, newValue: number | undefined): boolean =>
  oldValue !== undefined &&
  newValue !== undefined &&
  (newValue > oldValue * MAX_CHANGE_FACTOR || newValue * MAX_CHANGE_FACTOR < oldValue)

const hasPlausiblePrice = ({ price }: { price?: unknown }): boolean =>
  listPrices(price).every(([, usd]) => usd <= MAX_PRICE_USD)

/** Matches the names of prices per million tokens, including those in tiers. */
const TOKEN_PRICE_PATTERN = /(?:^|\.)(?:input|output|(?:cache|audio|image)[A-Z]\w*)$/

/** Lists the prices that a change sets to 0, removes, or changes by more than a factor of ten. Also compares new tiers with the regular price. */
function listSuspiciousPrices(oldPrice: Price | undefined, newPrice: Price | undefined): string[] {
  return [...listSuspiciousPriceChanges(oldPrice, newPrice), ...listSuspiciousNewPrices(oldPrice, newPrice)]
}

function listSuspiciousNewPrices(oldPrice: Price | undefined, newPrice: Price | undefined): string[] {
  const oldPrices = new Map(listPrices(oldPrice))
  return listPrices(newPrice).flatMap(([name, usd]) => {
    if (oldPrices.has(name) || !TOKEN_PRICE_PATTERN.test(name)) return []
    const regularUsd = name.includes('.') ? oldPrices.get(name.slice(name.lastIndexOf('.') + 1)) : undefined
    const isSuspicious =
      regularUsd === undefined
        ? usd > (oldPrices.get('input') ?? usd) * MAX_CHANGE_FACTOR
        : isSuspiciousJump(regularUsd, usd)
    return isSuspicious ? [`${name}: unknown -> ${usd}`] : []
  })
}

function listSuspiciousPriceChanges(oldPrice: Price | undefined, newPrice: Price | undefined): string[] {
  const newPrices = new Map(listPrices(newPrice))
  return listPrices(oldPrice).flatMap(([name, oldUsd]) => {
    const newUsd = newPrices.get(name)
    if (oldUsd === 0 || newUsd === oldUsd) return []
    const isRemoved = newUsd === undefined || newUsd === 0
    if (isRemoved && newUsd === undefined && name.includes('.') && newPrice) return [] // the new price has different tiers
    return isRemoved || isSuspiciousJump(oldUsd, newUsd) ? [`${name}: ${oldUsd} -> ${newUsd ?? 'unknown'}`] : []
  })
}

/** Lists all prices by name, such as `input` and `tiers.200000.input`. */
function listPrices(value: unknown, prefix = ''): [name: string, usd: number][] {
  if (Array.isArray(value))
    return value.filter(isObject).flatMap(({ above, ...tier }) => listPrices(tier, `${prefix}${above}.`))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, nestedValue]): [string, number][] =>
    typeof nestedValue === 'number' ? [[prefix + name, nestedValue]] : listPrices(nestedValue, `${prefix}${name}.`),
  )
}

const isSameModel = (a: CatalogModel, b: CatalogModel) => describeChange(a, b) === ''

function describeChange(
  { price: oldPrice, ...oldFields }: CatalogModel,
  { price, ...newFields }: CatalogModel,
): string {
  const oldValues = new Map<string, unknown>([...Object.entries(oldFields), ...listPrices(oldPrice)])
  const newValues = new Map<string, unknown>([...Object.entries(newFields), ...listPrices(price)])
  return [...new Set([...oldValues.keys(), ...newValues.keys()])]
    .filter((name) => oldValues.get(name) !== newValues.get(name))
    .map((name) => `${name} ${oldValues.get(name) ?? 'unknown'} -> ${newValues.get(name) ?? 'unknown'}`)
    .join(', ')
}
