import { fromNanoUsd, toNanoUsd } from '../../lib/usd.ts'
import type { CostSource } from '../../pricing/cost.ts'
import type { GuardEntry, PromptCacheRecord, ServedBy } from '../../request/hook-records.ts'
import type { Integer, IsoTime } from '../../types/plain-types.ts'
import type { ClientFormat, PricedUnit, PriceOrigin } from '../../types.ts'

/** Token counts. `input` includes cache reads and writes, `output` includes reasoning. */
export interface Tokens {
  input: Integer
  output: Integer
  cacheRead: Integer
  cacheWrite: Integer
  reasoning: Integer
  /** The part of `cacheWrite` that stays cached for an hour or longer, if the provider reports it. */
  cacheWriteLong?: Integer
  /** Image and audio tokens, which `input` and `output` include, if the provider reports them. */
  inputImage?: Integer
  outputImage?: Integer
  inputAudio?: Integer
  outputAudio?: Integer
}

/** The optional counts in storage order; earlier releases stored the first four. */
export const OPTIONAL_COUNTS = ['inputImage', 'outputImage', 'inputAudio', 'outputAudio', 'cacheWriteLong'] as const

/** Lists the optional counts in storage order, or returns `undefined` if all are 0. */
export const listOptionalCounts = (tokens: Readonly<Tokens>): number[] | undefined =>
  OPTIONAL_COUNTS.some((name) => tokens[name]) ? OPTIONAL_COUNTS.map((name) => tokens[name] ?? 0) : undefined

/** Adds optional counts in storage order to `sum`. Returns `sum`. */
export function addOptionalCounts(sum: Tokens, counts: readonly number[] | undefined): Tokens {
  for (const [index, name] of OPTIONAL_COUNTS.entries())
    if (counts?.[index]) sum[name] = (sum[name] ?? 0) + counts[index]
  return sum
}

/** Counts of billable units other than tokens. */
export type UsedUnits = Partial<Record<PricedUnit, number>>

/** Usage and cost; unknown fields are absent. */
export interface UsageCost {
  tokens?: Tokens
  units?: UsedUnits
  /** In US dollars, rounded to nano-dollars. Absent if part of the cost is unknown. */
  costUsd?: number
  costSource?: CostSource
}

/** A request's target. */
export interface StoredTarget {
  provider: string
  model: string
  connectionId: string
}

/** An attempt in a request record. */
export interface StoredAttempt extends StoredTarget, UsageCost {
  /** As in the hook's attempt record: `answered`, a failure class, `cancelled`, or `outrun`. */
  outcome: string
  status: Integer
  /** Time from the request's arrival to the attempt's start, in ms. */
  startMs: number
  /** Time to the response, to the first content of a stream, or to the failure, in ms. */
  durationMs: number
  /** For a failed attempt, the provider's message without credentials, up to 200 characters. */
  message?: string
  /** The price that the cost was calculated from. Absent if the provider reported the cost, and in records of earlier releases. */
  price?: PriceOrigin
}

/** A target that wasn't called or a combo entry that was excluded, with the reason. */
export type StoredSkip = (StoredTarget & { skipped: string }) | { entry: string; skipped: string }

/** How a request ended. */
export type StoredEnd = 'complete' | 'aborted' | 'cut' | 'failed' | 'refused'

/**
 * The record of a request to a model endpoint, including rejected ones. It contains no prompts, responses, IP addresses, or credentials. Tokens,
 * units, and costs are totals for all attempts.
 */
