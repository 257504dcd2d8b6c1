import { isObject, type JsonObject } from '../../lib/json.ts'
import type { CatalogModel, Kind } from '../../types.ts'

const modelFields: Record<keyof CatalogModel, true> = {
  id: true,
  type: true,
  contextWindow: true,
  maxOutputTokens: true,
  price: true,
  asOf: true,
  retired: true,
}
const priceFields: Record<keyof NonNullable<CatalogModel['price']>, true> = {
  input: true,
  output: true,
  cacheRead: true,
  cacheWrite: true,
  cacheWriteLong: true,
  audioInput: true,
  audioOutput: true,
  imageInput: true,
  imageOutput: true,
  search: true,
  page: true,
  credit: true,
  image: true,
  second: true,
  character: true,
  minute: true,
  images: true,
  tiers: true,
  serviceTiers: true,
}

/** Returns the problems with a provider's models, one per line. `servedKinds` are the provider's kinds, or `undefined` if they can't be read. */
export function checkModels(
  provider: string,
  { alias, catalogAlias, models }: JsonObject,
  servedKinds: readonly unknown[] | undefined,
): string[] {
  if (models === undefined) return []
  if (!Array.isArray(models)) return [`${provider}: models is not a list`]
  const names = [provider, alias, catalogAlias].filter(isNonBlankString)
  const seenIds = new Set<string>()
  return models.flatMap((model: unknown, index) => {
    if (!isObject(model) || !isNonBlankString(model.id))
      return [`${provider}: models[${index}] has no id, or a blank one`]
    const { id } = model
    const problems = checkModel(model, servedKinds)
    const leadingName = names.find((prefix) => id.startsWith(`${prefix}/`))
    if (leadingName) problems.push(`the listing would take the leading "${leadingName}/" off its id`)
    if (seenIds.has(id)) problems.push('is there twice')
    seenIds.add(id)
    return problems.map((problem) => `${provider}/${id}: ${problem}`)
  })
}

function checkModel(model: JsonObject, servedKinds: readonly unknown[] | undefined): string[] {
  const problems = [
    ...findUnknownFields(model, modelFields),
    ...checkField('type', model.type, Object.keys(kindCategories)),
  ]
  if (model.id !== String(model.id).trim()) problems.push('id has blanks around it')
  const kind = model.type ?? 'llm'
  if (isMember(kind, kindCategories) && kindCategories[kind] === 'service')
    problems.push(`type ${kind} is not a kind of model`)
  else if (isMember(kind, kindCategories) && servedKinds && !servedKinds.includes(kind))
    problems.push(`serviceKinds does not have its kind, ${kind}`)
  for (const field of ['contextWindow', 'maxOutputTokens']) {
    const value = model[field]
    if (value !== undefined && !isPositiveInteger(value))
      problems.push(`${field} ${formatValue(value)} is not a positive integer`)
  }
  if (
    isPositiveInteger(model.contextWindow) &&
    isPositiveInteger(model.maxOutputTokens) &&
    model.maxOutputTokens > model.contextWindow
  ) {
    problems.push('maxOutputTokens is larger than contextWindow')
  }
  return [...problems, ...checkPrice(model.price), ...(kind === 'image' ? checkImagePrice(model.price) : [])]
}

function checkPrice(price: unknown): string[] {
  if (price === undefined) return []
  if (!isObject(price)) return ['price is not an object']
  const problems = findUnknownFields(price, priceFields, 'price.')
  const images = isObject(price.images) ? price.images : {}
  const amounts = {
    ...price,
    images: undefined,
    tiers: undefined,
    serviceTiers: undefined,
    ...Object.fromEntries(Object.entries(images).map(([name, value]) => [`images.${name}`, value])),
  }
  for (const [field, value] of Object.entries(amounts)) {
    if (value === undefined) continue
    if (typeof value !== 'number' || !Number.isFinite(value))
      problems.push(`price.${field} ${formatValue(value)} is not a number`)
    else if (value < 0) problems.push(`price.${field} ${value} is negative`)
  }
  if (Object.keys(price).length === 0) problems.push('price is empty')
  for (const field of ['output', 'cacheRead', 'cacheWrite', 'cacheWriteLong']) {
    if (price[field] !== undefined && price.input === undefined) problems.push(`price.${field} without an input price`)
  }
  if (Number(price.cacheRead) > Number(price.input)) problems.push('price.cacheRead is higher than the input price')
  return [...problems, ...checkTiers(price), ...checkServiceTiers(price)]
}

/** Checks each service tier as a price. */
function checkServiceTiers({ serviceTiers }: JsonObject): string[] {
  if (serviceTiers === undefined) return []
  if (!isObject(serviceTiers)) return ['price.serviceTiers is not an object']
  return Object.entries(serviceTiers).flatMap(([name, price]) =>
    checkPrice(price ?? null).map((problem) => problem.replace(/^price/, `price.serviceTiers.${name}`)),
  )
}

function checkTiers({ tiers, ...price }: JsonObject): string[] {
  if (tiers === undefined) return []
  if (!Array.isArray(tiers) || !tiers.every(isObject)) return ['price.tiers is not a list of objects']
  return tiers.flatMap((tier, index) =>
    Object.entries(tier).flatMap(([field, value]) => {
      const path = `price.tiers[${index}].${field}`
      if (field === 'above')
        return isPositiveInteger(value) ? [] : [`${path} ${formatValue(value)} is not a positive integer`]
      if (typeof value !== 'number' || !Number.isFinite(value)) return [`${path} ${formatValue(value)} is not a number`]
      if (price[field] === undefined) return [`${path} without a price.${field}`]
      return value < Number(price[field]) ? [`${path} ${value} is lower than price.${field}`] : []
    }),
  )
}

/** Checks an image model's prices. Image tokens cost more than text tokens, so a model that is billed by tokens needs both prices. */
function checkImagePrice(price: unknown): string[] {
  if (!isObject(price) || price.input === undefined) return []
  return ['output', 'imageInput', 'imageOutput'].flatMap((field) =>
    price[field] === undefined ? [`price has no ${field}, which an image model has`] : [],
  )
}

const isPositiveInteger = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0

/**
 * All kinds. Each is either a kind of model or only a provider's service. This is a record, so the compiler requires a line for each new kind.
 */
export const kindCategories: Record<Kind, 'model' | 'service'> = {
  llm: 'model',
  image: 'model',
  tts: 'model',
  stt: 'model',
  embedding: 'model',
  imageToText: 'model',
  webSearch: 'service',
  webFetch: 'service',
  rerank: 'model',
  moderation: 'model',
}

/** Returns a problem for each unknown field in an entry. */
export const findUnknownFields = (value: JsonObject, knownFields: object, prefix = '') =>
  Object.keys(value)
    .filter((field) => !Object.hasOwn(knownFields, field))
    .map((field) => `${prefix}${field} is not a known field`)

export const isMember = <Members extends object>(value: unknown, members: Members): value is keyof Members =>
  typeof value === 'string' && Object.hasOwn(members, value)

/** Returns whether the value is a non-blank string. */
export const isNonBlankString = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
export const formatValue = (value: unknown) => JSON.stringify(value) ?? String(value)

/** Returns a problem if the value isn't one of `members`. `undefined` is valid, because the field then has its default. */
export function checkField(field: string, value: unknown, members: readonly unknown[]): string[] {
  if (value === undefined || members.includes(value)) return []
  return [`${field} ${formatValue(value)} is none of ${members.join(', ')}`]
}
