import { nanoOf, usdOf } from '../../lib/usd.ts'
import type { ClientFormat, PricedUnit } from '../../types.ts'
import type { CostSource } from '../cost.ts'

/** Counts of tokens. `input` holds what was read from a cache and written to one, `output` the reasoning. */
export interface Tokens {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  reasoning: number
  /** Those of `input` and `output` that are of images and of sound, where providers tell them apart. */
  inputImage?: number
  outputImage?: number
  inputAudio?: number
  outputAudio?: number
}

/** The counts that may be missing, in the order in which they are written. */
export const MEDIA = ['inputImage', 'outputImage', 'inputAudio', 'outputAudio'] as const

/** These counts as they are written; `undefined` where there are none. */
export const mediaCounts = (tokens: Readonly<Tokens>): number[] | undefined =>
  MEDIA.some((name) => tokens[name]) ? MEDIA.map((name) => tokens[name] ?? 0) : undefined

/** Adds counts as they are written to `sum`. */
export function addMedia(sum: Tokens, counts: readonly number[] | undefined): Tokens {
  for (const [at, name] of MEDIA.entries()) if (counts?.[at]) sum[name] = (sum[name] ?? 0) + counts[at]
  return sum
}

/** What providers charge for besides tokens, by unit. */
export type UsedUnits = Partial<Record<PricedUnit, number>>

/** What was spent; members are absent where nothing is known. */
export interface Spent {
  tokens?: Tokens
  units?: UsedUnits
  /** US dollars, whole nano-dollars; absent too where that of a part is not known. */
  costUsd?: number
  costSource?: CostSource
}

/** The target of a request. */
export interface KeptTarget {
  provider: string
  model: string
  connectionId: string
}

/** One attempt of a kept request. */
export interface KeptAttempt extends KeptTarget, Spent {
  /** As in the record of the attempt: `answered`, a failure class, `cancelled`, `outrun`. */
  outcome: string
  status: number
  /** From the beginning of the request. */
  startMs: number
  /** Until the answer had come, or the first content of a stream, or until it failed. */
  durationMs: number
  /** When it failed: the provider's message without credentials, at most 200 characters. */
  message?: string
}

/** A target that was not called, or an entry of a combo that was left out, with why. */
export type KeptSkip = (KeptTarget & { skipped: string }) | { entry: string; skipped: string }

/** How a request ended. */
export type KeptEnd = 'complete' | 'aborted' | 'cut' | 'failed' | 'refused'

/**
 * What is kept of one request to a model endpoint, a refused one too: no prompt, no answer, no address, no credential. Tokens, units and costs
 * are the sums over its attempts.
 */
export interface KeptRequest extends Spent {
  tokens: Tokens
  /** As in the header `x-signalbox-request-id`; ids are in the order of `time`. */
  id: string
  /** When the request came, ISO 8601. */
  time: string
  /** The id of the client's key; absent when there was none. */
  keyId?: string
  /** The group of the key then. */
  groupId?: string
  /** The metadata of the key then. */
  metadata?: Readonly<Record<string, string>>
  /** The end user that the client names, at most 200 characters. */
  user?: string
  /** The path of the endpoint, such as `/v1/chat/completions`. */
  endpoint: string
  format: ClientFormat
  /** The name that the client asked for; absent when the request could not be read. */
  model?: string
  /** The target whose answer the client got, otherwise the target that was called last; absent when no target was called. */
  target?: KeptTarget
  streamed: boolean
  /** In order: the first 20, and all that have used something. */
  attempts: readonly KeptAttempt[]
  /** At most 20. */
  skipped?: readonly KeptSkip[]
  /** Until the answer had come, or the first content of its stream. */
  firstByteMs?: number
  durationMs: number
  status: number
  end: KeptEnd
  /** The code of the gateway's error, in capitals. */
  error?: string
  /** Why it was refused or failed, at most 300 characters. */
  reason?: string
  warnings?: readonly string[]
}

/** The sum of what all attempts have spent. Without attempts, or if none has used anything, the cost is 0. */
export function spentBy(attempts: readonly Spent[]): Spent & { tokens: Tokens } {
  let sum: Spent | undefined
  for (const attempt of attempts) {
    if (attempt.tokens === undefined && attempt.units === undefined) continue
    sum = sum ? sumOfSpent(sum, attempt) : attempt
  }
  if (!sum) return { tokens: { ...NO_TOKENS }, costUsd: 0 }
  const { tokens, units, costUsd, costSource } = sum
  const spent: Spent & { tokens: Tokens } = { tokens: tokens ?? { ...NO_TOKENS } }
  if (units) spent.units = units
  if (costUsd !== undefined) spent.costUsd = costUsd
  if (costSource) spent.costSource = costSource
  return spent
}

function sumOfSpent(one: Spent, other: Spent): Spent {
  const sum: Spent = {}
  if (one.tokens || other.tokens) sum.tokens = addTokens({ ...NO_TOKENS, ...one.tokens }, other.tokens)
  if (one.units || other.units) sum.units = addUnits({ ...one.units }, other.units)
  if (one.costUsd !== undefined && other.costUsd !== undefined)
    sum.costUsd = usdOf(nanoOf(one.costUsd) + nanoOf(other.costUsd))
  const source = SOURCES.findLast((known) => known === one.costSource || known === other.costSource)
  if (source) sum.costSource = source
  return sum
}

export const NO_TOKENS: Readonly<Tokens> = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

/** Adds to `sum`, and returns it. */
export function addTokens(sum: Tokens, more: Readonly<Tokens> = NO_TOKENS): Tokens {
  sum.input += more.input
  sum.output += more.output
  sum.cacheRead += more.cacheRead
  sum.cacheWrite += more.cacheWrite
  sum.reasoning += more.reasoning
  return addMedia(sum, mediaCounts(more))
}

/** Adds to `sum`, and returns it. */
export function addUnits(sum: UsedUnits, more: Readonly<UsedUnits> = {}): UsedUnits {
  for (const [unit, count] of Object.entries(more) as Array<[PricedUnit, number]>) // an object has no other keys
    sum[unit] = (sum[unit] ?? 0) + count
  return sum
}

/** The least certain one last. */
export const SOURCES: readonly CostSource[] = ['reported', 'counted', 'estimated']

const TIME_DIGITS = 12 // of 48 bits

/** The id of a request that came at `time` (epoch ms): a UUID of version 7, so that ids are in the order of times. `random`: a UUID of version 4. */
export function requestIdAt(time: number, random: string): string {
  const digits = Math.max(0, Math.trunc(time)).toString(16).padStart(TIME_DIGITS, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7${random.slice(15)}`
}

/** When the request with this id came, epoch ms. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** The least text that is greater than all ids of requests that came at `time` or before. */
export const idAfter = (time: number): string => requestIdAt(time + 1, '').slice(0, 13)

/** Is it the id of a request, or a text that `idAfter` gives? */
export const isIdOrAfter = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?$/.test(text)
