import type { Iteration } from '../protocols/formats/canonical/canonical-response.ts'
import { isBlankUsage } from '../protocols/formats/canonical/reported-usage.ts'
import type { TokenUsage } from '../protocols/formats/format.ts'
import {
  findAssistingModel,
  getCatalogModel,
  getPrice,
  type ModelReference,
} from '../protocols/providers/catalog-model.ts'
import type { Catalog, Price, PricedUnit, PriceTier, ServiceTierPrice } from '../types.ts'

/**
 * Where usage and cost come from. `reported`: the provider reported the cost. `counted`: reported tokens times the price. `estimated`: some
 * tokens weren't reported and were counted from what was sent and streamed, or a higher-priced tier was billed at the regular price.
 */
export type CostSource = 'reported' | 'counted' | 'estimated'

/** The tokens, units, and cost of a call, an attempt, or a request. */
export interface Spending {
  usage: TokenUsage
  costSource: CostSource
  /** In US dollars. Absent if a required price is unknown. */
  costUsd?: number
}

interface SpendingContext {
  catalog: Catalog
  target: ModelReference
  isEstimated?: boolean
  isPremium?: boolean
}

/**
 * Calculates the usage and cost of a call to the target. `isPremium` indicates whether the request selects a tier that costs more (`findSurcharge`).
 */
export function calculateSpending(reported: TokenUsage, context: SpendingContext): Spending {
  const { iterations = [], ...counts } = reported
  if (iterations.length > 0) return calculateIterationSpending(iterations, counts, context)
  const { catalog, target, isEstimated = false, isPremium = false } = context
  const usage = assignToModelMedium(counts, context)
  const isFreeOfCharge = usage.costUsd === 0 && usage.inputTokens + usage.outputTokens === 0 && !isBlankUsage(usage)
  if (usage.costUsd !== undefined && !isEstimated && !isFreeOfCharge)
    return { usage, costSource: 'reported', costUsd: usage.costUsd }
  const price = getPrice(catalog, target)
  const counted = calculateCost(price, usage)
  const estimatedMedia = counted === undefined ? estimateMediaTokens(usage) : undefined
  const costUsd = estimatedMedia
    ? calculateCost(price, estimatedMedia)
    : (counted ?? (isEstimated ? calculateEitherCost(price, usage) : undefined))
  const { serviceTier } = usage
  const tierPrice = price && getServicePrice(price, serviceTier)
  const hasSurcharge = isPremium || (serviceTier !== undefined && serviceTier !== 'flex')
  const isEstimate = isEstimated || usage.isEstimated || (hasSurcharge && !tierPrice)
  const costSource = isEstimate || estimatedMedia || isFreeOfCharge ? 'estimated' : 'counted'
  return costUsd === undefined ? { usage, costSource } : { usage, costSource, costUsd }
}

/** For chats with an image or speech model, counts all output except reasoning as that medium, unless the provider reports it separately. */
function assignToModelMedium(usage: TokenUsage, { catalog, target }: SpendingContext): TokenUsage {
  const { outputTokens, reasoningTokens = 0, outputImageTokens, outputAudioTokens } = usage
  if (outputTokens === 0 || outputImageTokens !== undefined || outputAudioTokens !== undefined) return usage
  const type = getCatalogModel(catalog, target)?.type
  const mediaTokens = Math.max(0, outputTokens - reasoningTokens)
  if (type === 'image') return { ...usage, outputImageTokens: mediaTokens }
  return type === 'tts' ? { ...usage, outputAudioTokens: mediaTokens } : usage
}

/** Totals the model runs, each at its own model's price or, if that is unknown, at the target's price. */
function calculateIterationSpending(
  iterations: readonly Iteration[],
  usage: TokenUsage,
  context: SpendingContext,
): Spending {
  const total = addIterations({ ...usage, iterations })
  if (usage.costUsd !== undefined && !context.isEstimated) return calculateSpending(total, context)
  const { catalog, target, isEstimated = false, isPremium = false } = context
  const costs = [...iterations, ...findMissingTokens(iterations, usage)].map(({ model, costUsd: _, ...counts }) => {
    const other = model === undefined ? target : findAssistingModel(catalog, target, model)
    const { serviceTier = counts.serviceTier } = usage
    return calculateSpending(serviceTier === undefined ? counts : { ...counts, serviceTier }, {
      catalog,
      target: other ?? target,
      isEstimated: isEstimated || !other,
      isPremium,
    })
  })
  return { ...costs.reduce((a, b) => addSpending(a, b) ?? a), usage: total }
}

