import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { UpstreamFetch } from '../../lib/exchange.ts'
import { startCall } from '../../lib/fetch-call.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { BROKEN, BROKEN_SEARCH, DEMO_BASE_URL, EMBEDDER, FLAKY, STORYTELLER } from './demo-providers.ts'

/** Creates a `fetch` that responds to calls to the demo's base URL like a provider, and passes all other calls to `upstream`. */
export function withDemo(upstream: UpstreamFetch): UpstreamFetch {
  const isDemo = (url: string) => url.startsWith(`${DEMO_BASE_URL}/`)
  const fetch = (input: string, init?: RequestInit) => (isDemo(input) ? respond(input, init) : upstream(input, init))
  return Object.assign(fetch, {
    raw: (call: Parameters<NonNullable<UpstreamFetch['raw']>>[0]) =>
      startCall(isDemo(call.url) ? respond : upstream, call),
  })
}

async function respond(url: string, init: RequestInit = {}): Promise<Response> {
  const path = new URL(url).pathname.slice(new URL(DEMO_BASE_URL).pathname.length)
  if (path === '/models')
    return Response.json({ object: 'list', data: [BROKEN, FLAKY, STORYTELLER, EMBEDDER].map(toModel) })
  const isMessages = path.startsWith('/messages')
  const body = readBody(init)
  if (path === '/search' && body.model === 'search') return respondToSearch(body)
  if (path === '/embeddings' && body.model === EMBEDDER) return respondToEmbedding(body)
  if (body.model === BROKEN || body.model === BROKEN_SEARCH)
    return createErrorResponse(503, 'This is part of the demo: its first target always fails.', isMessages)
  if (body.model === FLAKY && ++flakyCalls % 5 === 0)
    return createErrorResponse(503, 'This is part of the demo: this target fails on every fifth request.', isMessages)
  if (body.model !== STORYTELLER && body.model !== FLAKY)
    return createErrorResponse(
      404,
      'The demo has the models "broken", "flaky", "storyteller", and "embedder".',
      isMessages,
    )
  if (path === '/chat/completions') return respondToChat(body, init.signal ?? undefined)
  if (path === '/messages') return respondToMessages(body, init.signal ?? undefined)
  if (path === '/messages/count_tokens') return countTokens(body)
  return createErrorResponse(404, 'The demo only supports chat, embeddings, and search.', isMessages)
}

let flakyCalls = 0

function readBody({ body }: RequestInit): JsonObject {
  const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body)
  const parsed = tryParseJson(text)
  return isObject(parsed) ? parsed : {}
}

function createErrorResponse(status: 404 | 503, message: string, isMessages: boolean): Response {
  const type = isMessages ? { 404: 'not_found_error', 503: 'api_error' }[status] : 'server_error'
  const error = { type, message }
  return Response.json(isMessages ? { type: 'error', error } : { error }, { status })
}

const toModel = (id: string) => ({ id, object: 'model', created: 0, owned_by: 'demo' })

/** Creates the response to a search, which is always the same. */
function respondToSearch({ query, max_results: most }: JsonObject): Response {
  const found = PLACE_NAMES.map(({ title, url, snippet }) => ({ title, url, snippet, date: '2026-01-01' }))
  const results = found.slice(0, typeof most === 'number' ? most : found.length)
  return Response.json({ id: `search_${randomUUID()}`, results: query === '' ? [] : results })
}

/** Creates an OpenAI Chat Completions response with the demo's text, streaming or not. */
function respondToChat(body: JsonObject, signal: AbortSignal | undefined): Response {
  const base = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: body.model }
  const usage = estimateUsage(body.messages)
  if (body.stream === true) {
    const withUsage = isObject(body.stream_options) && body.stream_options.include_usage === true
    return streamEvents(chunks({ ...base, object: 'chat.completion.chunk' }, withUsage ? usage : undefined), signal)
  }
  const message = { role: 'assistant', content: story, refusal: null }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  return Response.json({ ...base, object: 'chat.completion', choices, usage })
}

/** Creates an OpenAI embeddings response. Strings with similar letters get similar vectors. */
function respondToEmbedding({ input, model }: JsonObject): Response {
  const texts = (Array.isArray(input) ? input : [input]).map(String)
  const tokens = Math.ceil(texts.join('').length / 4)
  const data = texts.map((text, index) => ({ object: 'embedding', index, embedding: countLetters(text) }))
  return Response.json({ object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } })
}

