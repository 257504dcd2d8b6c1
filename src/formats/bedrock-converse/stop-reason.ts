import { isObject } from '../../lib/json.ts'
import type { Finish, FinishReason } from '../canonical/answer.ts'
import type { EmbeddedError } from '../format.ts'

/** `stopReason`; whatever else a model says is a plain end. */
const reasons: ReadonlyMap<unknown, FinishReason> = new Map<unknown, FinishReason>([
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

/** How an answer ended, out of a whole one or of `messageStop`. Which sequence stopped it is among the fields of the model's own. */
export function parseStop(stopReason: unknown, ownFields: unknown): Finish {
  const finish: Finish = { reason: reasons.get(stopReason) ?? 'stop' }
  const sequence = isObject(ownFields) ? ownFields.stop_sequence : undefined
  if (typeof sequence === 'string') finish.stopSequence = sequence
  return finish
}

/** What the reason says against an answer that holds nothing: another try may do better. */
export const brokenBy = (stopReason: unknown): EmbeddedError | undefined =>
  reasons.get(stopReason) === 'malformed-call'
    ? { class: 'content', status: 502, message: `The model's answer is broken: ${stopReason}.` }
    : undefined
