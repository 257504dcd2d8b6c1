const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const event = (data: { type: string; [member: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

const usage = { input_tokens: 3, output_tokens: 2 }
const text = (part: string) =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: part } })

/** The response "Hello" in each provider format: complete, and as a stream in three parts. */
export const responses = {
  chat: {
    whole: {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    },
    parts: [
      chunk({ role: 'assistant', content: 'Hel' }),
      chunk({ content: 'lo' }),
      `${chunk({}, 'stop')}data: [DONE]\n\n`,
    ],
    more: chunk({ content: '.' }),
  },
  messages: {
    whole: {
      id: 'c',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage,
    },
    parts: [
      event({
        type: 'message_start',
        message: { id: 'c', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage },
      }) +
        event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }) +
        text('Hel'),
      text('lo'),
      event({ type: 'content_block_stop', index: 0 }) +
        event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }) +
        event({ type: 'message_stop' }),
    ],
    more: text('.'),
  },
}
