import { createServer } from 'node:http'
import { Pool } from 'undici'

/*
 * The minimum that translating a stream can cost: the bare proxy plus one parse and one serialization per event. It translates text from a Chat
 * Completions provider for Messages clients, and vice versa. It doesn't support tools, images, reasoning, or errors.
 */
const pool = new Pool(process.env.PROVIDER, { connections: 2_048, keepAliveTimeout: 60_000 })

const writeEvent = (type, more) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`

const fromMessagesClient = {
  path: '/v1/chat/completions',
  convertRequest: ({ model, system, messages, max_tokens, temperature, stream }) => ({
    ...{ model, max_tokens, temperature, stream, stream_options: { include_usage: true } },
    messages: system ? [{ role: 'system', content: system }, ...messages] : messages,
  }),
  createConverter() {
    let isOpen = false
    let stop_reason = 'end_turn'
    let usage = { input_tokens: 0, output_tokens: 0 }
    return {
      convert(chunk) {
        let text = ''
        if (!isOpen) {
          isOpen = true
          const { id, model } = chunk
          const rest = { content: [], stop_reason: null, stop_sequence: null, usage }
          text += writeEvent('message_start', { message: { id, type: 'message', role: 'assistant', model, ...rest } })
          text += writeEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
        }
        const choice = chunk.choices[0]
        const words = choice?.delta.content
        if (words) text += writeEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text: words } })
        if (choice?.finish_reason === 'length') stop_reason = 'max_tokens'
        if (chunk.usage)
          usage = { input_tokens: chunk.usage.prompt_tokens, output_tokens: chunk.usage.completion_tokens }
        return text
      },
      end: () =>
        writeEvent('content_block_stop', { index: 0 }) +
        writeEvent('message_delta', { delta: { stop_reason, stop_sequence: null }, usage }) +
        writeEvent('message_stop'),
    }
  },
}

const fromChatClient = {
  path: '/v1/messages',
  convertRequest: ({ model, messages, max_tokens = 4_096, temperature, stream }) => ({
    ...{ model, max_tokens, temperature, stream },
    system: messages
      .filter(({ role }) => role === 'system')
      .map(({ content }) => content)
      .join('\n'),
    messages: messages.filter(({ role }) => role !== 'system'),
  }),
  createConverter() {
    let head = {}
    let prompt_tokens = 0
    let completion_tokens = 0
    const writeChunk = (choices, more) => `data: ${JSON.stringify({ ...head, choices, ...more })}\n\n`
    const writeDelta = (delta, finish_reason = null) => writeChunk([{ index: 0, delta, logprobs: null, finish_reason }])
    return {
      convert(event) {
        switch (event.type) {
          case 'message_start': {
            const { id, model, usage } = event.message
            head = { id, object: 'chat.completion.chunk', created: 1_790_000_000, model }
            prompt_tokens = usage.input_tokens
            return writeDelta({ role: 'assistant', content: '' })
          }
          case 'content_block_delta':
            return writeDelta({ content: event.delta.text })
          case 'message_delta':
            completion_tokens = event.usage.output_tokens
            return writeDelta({}, 'stop')
          default:
            return ''
        }
      },
      end() {
        const total_tokens = prompt_tokens + completion_tokens
        return `${writeChunk([], { usage: { prompt_tokens, completion_tokens, total_tokens } })}data: [DONE]\n\n`
      },
    }
  },
}

function translate(request, response, body) {
  const way = request.url === '/v1/messages' ? fromMessagesClient : fromChatClient
  const converter = way.createConverter()
  const decoder = new TextDecoder()
  let rest = ''
  let control
  response.on('close', () => response.writableFinished || control?.abort(new Error('The client has disconnected.')))
  const headers = ['content-type', 'application/json', 'authorization', 'Bearer provider-key']
  const sent = JSON.stringify(way.convertRequest(JSON.parse(body)))
  pool.dispatch(
    { path: way.path, method: 'POST', headers, body: sent },
    {
      onRequestStart(controller) {
        control = controller
      },
      onResponseStart: (_, status) => response.writeHead(status, { 'content-type': 'text/event-stream' }),
      onResponseData(controller, chunk) {
        const events = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
        rest = events.pop()
        let text = ''
        for (const event of events) {
          const data = event.slice(event.indexOf('data: ') + 6)
          if (data.startsWith('{')) text += converter.convert(JSON.parse(data))
        }
        if (!text || response.write(text)) return
        controller.pause()
        response.once('drain', () => controller.resume())
      },
      onResponseEnd: () => response.end(converter.end()),
      onResponseError: () => response.destroy(),
    },
  )
}

const server = createServer({ noDelay: true }, (request, response) => {
  const parts = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => translate(request, response, Buffer.concat(parts)))
})
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })))
