import type { TokenUsage } from '../formats/format.ts'
import type { JsonObject } from '../lib/json.ts'
import { type ModelAt, priceOf } from '../providers/catalog-model.ts'
import type { Catalog, Price, PricedUnit } from '../types.ts'

/**
 * Where usage and cost come from. `reported`: the provider has reported the cost itself. `counted`: the tokens that it has reported, times the
 * price. `estimated`: it has not reported all tokens, and what was sent and streamed was counted in their place; or the plain price was taken for
 * what costs more, such as a priority tier.
 */
export type CostSource = 'reported' | 'counted' | 'estimated'

/** The tokens, units and cost of a call, an attempt or a request. */
export interface Spending {
  usage: TokenUsage
  costSource: CostSource
  /** In US dollars; absent when the price of something that was used is not known. */
  costUsd?: number
}

/** What a call to the target has used, by its usage. `isDearer`: the request has a `dearerMember`, whose price is not known. */
export function spendingOf(
  usage: TokenUsage,
  {
    catalog,
    target,
    isEstimated = false,
    isDearer = false,
  }: { catalog: Catalog; target: ModelAt; isEstimated?: boolean; isDearer?: boolean },
): Spending {
  if (usage.costUsd !== undefined && !isEstimated) return { usage, costSource: 'reported', costUsd: usage.costUsd }
  const price = priceOf(catalog, target)
  const counted = costOf(price, usage)
  const likely = counted === undefined ? unreported(usage) : undefined
  const costUsd = likely ? costOf(price, likely) : counted
  const costSource = isEstimated || isDearer || usage.isEstimated || likely ? 'estimated' : 'counted'
  return costUsd === undefined ? { usage, costSource } : { usage, costSource, costUsd }
}

/** The member by which a request asks for a faster answer, or for one from a certain region, at a price that the catalog does not have. */
export const dearerMember = (body: JsonObject): string | undefined =>
  Object.keys(DEARER).find((name) => DEARER[name]?.includes(body[name]))

/** OpenAI's tiers, and Anthropic's speed and place. */
const DEARER: Readonly<Record<string, readonly unknown[]>> = {
  service_tier: ['priority', 'fast'],
  speed: ['fast'],
  inference_geo: ['us'],
}

/** Two spendings together; the sum is as uncertain as the less certain of them, and has a cost if both have one. */
export function sumOfSpendings(one: Spending | undefined, other: Spending | undefined): Spending | undefined {
  if (!one || !other) return one ?? other
  const costSource = sources.find((source) => one.costSource === source || other.costSource === source) ?? 'counted'
  const usage = sumOfUsages(one.usage, other.usage)
  if (one.costUsd === undefined || other.costUsd === undefined) return { usage, costSource }
  return { usage, costSource, costUsd: one.costUsd + other.costUsd }
}

/** The less certain ones first. */
const sources: readonly CostSource[] = ['estimated', 'counted', 'reported']

/** The usage of two calls together; the cost that providers have reported is only kept where both have. */
export function sumOfUsages(one: TokenUsage, other: TokenUsage): TokenUsage {
  const sum: TokenUsage = {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  }
  for (const name of optionalCounts) {
    if (one[name] !== undefined || other[name] !== undefined) sum[name] = (one[name] ?? 0) + (other[name] ?? 0)
  }
  const units = one.units && other.units ? sumOfUnits(one.units, other.units) : (one.units ?? other.units)
  if (units) sum.units = units
  if (one.isEstimated || other.isEstimated) sum.isEstimated = true
  const imageNames = one.imageNames ?? other.imageNames
  if (imageNames) sum.imageNames = imageNames
  if (one.costUsd !== undefined && other.costUsd !== undefined) sum.costUsd = one.costUsd + other.costUsd
  return sum
}

const optionalCounts = [
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
  'reasoningTokens',
  'inputImageTokens',
  'outputImageTokens',
  'inputAudioTokens',
  'outputAudioTokens',
] as const

type Units = NonNullable<TokenUsage['units']>

function sumOfUnits(one: Units, other: Units): Units {
  const sum = { ...one }
  for (const [unit, count] of unitsIn(other)) sum[unit] = (sum[unit] ?? 0) + count
  return sum
}

const unitsIn = (units: Units) => Object.entries(units) as Array<[PricedUnit, number]> // an object has no other keys

/**
 * The cost in US dollars by prices; `undefined`, never 0, when the price of something that was used is not known. Without prices of their
 * own, cached tokens cost as much as other input, and those that are cached for an hour twice as much, as at Anthropic.
 */
