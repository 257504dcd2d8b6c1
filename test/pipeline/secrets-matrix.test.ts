import { wireFormats } from '../../src/types/unions.ts'
import { exceptionFrame } from '../formats/support/event-stream.ts'
import { assert, suite } from '../support/suite.ts'
import { collectShown, forms, OTHER, OWN, openQuoting, questions, SHAPE, starts } from './support/quoted-keys.ts'
import { type End, json } from './support/upstream.ts'

const test = suite('keys in errors, for every client and provider format')

const data = (value: unknown, event?: string) =>
  `${event ? `event: ${event}\n` : ''}data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`

/** Error bodies as vendors, gateways, and frameworks write them. */
const bodies: Record<string, (words: string) => unknown> = {
  openai: (message) => ({ error: { message, type: 'invalid_request_error', param: null, code: 'invalid_api_key' } }),
  anthropic: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message }, request_id: null }),
  google: (message) => ({
    error: { code: 400, message, status: 'INVALID_ARGUMENT', details: [{ metadata: message }] },
  }),
  "Google's array": (message) => [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }],
  vllm: (message) => ({ object: 'error', message, type: 'BadRequestError', param: null, code: 400 }),
  'a status and a message': (message) => ({ status: 400, message }),
  'a status, a reason phrase, and a message': (message) => ({ statusCode: 400, error: 'Bad Request', message }),
  'problem details': (detail) => ({ type: 'about:blank', title: 'Bad Request', status: 400, detail }),
  details: (msg) => ({ detail: [{ loc: ['header', 'x-api-key'], msg, input: msg }] }),
  'a failed response': (message) => ({
    type: 'response.failed',
    response: { id: 'r1', status: 'failed', output: [], error: { code: 'server_error', message } },
  }),
  'a Chat Completions chunk': (content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
  'a Messages delta': (text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  'a Responses delta': (delta) => ({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta }),
  'a Google chunk': (text) => ({ candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0 }] }),
  'a string': (text) => text,
}

/** Bodies that are valid content in a format rather than errors. Model output stays unchanged. */
const contentOf: Record<string, string> = {
  chat: 'a Chat Completions chunk',
  claude: 'a Messages delta',
  responses: 'a Responses delta',
  google: 'a Google chunk',
}

const formatOf: Record<string, string> = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  claude: 'anthropic-messages',
  google: 'gemini',
}

/** The positions tested for a translated stream, which passes none of its bytes through. */
const TRANSLATED: ReadonlySet<string> = new Set([
  ...['an event', 'an event named error', 'bare JSON', 'an event without an end, in a stream that breaks off'],
])

/** Bodies that also quote the call's own key, which ends a passed-through stream. */
const OF_OWN: ReadonlySet<string> = new Set(['openai', 'a status and a message', 'a string'])

/** The position of a body in a stream, and how the stream ends after it. */
const places: Record<string, (body: unknown) => [text: string, end?: End]> = {
  'an event': (body) => [data(body)],
  'an event named error': (body) => [data(body, 'error')],
  'an event with another name': (body) => [data(body, 'failure')],
  'an event with escapes': (body) => [data(escapeBody(body))],
  'an event without an end': (body) => [data(body).trimEnd()],
  'an event without an end, in a stream that breaks off': (body) => [data(body).trimEnd(), 'error'],
  'half an event in a stream that breaks off': (body) => [data(body).trimEnd().slice(0, -1), 'error'],
  'an event, and a stream that breaks off': (body) => [data(body), 'error'],
  'bare JSON': (body) => [`${plain(body)}\n\n`],
  'bare JSON without an end': (body) => [plain(body)],
  'bare JSON with escapes': (body) => [`${escapeBody(body)}\n\n`],
  'an HTTP response': (body) => [`HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\n\r\n${plain(body)}\r\n\r\n`],
  'a comment': (body) => [`: ${plain(body)}\n\n`],
  'an event glued to another': (body) => [`${data({ error: { message: 'first' } })}${data(body)}`],
}

const plain = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body))
const escapeBody = (body: unknown) =>
  typeof body === 'string' ? body : JSON.stringify(body).replaceAll('/', '\\/').replaceAll('k', '\\u006b')

const words = (quoted: string) => `Incorrect API key provided: ${quoted}. Find yours at https://vendor.test/keys`

