import { createServer, type Socket } from 'node:net'
import { STAMP_LENGTH, STAMP_MARK } from './stamps.ts'

/*
 * The mock provider for Chat Completions, Messages, and Embeddings. It implements just enough of HTTP/1.1 over raw sockets to take far less CPU time
 * than the servers under test. The model `…-100x50` streams 100 chunks, one every 50 ms. With 0 ms, it sends one chunk per turn of the event loop.
 */

const text =
  'The quick brown fox jumps over the lazy dog, and the gateway passes every word of it on to the client. '.repeat(2)
const model = 'bench'
const created = 1_790_000_000

const chat = {
  id: 'chatcmpl-benchA1b2C3d4E5f6G7h8I9j0',
  object: 'chat.completion',
  created,
  model,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: text, refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: {
    prompt_tokens: 24,
    completion_tokens: 48,
    total_tokens: 72,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  },
  service_tier: 'default',
}
const message = {
  id: 'msg_benchA1b2C3d4E5f6G7h8',
  type: 'message',
  role: 'assistant',
  model,
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 24, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 48 },
}
const vectors = {
  object: 'list',
  model,
  data: [{ object: 'embedding', index: 0, embedding: Array.from({ length: 256 }, (_, index) => Math.sin(index) / 16) }],
  usage: { prompt_tokens: 10, total_tokens: 10 },
}

/** The parts of a streamed response, in chunked encoding. */
interface Script {
  first: Buffer
  /** The repeated chunk, which contains a timestamp to overwrite. */
  word: Buffer
  stampAt: number
  last: Buffer
}

const stamp = STAMP_MARK + '0'.repeat(STAMP_LENGTH)
const endOfBody = Buffer.from('0\r\n\r\n')
const streamHead =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\nx-request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n'

const scripts = {
  chat: createScript(
    [chatChunk([{ delta: { role: 'assistant', content: '', refusal: null } }])],
    chatChunk([{ delta: { content: `${stamp} word` } }]),
    [
      chatChunk([{ delta: {}, finish_reason: 'stop' }]),
      chatChunk([], { usage: { ...chat.usage, completion_tokens: 100, total_tokens: 124 } }),
      'data: [DONE]\n\n',
    ],
  ),
  messages: createScript(
    [
      event('message_start', { message: { ...message, content: [], stop_reason: null } }) +
        event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      event('ping'),
    ],
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: `${stamp} word` } }),
    [
      event('content_block_stop', { index: 0 }),
      event('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 100 },
      }),
      event('message_stop'),
    ],
  ),
}
const bodies = { chat: createResponse(chat), messages: createResponse(message), embeddings: createResponse(vectors) }

function chatChunk(choices: object[], extra = {}): string {
  const full = choices.map((choice) => ({ index: 0, logprobs: null, finish_reason: null, ...choice }))
  const data = { id: chat.id, object: 'chat.completion.chunk', created, model, service_tier: 'default', choices: full }
  return `data: ${JSON.stringify({ ...data, ...extra })}\n\n`
}

function event(type: string, extra = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...extra })}\n\n`
}

function createScript(first: string[], word: string, last: string[]): Script {
  const frame = (data: string) => `${Buffer.byteLength(data).toString(16)}\r\n${data}\r\n`
  const framed = Buffer.from(frame(word))
  return {
    first: Buffer.from(streamHead + first.map(frame).join('')),
    word: framed,
    stampAt: framed.indexOf(STAMP_MARK) + STAMP_MARK.length,
    last: Buffer.concat([Buffer.from(last.map(frame).join('')), endOfBody]),
  }
}

function createResponse(body: object): Buffer {
  const json = JSON.stringify(body)
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_bench\r\ncontent-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  )
}

/** Returns a copy of the chunk with the current time as its timestamp. */
function stampWord({ word, stampAt }: Script): Buffer {
  const copy = Buffer.from(word)
  copy.write(String(process.hrtime.bigint() / 1_000n).padStart(STAMP_LENGTH, '0'), stampAt, 'latin1')
  return copy
}

/** Streams without pauses, each of which sends one chunk per turn of the event loop. */
const fast = new Set<() => boolean>()

function runFast(): void {
  for (const sendNext of fast) if (!sendNext()) fast.delete(sendNext)
  if (fast.size > 0) setImmediate(runFast)
}

function stream(socket: Socket, script: Script, { words, paceMs }: { words: number; paceMs: number }): void {
  let left = words
  socket.write(script.first)
  const sendNext = () => {
    if (socket.destroyed) return false
    if (left-- > 0) return socket.write(stampWord(script)) || true
    socket.write(script.last)
    return false
  }
  if (paceMs > 0) {
    const timer = setInterval(() => sendNext() || clearInterval(timer), paceMs)
    return
  }
  if (fast.size === 0) setImmediate(runFast)
  fast.add(sendNext)
}

function respond(socket: Socket, path: string, body: string): void {
  if (path.endsWith('/embeddings')) {
    socket.write(bodies.embeddings)
    return
  }
  const format = path.endsWith('/messages') ? 'messages' : 'chat'
  if (!body.includes('"stream":true')) {
    socket.write(bodies[format])
    return
  }
  const [, words, paceMs] = /"model":"[^"]*-(\d+)x(\d+)"/.exec(body) ?? []
  if (!words) socket.destroy(new Error('The model name must specify how to stream.'))
  else stream(socket, scripts[format], { words: Number(words), paceMs: Number(paceMs) })
}

function serve(socket: Socket): void {
  let waiting = ''
  socket.on('error', () => {})
  socket.setEncoding('latin1').on('data', (data: string) => {
    waiting += data
    for (;;) {
      const headEnd = waiting.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const head = waiting.slice(0, headEnd)
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
      const end = length === undefined ? waiting.indexOf('0\r\n\r\n', headEnd) + 5 : headEnd + 4 + Number(length)
      if (end < headEnd + 4 || waiting.length < end) return
      const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' ', 5))
      respond(socket, path, waiting.slice(headEnd + 4, end))
      waiting = waiting.slice(end)
    }
  })
}

const server = createServer({ noDelay: true }, serve)
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }))
})