export function costOf(price: Price | undefined, usage: TokenUsage): number | undefined {
  if (!price) return undefined
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, cacheWrite1hTokens = 0, units } = usage
  const { input, output, cacheRead = input, cacheWrite = input } = price
  const { audioInput = input, audioOutput = output, imageInput = input, imageOutput = output } = price
  const { inputAudioTokens, outputAudioTokens, inputImageTokens, outputImageTokens } = usage
  const plain = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)
  const ofTokens = sumOfCosts([
    ...byMedia(plain, [inputAudioTokens, audioInput], [inputImageTokens, imageInput], input),
    [cacheReadTokens, cacheRead],
    [Math.max(0, cacheWriteTokens - cacheWrite1hTokens), cacheWrite],
    [cacheWrite1hTokens, hourOf(price)],
    ...byMedia(outputTokens, [outputAudioTokens, audioOutput], [outputImageTokens, imageOutput], output),
  ])
  const ofUnits = costOfUnits(price, units, usage.imageNames)
  const hasTokens = inputTokens + outputTokens > 0
  const isSound = units?.character !== undefined || units?.second !== undefined
  if (isSound && hasTokens && ofTokens !== undefined) return ofTokens / 1_000_000
  if (isSound || (units?.image !== undefined && (ofTokens === undefined || ofUnits === undefined))) {
    // Images and sound are charged for by tokens or each, whichever the model has a price of.
    return hasTokens && ofTokens !== undefined ? ofTokens / 1_000_000 : ofUnits
  }
  return ofTokens === undefined || ofUnits === undefined ? undefined : ofTokens / 1_000_000 + ofUnits
}

type PricedCount = readonly [count: number | undefined, price: number | undefined]

/** So many tokens: first those of sound, then those of images, the rest are text. Cached ones are not among them: they are taken for text. */
function byMedia(
  tokens: number,
  [audio = 0, ofAudio]: PricedCount,
  [image = 0, ofImages]: PricedCount,
  ofText?: number,
) {
  const heard = Math.min(audio, tokens)
  const seen = Math.min(image, tokens - heard)
  return [
    [heard, ofAudio],
    [seen, ofImages],
    [tokens - heard - seen, ofText],
  ] as const
}

/**
 * About the tokens of images and sound whose provider charges by tokens and reports none. An image is taken for a large one. Speech has 20 tokens
 * a second, in which 15 characters are spoken; a second of sound that is heard has 10 tokens, and 4 of text.
 */
function unreported({ inputTokens, outputTokens, units = {} }: TokenUsage): TokenUsage | undefined {
  const { image = 0, character = 0, second = 0 } = units
  if (inputTokens + outputTokens > 0 || image + character + second === 0) return undefined
  return { inputTokens: 0.3 * character + 10 * second, outputTokens: 4_200 * image + 1.4 * character + 4 * second }
}

/** The cost of what is used besides tokens. */
export const costOfUnits = (
  price: Price,
  units: Units = {},
  imageNames?: TokenUsage['imageNames'],
): number | undefined => sumOfCosts(unitsIn(units).map(([unit, count]) => [count, ofUnit(unit, price, imageNames)]))

function ofUnit(unit: PricedUnit, price: Price, imageNames: readonly string[] = []): number | undefined {
  const { images = {}, minute } = price
  if (unit === 'second') return price.second ?? (minute && minute / 60)
  const name = unit === 'image' && imageNames.find((one) => Object.hasOwn(images, one))
  return name ? images[name] : (price[unit] ?? (unit === 'image' ? dearestOf(images) : undefined))
}

/** The dearest of the images that `canBe` made; `undefined` where there is none. */
export const dearestOf = (images: NonNullable<Price['images']>, canBe = (_: string) => true): number | undefined =>
  Object.keys(images)
    .flatMap((name) => (canBe(name) ? (images[name] ?? []) : []))
    .sort((one, other) => other - one)[0]

/** The price of input that costs the most, by the million: some providers charge more for what they write to a cache. */
export function dearestInput(price: Price, { keepsForAnHour }: { keepsForAnHour: boolean }): number | undefined {
  if (price.input === undefined) return undefined
  return Math.max(price.input, price.cacheWrite ?? 0, keepsForAnHour ? (hourOf(price) ?? 0) : 0)
}

const hourOf = ({ input }: Price): number | undefined => input && input * 2

function sumOfCosts(counts: ReadonlyArray<readonly [count: number, price: number | undefined]>): number | undefined {
  let sum = 0
  for (const [count, price] of counts) {
    if (count === 0) continue
    if (price === undefined) return undefined
    sum += count * price
  }
  return sum
}