/** Counts how often each letter occurs in a string, as a vector of length 1. */
function countLetters(text: string): number[] {
  const counts = Array.from({ length: 26 }, () => 0)
  for (const letter of text.toLowerCase()) {
    const index = letter.charCodeAt(0) - 97
    if (index in counts) counts[index] = (counts[index] ?? 0) + 1
  }
  const length = Math.hypot(...counts)
  return counts.map((count) => (length === 0 ? 0 : count / length))
}

function* chunks(base: object, usage: object | undefined) {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    event({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason }] })
  yield { text: chunk({ role: 'assistant', content: '' }), isWord: false }
  for (const word of words) yield { text: chunk({ content: word }), isWord: true }
  yield { text: chunk({}, 'stop'), isWord: false }
  if (usage) yield { text: event({ ...base, choices: [], usage }), isWord: false }
  yield { text: 'data: [DONE]\n\n', isWord: false }
}

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`

function estimateUsage(messages: unknown) {
  const { input, output } = estimateTokens(messages)
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}

/** Creates an Anthropic Messages response with the demo's text, streaming or not. */
function respondToMessages(body: JsonObject, signal: AbortSignal | undefined): Response {
  const { input, output } = estimateTokens(body.messages)
  const message = { id: `msg_${randomUUID()}`, type: 'message', role: 'assistant', model: body.model }
  const ends = { stop_reason: 'end_turn', stop_sequence: null }
  if (body.stream !== true) {
    const content = [{ type: 'text', text: story }]
    return Response.json({ ...message, content, ...ends, usage: { input_tokens: input, output_tokens: output } })
  }
  const startMessage = { ...message, content: [], stop_reason: null, stop_sequence: null }
  const start = { ...startMessage, usage: { input_tokens: input, output_tokens: 1 } }
  return streamEvents(events(start, { delta: ends, usage: { output_tokens: output } }), signal)
}

/** Creates the response to `POST /messages/count_tokens`. */
function countTokens(body: JsonObject): Response {
  return Response.json({ input_tokens: estimateTokens(body.messages).input })
}

function* events(message: object, end: object) {
  yield formatMessageEvent({ type: 'message_start', message })
  yield formatMessageEvent({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
  for (const text of words) {
    yield formatMessageEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, true)
  }
  yield formatMessageEvent({ type: 'content_block_stop', index: 0 })
  yield formatMessageEvent({ type: 'message_delta', ...end })
  yield formatMessageEvent({ type: 'message_stop' })
}

const formatMessageEvent = (data: { type: string; [name: string]: unknown }, isWord = false) => ({
  text: `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`,
  isWord,
})

const STORY_TEXT =
  'A train stops at a red signal because the track ahead is broken. In the signal box, someone pulls another lever, the ' +
  'switch moves, and the train takes the other track. All that the passengers notice is a gentle curve.'

const PLACE_NAMES = [
  {
    title: 'Signal box',
    url: 'https://en.wikipedia.org/wiki/Signal_box',
    snippet: 'A building from which the switches and signals of a railroad are controlled.',
  },
  {
    title: 'Railroad switch',
    url: 'https://en.wikipedia.org/wiki/Railroad_switch',
    snippet: 'A device that guides a train from one track to another.',
  },
]

/** The words in the demo's text, each with its preceding space. */
const words: readonly string[] = STORY_TEXT.split(/(?= )/)
const story = STORY_TEXT

const MS_BETWEEN_WORDS = 40

/** Estimates the token usage of a request and the demo's text from their lengths. */
function estimateTokens(messages: unknown): { input: number; output: number } {
  return { input: Math.ceil((JSON.stringify(messages ?? '') ?? '').length / 4), output: words.length }
}

/** Creates a stream of the events, with a pause before each event that contains a word. The stream ends immediately if `signal` aborts. */
function streamEvents(events: Iterable<{ text: string; isWord: boolean }>, signal: AbortSignal | undefined): Response {
  const iterator = events[Symbol.iterator]()
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = iterator.next()
        if (done) return controller.close()
        if (value.isWord) await sleep(MS_BETWEEN_WORDS, undefined, signal ? { signal } : {})
        controller.enqueue(encoder.encode(value.text))
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