/** Adds all model runs to the top-level counts. */
export function addIterations({ iterations = [], ...usage }: TokenUsage): TokenUsage {
  if (iterations.length === 0) return usage
  const { reasoningTokens = 0, costUsd, serviceTier } = usage
  const runs = [...iterations, ...findMissingTokens(iterations, usage)]
  const { costUsd: _, ...sum } = runs.reduce<TokenUsage>(addUsages, { inputTokens: 0, outputTokens: 0 })
  return {
    ...sum,
    reasoningTokens: Math.max(reasoningTokens, sum.reasoningTokens ?? 0),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(costUsd !== undefined && { costUsd }),
  }
}

/** Returns the tokens in the top-level counts that an incomplete list of runs doesn't include. */
function findMissingTokens(iterations: readonly Iteration[], { inputTokens, outputTokens }: TokenUsage): Iteration[] {
  const missing = {
    inputTokens: iterations.reduce((rest, iteration) => Math.max(0, rest - iteration.inputTokens), inputTokens),
    outputTokens: iterations.reduce((rest, iteration) => Math.max(0, rest - iteration.outputTokens), outputTokens),
  }
  return isBlankUsage(missing) ? [] : [missing]
}

/** Calculates the cost of an estimate that has both tokens and units, because the model may only have prices for one of the two. */
const calculateEitherCost = (price: Price | undefined, { units, ...tokens }: TokenUsage): number | undefined =>
  calculateCost(price, tokens) ?? (units && calculateCost(price, { inputTokens: 0, outputTokens: 0, units }))

/** Adds up two `Spending` values. The total takes the less certain `costSource`, and has a cost only if both costs are known. */
export function addSpending(a: Spending | undefined, b: Spending | undefined): Spending | undefined {
  if (!a || !b) return a ?? b
  const costSource =
    sourcesByUncertainty.find((source) => a.costSource === source || b.costSource === source) ?? 'counted'
  const usage = addUsages(a.usage, b.usage)
  if (a.costUsd === undefined || b.costUsd === undefined) return { usage, costSource }
  return { usage, costSource, costUsd: a.costUsd + b.costUsd }
}

const sourcesByUncertainty: readonly CostSource[] = ['estimated', 'counted', 'reported']

/** Adds the usage of two calls. The sum has a reported cost only if both have one. */
export function addUsages(a: TokenUsage, b: TokenUsage): TokenUsage {
  const sum: TokenUsage = {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  }
  for (const name of optionalCounts) {
    if (a[name] !== undefined || b[name] !== undefined) sum[name] = (a[name] ?? 0) + (b[name] ?? 0)
  }
  const units = a.units && b.units ? addUnits(a.units, b.units) : (a.units ?? b.units)
  if (units) sum.units = units
  if (a.isEstimated || b.isEstimated) sum.isEstimated = true
  const serviceTier = a.serviceTier ?? b.serviceTier
  if (serviceTier !== undefined) sum.serviceTier = serviceTier
  const imageNames = a.imageNames ?? b.imageNames
  if (imageNames) sum.imageNames = imageNames
  if (a.costUsd !== undefined && b.costUsd !== undefined) sum.costUsd = a.costUsd + b.costUsd
  return sum
}

const optionalCounts = [
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWriteLongTokens',
  'reasoningTokens',
  'inputImageTokens',
  'outputImageTokens',
  'inputAudioTokens',
  'outputAudioTokens',
] as const

type Units = NonNullable<TokenUsage['units']>

function addUnits(a: Units, b: Units): Units {
  const sum = { ...a }
  for (const [unit, count] of listUnits(b)) sum[unit] = (sum[unit] ?? 0) + count
  return sum
}

const listUnits = (units: Units) => Object.entries(units) as Array<[PricedUnit, number]> // `Units` has no other keys

/**
 * Calculates the cost in US dollars; `undefined`, never 0, if a required price is unknown. Without separate prices, cached tokens cost as much as
 * other input, and tokens cached for an hour or longer cost twice as much, as Anthropic charges.
 */
export function calculateCost(basePrice: Price | undefined, usage: TokenUsage): number | undefined {
  if (!basePrice) return undefined
  const price = selectTier(basePrice, usage)
  const {
    inputTokens,
    outputTokens,
    cacheReadTokens = 0,
    cacheWriteTokens = 0,
    cacheWriteLongTokens = 0,
    units,
  } = usage
  const { input, output, cacheRead = input, cacheWrite = input } = price
  const { audioInput = input, audioOutput = output, imageInput = input, imageOutput = output } = price
  const { inputAudioTokens, outputAudioTokens, inputImageTokens, outputImageTokens } = usage
  const uncachedTokens = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)
  const tokenCost = addCosts([
    ...splitByMedium(uncachedTokens, [inputAudioTokens, audioInput], [inputImageTokens, imageInput], input),
    [cacheReadTokens, cacheRead],
    [Math.max(0, cacheWriteTokens - cacheWriteLongTokens), cacheWrite],
    [cacheWriteLongTokens, getLongCachePrice(price)],
    ...splitByMedium(outputTokens, [outputAudioTokens, audioOutput], [outputImageTokens, imageOutput], output),
  ])
  const unitCost = calculateUnitCost(price, units, usage.imageNames)
  const hasTokens = inputTokens + outputTokens > 0
  const isAudio = units?.character !== undefined || units?.second !== undefined
  if (isAudio && hasTokens && tokenCost !== undefined) return tokenCost / 1_000_000
  if (isAudio || (units?.image !== undefined && (tokenCost === undefined || unitCost === undefined))) {
    // Images and audio are billed by token if token prices are known, otherwise by unit.
    return hasTokens && tokenCost !== undefined ? tokenCost / 1_000_000 : unitCost
  }
  return tokenCost === undefined || unitCost === undefined ? undefined : tokenCost / 1_000_000 + unitCost
}