export interface StoredRequest extends UsageCost {
  tokens: Tokens
  /** As in the `x-signalbox-request-id` header; IDs sort by `time`. */
  id: string
  /** Arrival time, ISO 8601. */
  time: IsoTime
  /** The ID of the client's API key. Absent without a key. */
  keyId?: string
  /** The key's group at the time of the request. */
  groupId?: string
  /** The account's ref. Absent without an account. */
  account?: string
  /** The ID (`jti` claim) of the token that acted for the account. Absent without a token. */
  tokenId?: string
  /** The account's and key's metadata at the time of the request. For names in both, the key's value is used. */
  metadata?: Readonly<Record<string, string>>
  /** The tags that your app assigned to the identity. */
  tags?: readonly string[]
  /** The end user that the client specified, up to 200 characters. */
  user?: string
  /** The endpoint's path, such as `/v1/chat/completions`. */
  endpoint: string
  /** Absent for endpoints that don't call a model. */
  format?: ClientFormat
  /** The requested model. Absent if the request couldn't be read. */
  model?: string
  /** The target whose response the client received, or otherwise the last target called. Absent if none was called. */
  target?: StoredTarget
  streamed: boolean
  /** The first 20 attempts and all further ones with usage, in order. */
  attempts: readonly StoredAttempt[]
  /** At most 20. */
  skipped?: readonly StoredSkip[]
  /** Time to the response, or to the first content of its stream. */
  firstByteMs?: number
  durationMs: number
  status: Integer
  end: StoredEnd
  /** The gateway's error code, in UPPER_SNAKE. */
  error?: string
  /** Why the request was rejected or failed, up to 300 characters. */
  reason?: string
  warnings?: readonly string[]
  /** The amount that a feature's route charged, in USD; part of `costUsd`. Absent if it charged nothing. */
  chargedUsd?: number
  /** Each guard's actions, by stage. Absent if no guard ran. */
  guards?: readonly GuardEntry[]
  /** The cost of the models that guards called, in US dollars; not included in `costUsd`. Absent if none was called or if the cost is unknown. */
  guardUsd?: number
  /** The effect of the provider's prompt cache on the last attempt. Absent without `promptCaching: 'auto'`. */
  promptCache?: PromptCacheRecord
  /** Who produced the response. Absent in the usual cases: a provider if one was called, otherwise the gateway. */
  servedBy?: ServedBy
}

/** Returns who produced the response if the record doesn't say. */
export const getDefaultServedBy = (attempts: readonly StoredAttempt[]): ServedBy =>
  attempts.length > 0 ? 'provider' : 'gateway'

/** Sums the usage and cost of all attempts. If none has any usage, the cost is 0. */
export function sumUsageCosts(attempts: readonly UsageCost[]): UsageCost & { tokens: Tokens } {
  let sum: UsageCost | undefined
  for (const attempt of attempts) {
    if (attempt.tokens === undefined && attempt.units === undefined) continue
    sum = sum ? addUsageCost(sum, attempt) : attempt
  }
  if (!sum) return { tokens: { ...NO_TOKENS }, costUsd: 0 }
  const { tokens, units, costUsd, costSource } = sum
  const totalCost: UsageCost & { tokens: Tokens } = { tokens: tokens ?? { ...NO_TOKENS } }
  if (units) totalCost.units = units
  if (costUsd !== undefined) totalCost.costUsd = costUsd
  if (costSource) totalCost.costSource = costSource
  return totalCost
}

function addUsageCost(a: UsageCost, b: UsageCost): UsageCost {
  const sum: UsageCost = {}
  if (a.tokens || b.tokens) sum.tokens = addTokens({ ...NO_TOKENS, ...a.tokens }, b.tokens)
  if (a.units || b.units) sum.units = addUnits({ ...a.units }, b.units)
  if (a.costUsd !== undefined && b.costUsd !== undefined)
    sum.costUsd = fromNanoUsd(toNanoUsd(a.costUsd) + toNanoUsd(b.costUsd))
  const source = SOURCES_BY_UNCERTAINTY.findLast(
    (candidate) => candidate === a.costSource || candidate === b.costSource,
  )
  if (source) sum.costSource = source
  return sum
}

export const NO_TOKENS: Readonly<Tokens> = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

/** Adds `addition` to `sum` and returns `sum`. */
export function addTokens(sum: Tokens, addition: Readonly<Tokens> = NO_TOKENS): Tokens {
  sum.input += addition.input
  sum.output += addition.output
  sum.cacheRead += addition.cacheRead
  sum.cacheWrite += addition.cacheWrite
  sum.reasoning += addition.reasoning
  return addOptionalCounts(sum, listOptionalCounts(addition))
}

/** Adds `addition` to `sum` and returns `sum`. */
export function addUnits(sum: UsedUnits, addition: Readonly<UsedUnits> = {}): UsedUnits {
  for (const [unit, count] of Object.entries(addition) as Array<[PricedUnit, number]>) // `UsedUnits` has no other keys
    sum[unit] = (sum[unit] ?? 0) + count
  return sum
}

/** Cost sources, most certain first. */
export const SOURCES_BY_UNCERTAINTY: readonly CostSource[] = ['reported', 'counted', 'estimated']

/** Formats epoch ms in ISO 8601. */
export function formatIsoTime(time: number): string {
  if (lastFormatted.time !== time) lastFormatted = { time, text: new Date(time).toISOString() }
  return lastFormatted.text
}

let lastFormatted = { time: Number.NaN, text: '' }
