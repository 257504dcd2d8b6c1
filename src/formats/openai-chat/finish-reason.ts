import type { FinishReason } from '../canonical/answer.ts'
import type { WireFinish } from './wire.ts'

/** `finish_reason` of OpenAI and of the vendors that follow it; whatever else they say is a plain end. */
export const finishReasonOf = (wire: string): FinishReason => read.get(wire) ?? 'stop'

const read = new Map<string, FinishReason>(
  Object.entries({
    stop: 'stop',
    eos: 'stop', // Together
    length: 'length',
    max_tokens: 'length', // of servers that hand on what their model's own format says
    model_length: 'context-window', // Mistral
    insufficient_system_resource: 'length', // DeepSeek: cut by the provider
    tool_calls: 'tool-calls',
    function_call: 'tool-calls',
    content_filter: 'content-filter',
  } satisfies Record<string, FinishReason>),
)

/** `finish_reason` for a client. */
export const wireFinish = (reason: FinishReason): WireFinish => write[reason]

const write: Readonly<Record<FinishReason, WireFinish>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'context-window': 'length',
  'content-filter': 'content_filter',
  pause: 'stop',
  'malformed-call': 'stop',
}