/** Returns the price for a request in this service tier with this many input tokens: the price of the highest tier that the tokens exceed. */
export function selectTier(
  regular: Price,
  { inputTokens, serviceTier }: Pick<TokenUsage, 'inputTokens' | 'serviceTier'>,
): Price {
  const service = getServicePrice(regular, serviceTier)
  const price = service ? { ...regular, tiers: [], ...service } : regular
  let highest: PriceTier | undefined
  for (const tier of price.tiers ?? [])
    if (inputTokens > tier.above && !(highest && highest.above > tier.above)) highest = tier
  return highest ? { ...price, ...highest } : price
}

/** Returns a service tier's prices, or `undefined` if they are unknown. */
export const getServicePrice = ({ serviceTiers = {} }: Price, name = ''): ServiceTierPrice | undefined =>
  Object.hasOwn(serviceTiers, name) ? serviceTiers[name] : undefined

type PricedCount = readonly [count: number | undefined, price: number | undefined]

/** Splits tokens into audio, images, and the rest, which is text. Cached tokens count as text and aren't part of `tokens`. */
function splitByMedium(
  tokens: number,
  [audio = 0, audioPrice]: PricedCount,
  [image = 0, imagePrice]: PricedCount,
  textPrice?: number,
) {
  const audioTokens = Math.min(audio, tokens)
  const imageTokens = Math.min(image, tokens - audioTokens)
  return [
    [audioTokens, audioPrice],
    [imageTokens, imagePrice],
    [tokens - audioTokens - imageTokens, textPrice],
  ] as const
}

/**
 * Estimates image and audio tokens if a provider charges by token but reports none. Assumes large images. Speech has 20 tokens and 15 characters per
 * second. Audio input has 10 tokens per second, and its transcript 4.
 */
function estimateMediaTokens({ inputTokens, outputTokens, units = {} }: TokenUsage): TokenUsage | undefined {
  const { image = 0, character = 0, second = 0 } = units
  if (inputTokens + outputTokens > 0 || image + character + second === 0) return undefined
  return {
    inputTokens: 0.3 * character + 10 * second,
    inputAudioTokens: 10 * second,
    outputTokens: 4_200 * image + 1.4 * character + 4 * second,
    outputImageTokens: 4_200 * image,
    outputAudioTokens: 1.4 * character,
  }
}

/** Calculates the cost of all units other than tokens. */
export const calculateUnitCost = (
  price: Price,
  units: Units = {},
  imageNames?: TokenUsage['imageNames'],
): number | undefined =>
  addCosts(listUnits(units).map(([unit, count]) => [count, getUnitPrice(unit, price, imageNames)]))

function getUnitPrice(unit: PricedUnit, price: Price, imageNames: readonly string[] = []): number | undefined {
  const { images = {}, minute } = price
  if (unit === 'second') return price.second ?? (minute && minute / 60)
  const name = unit === 'image' && imageNames.find((imageName) => Object.hasOwn(images, imageName))
  return name ? images[name] : (price[unit] ?? (unit === 'image' ? getHighestImagePrice(images) : undefined))
}

/** Returns the price of the most expensive image whose name passes `isPossible`, or `undefined` if there is none. */
export const getHighestImagePrice = (
  images: NonNullable<Price['images']>,
  isPossible = (_: string) => true,
): number | undefined =>
  Object.keys(images)
    .flatMap((name) => (isPossible(name) ? (images[name] ?? []) : []))
    .sort((a, b) => b - a)[0]

/** Returns the highest price per million input tokens. Some providers charge more for tokens written to a cache. */
export const getHighestInputPrice = (price: Price): number | undefined =>
  price.input === undefined ? undefined : Math.max(price.input, price.cacheWrite ?? 0, getLongCachePrice(price) ?? 0)

const getLongCachePrice = ({ input, cacheWriteLong = input && input * 2 }: Price): number | undefined => cacheWriteLong

function addCosts(counts: ReadonlyArray<readonly [count: number, price: number | undefined]>): number | undefined {
  let sum = 0
  for (const [count, price] of counts) {
    if (count === 0) continue
    if (price === undefined) return undefined
    sum += count * price
  }
  return sum
}
