import { isObject, type JsonObject } from '../../lib/json.ts'
import type { CatalogModel, Kind, PriceTier, ServiceTierPrice } from '../../types.ts'
import type { Selection } from './selection.ts'

/** A model from the source that passed its checks. Its fields are as in https://models.dev/api.json. */
interface SourceModel {
  id: string
  isDeprecated: boolean
  supportsTools: boolean
  releaseDate: string
  input: readonly string[]
  output: readonly string[]
  contextWindow: number
  maxOutputTokens: number
  cost: Partial<Record<TokenCost, number>>
  tiers: readonly PriceTier[]
  serviceTiers: Readonly<Record<string, ServiceTierPrice>>
}

type TokenCost = (typeof tokenCosts)[number][0]

interface SelectionOptions {
  /** The kinds that the provider serves; models of other kinds are excluded. */
  kinds: readonly Kind[]
  /** The data's date, `YYYY-MM-DD`. */
  asOf: string
  /** Collects one line for each unreadable entry in the source. */
  problems: string[]
}

/** Selects a provider's models in the source: language models first, newest first. */
export function selectModels(
  source: unknown,
  selection: Selection,
  { kinds, asOf, problems }: SelectionOptions,
): CatalogModel[] {
  const provider = isObject(source) && Object.hasOwn(source, selection.from) ? source[selection.from] : undefined
  if (!isObject(provider) || !isObject(provider.models)) {
    problems.push(`${selection.from}: the source has no such provider, or it has no models`)
    return []
  }
  const sourceModels = Object.entries(provider.models).flatMap(([id, model]) =>
    readModel(id, model, (problem) => problems.push(`${selection.from}/${id}: ${problem}`)),
  )
  return sourceModels
    .flatMap((model) => {
      const kind = findKind(model)
      return kind && kinds.includes(kind) && isSelected(model, kind, selection, asOf) ? [{ model, kind }] : []
    })
    .sort(
      (a, b) =>
        rankKind(a.kind) - rankKind(b.kind) ||
        compareStrings(b.model.releaseDate, a.model.releaseDate) ||
        compareStrings(a.model.id, b.model.id),
    )
    .map(({ model, kind }) => toCatalogModel(model, kind, selection))
}

function isSelected(
  model: SourceModel,
  kind: Kind,
  { always, keep, drop, months, tools }: Selection,
  asOf: string,
): boolean {
  if (model.isDeprecated) return false
  if (always?.includes(model.id)) return true
  if ((keep && !keep.test(model.id)) || drop?.test(model.id)) return false
  if (tools && kind === 'llm' && !model.supportsTools) return false
  return !months || model.releaseDate >= subtractMonths(asOf, months)
}

/** Returns a model's kind, or `undefined` for models that the gateway doesn't route: video, reranking, and moderation. */
function findKind({ id, input, output }: SourceModel): Kind | undefined {
  if (/rerank|guard|moderation|safety/i.test(id) || output.includes('video')) return undefined
  if (/embed|\bbge-/i.test(id)) return 'embedding'
  if (output.includes('image')) return 'image'
  if (!output.includes('text')) return output.includes('audio') ? 'tts' : undefined
  if (input.length > 0 && input.every((part) => part === 'audio')) return 'stt'
  return /ocr/i.test(id) ? 'imageToText' : 'llm'
}

function toCatalogModel(model: SourceModel, kind: Kind, selection: Selection): CatalogModel {
  const { contextWindow, maxOutputTokens } = model
  const price = readPrice(model, kind, selection)
  return {
    id: model.id,
    ...(kind !== 'llm' && { type: kind }),
    ...(contextWindow > 0 && kind !== 'image' && { contextWindow }),
    // A limit of at least 90% of the context window isn't a separate limit. For embeddings, "output" is the dimension.
    ...(maxOutputTokens > 0 &&
      maxOutputTokens < Math.floor(contextWindow * 0.9) &&
      kind === 'llm' && { maxOutputTokens }),
    ...(price && { price }),
  }
}

function readPrice(
  { id, cost, tiers, serviceTiers }: SourceModel,
  kind: Kind,
  { freeModels, pricedModels, storagePriced, addedPrices }: Selection,
): CatalogModel['price'] {
  if (freeModels?.test(id)) return { input: 0, output: 0 }
  if (pricedModels && !pricedModels.test(id)) return undefined
  if (kind === 'tts' || kind === 'stt') return undefined // these models are billed by the minute or by the character
  if (!cost.input) return undefined
  const { input, output, cacheRead, cacheWrite, audioInput, audioOutput } = cost
  const hasWritePrice = cacheWrite && !storagePriced?.test(id)
  return {
    input,
    ...(output && { output }),
    ...(cacheRead && { cacheRead }),
    ...(hasWritePrice && { cacheWrite }),
    ...(audioInput && audioInput !== input && { audioInput }),
    ...(audioOutput && audioOutput !== output && { audioOutput }),
    ...(kind === 'image' && { imageInput: input, ...(output && { imageOutput: output }) }), // the source lists only one price for both text and images
    ...(tiers.length > 0 && { tiers }),
    ...(Object.keys(serviceTiers).length > 0 && { serviceTiers }),
    ...(addedPrices && Object.hasOwn(addedPrices, id) && addedPrices[id]),
  }
}

