import { createServer } from 'node:http'
import { announce, urlOf } from './process.ts'

const usage = { prompt_tokens: 19, completion_tokens: 30, total_tokens: 49 }
const text = 'The quick brown fox jumps over the lazy dog, and the gateway passes every word of it on.'
const whole = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  model: 'bench',
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  usage,
})
const DIMENSIONS = 256
const vectors = JSON.stringify({
  object: 'list',
  model: 'bench',
  data: [
    { object: 'embedding', index: 0, embedding: Array.from({ length: DIMENSIONS }, (_, at) => Math.sin(at) / 16) },
  ],
  usage: { prompt_tokens: 10, total_tokens: 10 },
})
const chunk = (choice: object, rest = {}) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', model: 'bench', choices: [choice], ...rest })}\n\n`
const word = chunk({ index: 0, delta: { content: ' word' }, finish_reason: null })
const last = chunk({ index: 0, delta: {}, finish_reason: 'stop' }, { usage })

const event = (type: string, more = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
const message = { id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench', content: [], stop_reason: null }
const block = { index: 0, content_block: { type: 'text', text: '' } }

/** The beginning, one word and the end of a streamed answer. */
const chat = { first: '', word, last: `${last}data: [DONE]\n\n` }
const messages = {
  first:
    event('message_start', { message: { ...message, usage: { input_tokens: 19, output_tokens: 1 } } }) +
    event('content_block_start', block),
  word: event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: ' word' } }),
  last:
    event('content_block_stop', { index: 0 }) +
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 30 } }) +
    event('message_stop'),
}

/** Words of one streamed answer. */
const WORDS = 100

/** Between the chunks of a slow stream. */
const PACE_MS = 20

/**
 * A provider that answers at once: one JSON body, that of a chat or at `/v1/embeddings` a vector, or a stream of one chunk a turn of the event loop, or a slow one. Streams are those of Chat
 * Completions or, at `/v1/messages`, of Messages.
 */
const server = createServer({ noDelay: true }, (request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (part: string) => {
    body += part
  })
  request.on('end', () => {
    if (!body.includes('"stream":true')) {
      const answer = request.url === '/v1/embeddings' ? vectors : whole
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) })
        .end(answer)
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const isSlow = body.includes('slow"')
    const said = request.url === '/v1/messages' ? messages : chat
    let left = WORDS
    if (said.first) response.write(said.first)
    const next = () => {
      if (left-- === 0) {
        response.end(said.last)
        return
      }
      response.write(said.word)
      if (isSlow) setTimeout(next, PACE_MS)
      else setImmediate(next)
    }
    next()
  })
})
server.listen(0, '127.0.0.1', () => announce({ url: urlOf(server) }))
