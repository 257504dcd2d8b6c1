import type { RequestRecord } from '../../../src/request/hook-records.ts'

/**
 * What counts of a call: what it has reported, or of a request that nobody waited for to its end what its record says, once. What a provider makes
 * for nobody any more has not come to the gateway.
 */
export function countedOf(
  { tokens, usd }: { tokens: number; usd: number },
  record: RequestRecord | undefined,
  { isFirst }: { isFirst: boolean },
): { tokens: number; usd: number } {
  const isLeft =
    record?.end === 'aborted' ||
    record?.attempts.some(
      ({ outcome, costSource }) => outcome === 'outrun' || outcome === 'cancelled' || costSource === 'estimated',
    )
  if (!record || !isLeft) return { tokens, usd }
  if (!isFirst) return { tokens: 0, usd: 0 }
  const { inputTokens = 0, outputTokens = 0 } = record.usage ?? {}
  return { tokens: inputTokens + outputTokens, usd: record.costUsd ?? 0 }
}
