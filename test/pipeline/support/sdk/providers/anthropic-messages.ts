import type { ContentBlock, Message, TextBlock } from '@anthropic-ai/sdk/resources/messages'
import { ANSWER, CITIES, SIGNATURE, THOUGHT, weather } from '../conversation.ts'
import { formatEvent, type ModelOutput, type Provider } from './provider.ts'

/** The API omits `citations` from text without citations. */
type Block = ContentBlock | Omit<TextBlock, 'citations'>

/** Builds a message without the API's other fields, which clients must not depend on. */
const message = (content: Block[], stop_reason: Message['stop_reason'], usage: object) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason,
  stop_sequence: null,
  usage: { cache_creation_input_tokens: 0, cache_read_input_tokens: 0, ...usage },
})

type Event = { type: string; [name: string]: unknown }

function modelOutput(content: Block[], stop: 'tool_use' | 'end_turn', [input, output]: [number, number]): ModelOutput {
  const events: Event[] = [
    { type: 'message_start', message: message([], null, { input_tokens: input, output_tokens: 1 }) },
    { type: 'ping' },
    ...content.flatMap(getEvents),
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: output } },
    { type: 'message_stop' },
  ]
  const full = message(content, stop, { input_tokens: input, output_tokens: output })
  return { whole: full, events: events.map(formatEvent) }
}

function getEvents(block: Block, index: number): Event[] {
  const start = (content_block: object): Event => ({ type: 'content_block_start', index, content_block })
  const delta = (value: object): Event => ({ type: 'content_block_delta', index, delta: value })
  const stop: Event = { type: 'content_block_stop', index }
  switch (block.type) {
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        delta({ type: 'thinking_delta', thinking: block.thinking.slice(0, 4) }),
        delta({ type: 'thinking_delta', thinking: block.thinking.slice(4) }),
        delta({ type: 'signature_delta', signature: block.signature }),
        stop,
      ]
    case 'tool_use': {
      const text = JSON.stringify(block.input)
      return [
        start({ ...block, input: {} }),
        delta({ type: 'input_json_delta', partial_json: '' }),
        delta({ type: 'input_json_delta', partial_json: text.slice(0, 5) }),
        delta({ type: 'input_json_delta', partial_json: text.slice(5) }),
        stop,
      ]
    }
    case 'text':
      return [start({ type: 'text', text: '' }), ...ANSWER.map((text) => delta({ type: 'text_delta', text })), stop]
    default:
      throw new TypeError(`no events for ${block.type}`)
  }
}

/** A Messages provider with signed reasoning. */
export const messagesProvider: Provider = {
  calls: modelOutput(
    [
      { type: 'thinking', thinking: THOUGHT, signature: SIGNATURE },
      ...CITIES.map(
        (city, index): ContentBlock => ({
          type: 'tool_use',
          id: `toolu_${index}`,
          name: weather.name,
          input: { city },
          caller: { type: 'direct' },
        }),
      ),
    ],
    'tool_use',
    [20, 30],
  ),
  response: modelOutput([{ type: 'text', text: ANSWER.join('') }], 'end_turn', [50, 12]),
}
