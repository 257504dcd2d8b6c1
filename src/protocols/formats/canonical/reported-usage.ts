import type { TokenUsage } from './canonical-answer.ts'

/** Returns whether a usage report is empty. Some servers report zeros in every response. */
export const isBlank = ({ inputTokens, outputTokens, units = {}, costUsd = 0, iterations }: TokenUsage): boolean =>
  !iterations && inputTokens + outputTokens + costUsd === 0 && Object.values(units).every((count) => count === 0)

const INPUT_COUNTS = [
  'inputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
  'inputImageTokens',
  'inputAudioTokens',
] as const
const OUTPUT_COUNTS = ['outputTokens', 'reasoningTokens', 'outputImageTokens', 'outputAudioTokens'] as const

/**
 * Updates the usage of a stream with a new report. Reports are cumulative, so the later one applies, but zeros change nothing: an input,
 * output, or cost of 0 keeps the earlier value.
 */
export function updateUsage(earlier: TokenUsage | undefined, later: TokenUsage | undefined): TokenUsage | undefined {
  if (!earlier || !later) return later ?? earlier
  const hasCounts = !isBlank(later)
  const usage = hasCounts ? { ...later } : { ...earlier }
  if (earlier.isPremium || later.isPremium) usage.isPremium = true
  if (!hasCounts) return usage
  const keep = (names: ReadonlyArray<(typeof INPUT_COUNTS | typeof OUTPUT_COUNTS)[number]>) => {
    for (const name of names) if (earlier[name] !== undefined) usage[name] = earlier[name]
  }
  if (later.inputTokens === 0) keep(INPUT_COUNTS)
  if (later.outputTokens === 0) keep(OUTPUT_COUNTS)
  if (later.costUsd === 0 && earlier.costUsd) usage.costUsd = earlier.costUsd
  return usage
}
