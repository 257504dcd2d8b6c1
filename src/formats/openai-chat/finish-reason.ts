import type { FinishReason } from '../canonical/answer.ts'
import type { WireFinish } from './wire.ts'

/** `finish_reason` of OpenAI and of the vendors that follow it; whatever else they say is a plain end. */
export const finishReasonOf = (wire: string): FinishReason => read.get(wire) ?? nativeReason(wire)

const read = new Map<string, FinishReason>(
  Object.entries({
    stop: 'stop',
    eos: 'stop', // Together
    length: 'length',
    max_tokens: 'length', // of servers that hand on what their model's own format says
    model_length: 'context-window', // Mistral
    model_context_window_exceeded: 'context-window', // Z.ai
    insufficient_system_resource: 'length', // DeepSeek: cut by the provider
    tool_calls: 'tool-calls',
    function_call: 'tool-calls',
    content_filter: 'content-filter',
    sensitive: 'content-filter', // Z.ai
    refusal: 'content-filter', // Anthropic's word
    ...{ safety: 'content-filter', recitation: 'content-filter', blocklist: 'content-filter' }, // Google's words
    ...{ prohibited_content: 'content-filter', spii: 'content-filter', image_safety: 'content-filter' },
  } satisfies Record<string, FinishReason>),
)

/** Google's layer over Gemini writes words of its own in capitals, or behind ours: `content_filter: RECITATION`. */
const nativeReason = (wire: string): FinishReason => read.get(wire.toLowerCase().replace(/\W.*/s, '')) ?? 'stop'

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
