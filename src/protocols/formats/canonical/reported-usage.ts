import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { TokenUsage } from './canonical-response.ts'
import { readTokenCount } from './canonical-values.ts'

/** Returns whether a usage report is empty. Some servers report zeros in every response. */
export const isBlankUsage = ({ inputTokens, outputTokens, units = {}, costUsd = 0, iterations }: TokenUsage): boolean =>
  !iterations && inputTokens + outputTokens + costUsd === 0 && Object.values(units).every((count) => count === 0)

/** Reads how many of the tokens that OpenAI wrote to its cache stay there for 12 hours. `details` contains the input token details. */
export function readLongCacheWrites(
  { cache_write_tokens_details: details }: JsonObject,
  cacheWriteTokens: number,
): Pick<TokenUsage, 'cacheWriteLongTokens'> {
  const longWrites = isObject(details) ? Math.min(readTokenCount(details.ttl_12h_tokens), cacheWriteTokens) : 0
  return longWrites > 0 ? { cacheWriteLongTokens: longWrites } : {}
}

const INPUT_COUNTS = [
  'inputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWriteLongTokens',
  'inputImageTokens',
  'inputAudioTokens',
] as const
const OUTPUT_COUNTS = ['outputTokens', 'reasoningTokens', 'outputImageTokens', 'outputAudioTokens'] as const

/**
 * Updates a stream's usage with a new report. Reports are cumulative, so the later one wins, except that an input, output, or cost of 0 keeps the
 * earlier value.
 */
export function updateUsage(earlier: TokenUsage | undefined, later: TokenUsage | undefined): TokenUsage | undefined {
  if (!earlier || !later) return later ?? earlier
  const hasCounts = !isBlankUsage(later)
  const usage = hasCounts ? { ...later } : { ...earlier }
  const serviceTier = later.serviceTier ?? earlier.serviceTier
  if (serviceTier !== undefined) usage.serviceTier = serviceTier
  if (!hasCounts) return usage
  const restoreEarlier = (names: ReadonlyArray<(typeof INPUT_COUNTS | typeof OUTPUT_COUNTS)[number]>) => {
    for (const name of names) if (earlier[name] !== undefined) usage[name] = earlier[name]
  }
  if (later.inputTokens === 0) restoreEarlier(INPUT_COUNTS)
  if (later.outputTokens === 0) restoreEarlier(OUTPUT_COUNTS)
  if (later.costUsd === 0 && earlier.costUsd) usage.costUsd = earlier.costUsd
  return usage
}
