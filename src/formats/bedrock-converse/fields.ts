import { isObject } from '../../lib/json.ts'
import type { Finish, FinishReason, TokenUsage } from '../canonical/answer.ts'
import { tokenCount } from '../canonical/values.ts'
import type { EmbeddedError } from '../format.ts'

/** The finish reasons by `stopReason`; any other one is a normal end. */
const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map<unknown, FinishReason>([
  ['end_turn', 'stop'],
  ['tool_use', 'tool-calls'],
  ['max_tokens', 'length'],
  ['stop_sequence', 'stop-sequence'],
  ['guardrail_intervened', 'content-filter'],
  ['content_filtered', 'content-filter'],
  ['refusal', 'content-filter'],
  ['model_context_window_exceeded', 'context-window'],
  ['malformed_model_output', 'malformed-call'],
  ['malformed_tool_use', 'malformed-call'],
])

/** Parses how an answer ended, from a whole answer or from `messageStop`. The stop sequence that matched is among the model's own fields. */
export function parseStop(stopReason: unknown, ownFields: unknown): Finish {
  const finish: Finish = { reason: finishReasons.get(stopReason) ?? 'stop', raw: String(stopReason) }
  const sequence = isObject(ownFields) ? ownFields.stop_sequence : undefined
  if (typeof sequence === 'string') finish.stopSequence = sequence
  return finish
}

/** The error of an empty answer with this stop reason: another attempt may succeed. */
export const brokenBy = (stopReason: unknown): EmbeddedError | undefined =>
  finishReasons.get(stopReason) === 'malformed-call'
    ? { class: 'content', status: 502, message: `The model's answer is broken: ${stopReason}.` }
    : undefined

/** Parses `usage` of Converse. Its input counts are separate; the canonical input count includes the cached tokens. */
export function converseUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const cacheReadTokens = tokenCount(usage.cacheReadInputTokens)
  const cacheWriteTokens = tokenCount(usage.cacheWriteInputTokens)
  return {
    inputTokens: tokenCount(usage.inputTokens) + cacheReadTokens + cacheWriteTokens,
    outputTokens: tokenCount(usage.outputTokens),
    cacheReadTokens,
    cacheWriteTokens,
  }
}