for (const provider of Object.keys(starts)) {
  if (provider === 'bedrock') continue
  for (const client of wireFormats) {
    test(`an error body in a stream exposes no key (${provider} provider, ${client} client)`, async () => {
      const world = await openQuoting()
      for (const [label, bodyWith] of Object.entries(bodies)) {
        if (contentOf[provider] === label) continue
        for (const [mode, place] of Object.entries(places)) {
          if (formatOf[provider] !== client && !TRANSLATED.has(mode)) continue
          for (const keys of OF_OWN.has(label) ? [[OTHER, SHAPE], [OWN]] : [[OTHER, SHAPE]]) {
            const [text, end] = place(bodyWith(words(keys.join(' '))))
            world.quote(() => [...(starts[provider]?.() ?? []), text], end)
            const response = await world.post(...questions[client](`${provider}/m`, true))
            assertHidden(await collectShown(world, response), keys, `${label}, ${mode}`)
          }
        }
      }
    })
  }
}

for (const client of wireFormats) {
  for (const provider of Object.keys(starts)) {
    test(`an error status or an error in a 200 exposes no key (${provider} provider, ${client} client)`, async () => {
      const world = await openQuoting()
      for (const stream of [false, true, 'count'] as const) {
        for (const status of [200, 400]) {
          for (const [label, bodyWith] of Object.entries(bodies)) {
            if (contentOf[provider] === label) continue
            const keys = [OWN, OTHER, SHAPE]
            const body = bodyWith(words(keys.join(' ')))
            for (const text of status === 400 ? [plain(body), escapeBody(body)] : [plain(body)]) {
              world.quote(() => json(text, status, { 'x-debug': OWN, 'x-other': OTHER, 'x-shape': SHAPE }))
              const response = await world.post(...questions[client](`${provider}/m`, stream))
              assertHidden(await collectShown(world, response), keys, `${label}, ${status}, ${stream}`)
            }
          }
        }
      }
    })
  }
}

function assertHidden(all: string, keys: readonly string[], label: string) {
  for (const key of keys) assert.not.ok(all.includes(key), `${label}: ${key} in ${all.slice(0, 3_000)}`)
}

for (const [name, spelled] of Object.entries(forms)) {
  test(`a key encoded in ${name} never appears in responses, hooks, logs, or health`, async () => {
    const world = await openQuoting()
    for (const key of [OWN, OTHER, SHAPE]) {
      const quoted = spelled(key)
      const claim = words(quoted)
      for (const provider of ['chat', 'claude', 'bedrock']) {
        for (const client of ['openai-chat', 'anthropic-messages'] as const) {
          for (const kind of ['openai', 'anthropic', 'a status and a message']) {
            const body = bodies[kind]?.(claim)
            for (const status of [200, 500]) {
              world.quote(() => json(plain(body), status, { 'x-debug': quoted }))
              const response = await world.post(...questions[client](`${provider}/m`, false))
              assertHidden(await collectShown(world, response), [quoted], `${kind}, ${status}`)
            }
            const frame = provider === 'bedrock' ? exceptionFrame('internalServerException', claim) : data(body)
            world.quote(() => [...(starts[provider]?.() ?? []), frame])
            const response = await world.post(...questions[client](`${provider}/m`, true))
            assertHidden(await collectShown(world, response), [quoted], `${kind} in a stream of ${provider}`)
          }
        }
      }
    }
  })
}

for (const [name, spelled] of Object.entries({ 'plain text': (key: string) => key, ...forms })) {
  test(`a key encoded in ${name} never appears in the error of a failed connection`, async () => {
    const world = await openQuoting()
    for (const key of [OWN, OTHER, SHAPE]) {
      const quoted = spelled(key)
      for (const error of [
        new TypeError(`Headers.append: "Bearer ${quoted}" is an invalid header value.`),
        Object.assign(new TypeError('fetch failed'), { cause: new Error(`proxy refused ${quoted}`) }),
        Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(quoted), { code: quoted }) }),
        new Error(quoted),
        quoted,
      ]) {
        world.quote(() => {
          throw error
        })
        const response = await world.post(...questions['openai-chat']('chat/m', false))
        assertHidden(await collectShown(world, response), [quoted], String(error))
      }
    }
  })
}
