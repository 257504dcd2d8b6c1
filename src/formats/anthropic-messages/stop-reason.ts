import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Finish, FinishReason } from '../canonical/answer.ts'
import type { WireStop, WireStopReason } from './wire.ts'

/** `stop_reason` as it is read; whatever else a vendor says is a plain end. */
const read = new Map<string, FinishReason>(
  Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop-sequence',
    tool_use: 'tool-calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'context-window',
    refusal: 'content-filter',
    pause_turn: 'pause',
  } satisfies Record<WireStopReason, FinishReason>),
)

/** `stop_reason` as it is written. */
const write: Readonly<Record<FinishReason, WireStopReason>> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'context-window': 'model_context_window_exceeded',
  'content-filter': 'refusal',
  pause: 'pause_turn',
  'malformed-call': 'end_turn',
}

/** How an answer ended, out of a message or of the last delta of its stream; undefined while it has not. */
export function parseStop({ stop_reason, stop_sequence, stop_details }: JsonObject): Finish | undefined {
  if (typeof stop_reason !== 'string' || stop_reason === '') return undefined
  const finish: Finish = { reason: read.get(stop_reason) ?? 'stop' }
  const explanation = isObject(stop_details) ? stop_details.explanation : undefined
  if (typeof stop_sequence === 'string') finish.stopSequence = stop_sequence
  if (typeof explanation === 'string') finish.explanation = explanation
  return finish
}

/** How an answer ended, for a client. The model's own words of refusal make it one, whatever the provider called the end. */
export function wireStop({ reason, stopSequence, explanation }: Finish, hasRefusal: boolean): WireStop {
  const isRefusal = reason === 'content-filter' || (reason === 'stop' && hasRefusal)
  return {
    stop_reason: isRefusal ? 'refusal' : write[reason],
    stop_sequence: (reason === 'stop-sequence' && stopSequence) || null,
    stop_details: isRefusal ? { type: 'refusal', category: null, explanation: explanation ?? null } : null,
  }
}
