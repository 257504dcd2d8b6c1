import { getResponse, HttpResponse, http } from 'msw'

/** Creates a `fetch` with calls handled by msw. Calls to URLs without a handler fail, so nothing reaches the network. */
export const fetchFrom = (...handlers) =>
  async function fetch(input, init) {
    const request = new Request(input, init)
    const response = await getResponse(handlers, request)
    if (!response) throw new TypeError(`no handler for ${request.method} ${request.url}`)
    return response
  }

const stream = (lines) => new HttpResponse(lines.join(''), { headers: { 'content-type': 'text/event-stream' } })

/** Creates a handler for OpenAI that streams these words. It adds each request to `seen`. */
export const openai = (words, seen = []) =>
  http.post('https://api.openai.com/v1/chat/completions', async ({ request }) => {
    const { model } = await request.json()
    seen.push({ model, authorization: request.headers.get('authorization') })
    const chunk = (delta, finish_reason = null) => {
      const choices = [{ index: 0, delta, finish_reason }]
      return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices })}\n\n`
    }
    return stream([...words.map((content) => chunk({ content })), chunk({}, 'stop'), 'data: [DONE]\n\n'])
  })

/** Creates a handler for an overloaded provider. */
export const overloaded = (address) =>
  http.post(`${address}/*`, () =>
    HttpResponse.json({ error: { message: 'Overloaded', type: 'server_error' } }, { status: 503 }),
  )

/** Creates a handler for Anthropic that streams these words. */
export const anthropic = (words) =>
  http.post('https://api.anthropic.com/v1/messages', async ({ request }) => {
    const { model } = await request.json()
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null }
    const events = [
      { type: 'message_start', message: { ...message, usage: { input_tokens: 9, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...words.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ]
    return stream(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
  })
