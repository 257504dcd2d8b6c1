/** Responses in both formats, complete and as events. */

const chunk = (choices: unknown[], extra: object = {}) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...extra })}\n\n`

export const chatChunk = (delta: object, finish_reason: string | null = null): string =>
  chunk([{ index: 0, delta, finish_reason }])

/** Builds the events of a chat stream that contains `text`, one word per event. */
export function chatEvents(text = 'Hello there, world'): string[] {
  const words = text.split(/(?<= )/)
  return [
    chatChunk({ role: 'assistant', content: '' }),
    ...words.map((content) => chatChunk({ content })),
    chatChunk({}, 'stop'),
    chunk([], { usage: { prompt_tokens: 7, completion_tokens: words.length, total_tokens: 7 + words.length } }),
    'data: [DONE]\n\n',
  ]
}

export const chatResponse = (text = 'Hello') => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 },
})

const event = (data: { type: string; [name: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

export const ping = event({ type: 'ping' })

export const textDelta = (text: string): string =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })

/** Builds the events of a Messages stream that contains `text`, one word per event. */
export function messageEvents(text = 'Hello there, world'): string[] {
  const message = { id: 'm1', type: 'message', role: 'assistant', model: 'c', content: [], stop_reason: null }
  const usage = { input_tokens: 7, cache_read_input_tokens: 3, cache_creation_input_tokens: 0, output_tokens: 1 }
  return [
    event({ type: 'message_start', message: { ...message, stop_sequence: null, usage } }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ping,
    ...text.split(/(?<= )/).map(textDelta),
    event({ type: 'content_block_stop', index: 0 }),
    event({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 5 },
    }),
    event({ type: 'message_stop' }),
  ]
}

export const messageResponse = (text = 'Hello') => ({
  id: 'm1',
  type: 'message',
  role: 'assistant',
  model: 'c',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 7, output_tokens: 1 },
})

/** An error as clients of each format see it. */
export interface ErrorAnswer {
  type?: string
  error: { message: string; type?: string; code?: string | number; status?: string }
}
