import { formatScalar, isObject } from '../../../lib/json.ts'
import type { Finish, FinishReason, TokenUsage } from '../canonical/canonical-response.ts'
import { readTokenCount } from '../canonical/canonical-values.ts'
import type { EmbeddedError } from '../format.ts'

/** Maps `stopReason` to finish reasons. Any other value is treated as a normal stop. */
const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map<unknown, FinishReason>([
  ['end_turn', 'stop'],
  ['tool_use', 'tool-calls'],
  ['max_tokens', 'length'],
  ['stop_sequence', 'stop-sequence'],
  ['guardrail_intervened', 'content-filter'],
  ['content_filtered', 'content-filter'],
  ['refusal', 'content-filter'],
  ['model_context_window_exceeded', 'context-window'],
  ['pause_turn', 'pause'],
  ['malformed_model_output', 'malformed-call'],
  ['malformed_tool_use', 'malformed-call'],
])

/** Parses how a response ended, from the complete response or from `messageStop`. The matching stop sequence is in the model-specific fields. */
export function parseFinish(stopReason: unknown, modelFields: unknown): Finish {
  const finish: Finish = { reason: finishReasons.get(stopReason) ?? 'stop', raw: formatScalar(stopReason) }
  const stopSequence = isObject(modelFields) ? modelFields.stop_sequence : undefined
  if (typeof stopSequence === 'string') finish.stopSequence = stopSequence
  return finish
}

/** Returns the error for an empty response if its stop reason is a malformed call, because a retry may succeed. */
export const toMalformedError = (stopReason: unknown): EmbeddedError | undefined =>
  finishReasons.get(stopReason) === 'malformed-call'
    ? { class: 'content', status: 502, message: `The model's response is malformed: ${stopReason}.` }
    : undefined

/** Parses `usage`. Its input counts are separate, but the canonical input count includes cached tokens. */
export function readConverseUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const cacheReadTokens = readTokenCount(usage.cacheReadInputTokens)
  const cacheWriteTokens = readTokenCount(usage.cacheWriteInputTokens)
  const details: unknown[] = Array.isArray(usage.cacheDetails) ? usage.cacheDetails : []
  const longWrites = details.map((detail) =>
    isObject(detail) && detail.ttl === '1h' ? readTokenCount(detail.inputTokens) : 0,
  )
  const cacheWriteLongTokens = Math.min(
    longWrites.reduce((sum, count) => sum + count, 0),
    cacheWriteTokens,
  )
  return {
    inputTokens: readTokenCount(usage.inputTokens) + cacheReadTokens + cacheWriteTokens,
    outputTokens: readTokenCount(usage.outputTokens),
    cacheReadTokens,
    cacheWriteTokens,
    ...(cacheWriteLongTokens > 0 && { cacheWriteLongTokens }),
  }
}