function readModel(id: string, value: unknown, reportProblem: (problem: string) => void): SourceModel[] {
  if (!isObject(value)) {
    reportProblem('is not an object')
    return []
  }
  const model = value
  let isComplete = true
  const checkType = (isValid: boolean, problem: string) => {
    if (isValid) return
    isComplete = false
    reportProblem(problem)
  }
  const readSection = (name: string): JsonObject => {
    const section = model[name]
    return isObject(section) ? section : {}
  }
  const readAmount = (section: string, field: string): number | undefined => {
    const amount = readSection(section)[field]
    if (amount === undefined || amount === null) return undefined
    const isAmount = typeof amount === 'number' && Number.isFinite(amount) && amount >= 0
    checkType(isAmount, `${section}.${field} ${JSON.stringify(amount)} is not a number from 0`)
    return isAmount ? Math.round(amount * 1e6) / 1e6 : undefined
  }
  const readList = (field: string): string[] => {
    const items: unknown = readSection('modalities')[field]
    const isStringList = Array.isArray(items) && items.every((item) => typeof item === 'string')
    checkType(isStringList, `modalities.${field} is not a list of words`)
    return isStringList ? items : []
  }
  const releaseDate = typeof model.release_date === 'string' ? model.release_date : ''
  checkType(model.id === id && id.trim() !== '', `its id is ${JSON.stringify(model.id)}`)
  checkType(
    /^\d{4}(?:-\d\d){0,2}$/.test(releaseDate),
    `release_date ${JSON.stringify(model.release_date)} is not a date`,
  )
  checkType(isObject(model.limit), 'limit is missing')
  const cost: Record<string, number | undefined> = {}
  for (const [name, field] of tokenCosts) cost[name] = readAmount('cost', field)
  const { tiers: rawTiers, context_over_200k: above200k } = readSection('cost')
  const tiers = (Array.isArray(rawTiers) ? rawTiers : []).flatMap(readTier)
  if (tiers.length === 0 && isObject(above200k)) tiers.push(...readTier({ ...above200k, tier: { size: 200_000 } }))
  const parsedModel = {
    tiers,
    serviceTiers: readServiceTiers(model.experimental),
    id,
    isDeprecated: model.status === 'deprecated',
    supportsTools: model.tool_call === true,
    releaseDate,
    input: readList('input'),
    output: readList('output'),
    contextWindow: readAmount('limit', 'context') ?? 0,
    maxOutputTokens: readAmount('limit', 'output') ?? 0,
    cost: Object.fromEntries(Object.entries(cost).filter(([, number]) => number !== undefined)),
  }
  return isComplete ? [parsedModel] : []
}

/** Reads a price tier for requests above a number of input tokens. */
function readTier(value: unknown): PriceTier[] {
  if (!isObject(value)) return []
  const { tier } = value
  const threshold = isObject(tier) && (tier.type ?? 'context') === 'context' ? tier.size : undefined
  return typeof threshold === 'number' && threshold > 0 ? [{ above: threshold, ...readTokenPrices(value) }] : []
}

/** Reads the modes that have their own price, such as `{ fast: { cost, provider: { body: { service_tier: 'priority' } } } }`, by service tier. */
function readServiceTiers(experimental: unknown): Record<string, ServiceTierPrice> {
  const modes = isObject(experimental) && isObject(experimental.modes) ? Object.values(experimental.modes) : []
  return Object.fromEntries(
    modes.flatMap((mode) => {
      const { cost, provider } = isObject(mode) ? mode : {}
      const body = isObject(provider) && isObject(provider.body) ? provider.body : {}
      const name = body.service_tier ?? body.speed
      return isObject(cost) && typeof name === 'string' ? [[name.toLowerCase(), readTokenPrices(cost)] as const] : []
    }),
  )
}

const readTokenPrices = (cost: JsonObject): Partial<Record<TokenCost, number>> =>
  Object.fromEntries(
    tokenCosts.flatMap(([name, field]) => {
      const usd = cost[field]
      return typeof usd === 'number' && usd > 0 ? [[name, usd]] : []
    }),
  )

/** The names of prices, here and in the source. */
const tokenCosts = [
  ['input', 'input'],
  ['output', 'output'],
  ['cacheRead', 'cache_read'],
  ['cacheWrite', 'cache_write'],
  ['audioInput', 'input_audio'],
  ['audioOutput', 'output_audio'],
] as const

function subtractMonths(date: string, months: number): string {
  const day = new Date(`${date}T00:00:00Z`)
  day.setUTCMonth(day.getUTCMonth() - months)
  return day.toISOString().slice(0, 10)
}

const kindOrder: readonly Kind[] = ['llm', 'imageToText', 'image', 'tts', 'stt', 'embedding']
const rankKind = (kind: Kind) => kindOrder.indexOf(kind)
const compareStrings = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
