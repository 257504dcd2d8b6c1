import type { RequestRecord } from '../../../src/request/hook-records.ts'

/**
 * Returns the usage that is charged for a call, normally what it reported. If the client left before the request finished, the record's usage counts
 * instead, once, because the gateway never received the rest of the output.
 */
export function getCounted(
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
