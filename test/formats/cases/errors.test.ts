import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { messageStart } from './responses.ts'
import { catalog, getStream, providerOf, send } from './support.ts'

const test = suite('cases: errors in the form that clients recognize')

/** Each vendor's error for a prompt that is too long. */
const overflows: Record<string, [from: WireFormat, status: number, body: JsonObject]> = {
  OpenAI: [
    'openai-chat',
    400,
    {
      error: {
        message: "This model's maximum context length is 8192 tokens.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
  ],
  vLLM: [
    'openai-chat',
    400,
    {
      object: 'error',
      message: "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens",
      type: 'BadRequestError',
      code: 400,
    },
  ],
  Anthropic: [
    'anthropic-messages',
    400,
    { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' } },
  ],
  Google: [
    'gemini',
    400,
    {
      error: {
        code: 400,
        message: 'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
        status: 'INVALID_ARGUMENT',
      },
    },
  ],
  Cohere: [
    'openai-chat',
    400,
    {
      id: 'x',
      message: 'too many tokens: total number of tokens in the prompt exceeds',
      error_type: 'TOO_MANY_TOKENS',
    },
  ],
  Ollama: ['openai-chat', 400, { error: 'prompt too long; exceeded max context length by 5 tokens' }],
}

/** Returns the error that a client of each format receives. */
const result: Readonly<Record<WireFormat, (error: JsonObject) => void>> = {
  'openai-chat': ({ code }) => assert.is(code, 'context_length_exceeded'),
  'openai-responses': ({ code }) => assert.is(code, 'context_length_exceeded'),
  'anthropic-messages': ({ type, message }) => {
    assert.is(type, 'invalid_request_error')
    assert.match(String(message), /prompt is too long/)
  },
  gemini: ({ status, message }) => {
    assert.is(status, 'INVALID_ARGUMENT')
    assert.match(String(message), /input token count/)
  },
}

for (const [vendor, [from, status, body]] of Object.entries(overflows)) {
  test(`a prompt that is too long for ${vendor} becomes an error that every client recognizes`, async () => {
    for (const client of wireFormats) {
      if (client === from) continue
      const { response } = await send({ client, model: `${providerOf[from]}/m`, respond: () => json(body, status) })
      assert.is(response.status, 400, client)
      result[client]((await response.json()).error)
    }
  })
}

const TOO_LONG = { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' }
const failed = { type: 'response.failed', response: { id: 'r', status: 'failed', error: TOO_LONG } }

for (const client of wireFormats) {
  test(`a prompt that a stream reports as too long returns a 400 (${client} client)`, async () => {
    const started = { type: 'response.created', response: { id: 'r', status: 'in_progress' } }
    const respond = () => getStream('openai-responses', [started, failed])
    const { response } = await send({ client, model: 'responses/m', stream: true, respond })
    assert.is(response.status, 400)
    result[client]((await response.json()).error)
  })

  test(`an overlong prompt is still reported as too long if the fallback target fails (${client} client)`, async () => {
    const overflow = { error: { message: 'prompt is too long: 9 tokens > 8 maximum', type: 'invalid_request_error' } }
    const { response, upstream } = await send({
      client,
      model: 'chain',
      connections: ['messages', 'chat'],
      catalog: { ...catalog, messages: { ...catalog.messages, models: [{ id: 'm', contextWindow: 8 }] } },
      combos: { chain: ['messages/m', 'chat/n'] },
      respond: ({ provider }) => (provider === 'messages' ? json(overflow, 400) : json({ error: 'down' }, 500)),
    })
    assert.equal([response.status, upstream.providers], [400, ['messages', 'chat']])
    if (client !== 'anthropic-messages') result[client]((await response.json()).error)
  })
}

test("an overlong prompt reported mid-stream becomes an error in the client's format", async () => {
  const error = { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' }
  const text = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } }
  const respond = () => getStream('anthropic-messages', [messageStart(), text, { type: 'error', error }])
  const { response } = await send({ client: 'openai-chat', model: 'messages/m', stream: true, respond })
  assert.match(await response.text(), /"code":"context_length_exceeded"/)
  const back = await send({
    client: 'anthropic-messages',
    model: 'responses/m',
    stream: true,
    respond: () =>
      getStream('openai-responses', [
        { type: 'response.output_text.delta', output_index: 0, item_id: 'm', content_index: 0, delta: 'a' },
        failed,
      ]),
  })
  assert.match(await back.response.text(), /event: error\ndata: .*prompt is too long: Your input/)
})

/** A provider's error, and the status and headers that clients of other formats receive. */
const limits: Record<
  string,
  [from: WireFormat, answer: () => Response, expected: Partial<Record<WireFormat, number>>, headers: JsonObject]
> = {
  'an overload': [
    'anthropic-messages',
    () => json({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 529),
    { 'openai-chat': 503, 'openai-responses': 503, gemini: 503, 'anthropic-messages': 529 },
    {},
  ],
  'an overload with a retry delay': [
    'openai-chat',
    () => json({ error: { message: 'busy', type: 'server_error' } }, 503, { 'retry-after': '3' }),
    { 'anthropic-messages': 529, gemini: 503 },
    { 'retry-after': '3' },
  ],
  'a rate limit with a retry delay': [
    'anthropic-messages',
    () => json({ type: 'error', error: { type: 'rate_limit_error', message: 'slow' } }, 429, { 'retry-after': '7' }),
    { 'openai-chat': 429, 'openai-responses': 429, gemini: 429 },
    { 'retry-after': '7', 'x-should-retry': 'false' },
  ],
  'a spending limit': [
    'anthropic-messages',
    () =>
      json({ type: 'error', error: { type: 'rate_limit_error', message: 'You have reached your spend limit.' } }, 429),
    { 'openai-chat': 429, 'openai-responses': 429, gemini: 429 },
    { 'retry-after': null, 'x-should-retry': 'false' },
  ],
  "Google's retry delay": [
    'gemini',
    () =>
      json(
        {
          error: {
            ...{ code: 429, message: 'You exceeded your current quota.', status: 'RESOURCE_EXHAUSTED' },
            details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }],
          },
        },
        429,
      ),
    { 'openai-chat': 429, 'openai-responses': 429, 'anthropic-messages': 429 },
    { 'retry-after': '35', 'x-should-retry': 'false' },
  ],
}

for (const [name, [from, respond, expected, headers]] of Object.entries(limits)) {
  test(`${name} keeps its meaning for every client`, async () => {
    for (const client of wireFormats) {
      const status = expected[client]
      if (status === undefined) continue
      const { response } = await send({ client, model: `${providerOf[from]}/m`, respond })
      assert.is(response.status, status, client)
      for (const [header, value] of Object.entries(headers)) assert.is(response.headers.get(header), value, client)
    }
  })
}

const page = `<html><body>${'502 Bad Gateway '.repeat(1_000)}</body></html>`
const oddBodies: Record<string, [status: number, answer: () => Response, message: RegExp]> = {
  'an HTML page': [
    502,
    () => new Response(page, { status: 502, headers: { 'content-type': 'text/html' } }),
    /status 502/,
  ],
  'an empty event stream': [
    404,
    () => new Response('', { status: 404, headers: { 'content-type': 'text/event-stream' } }),
    /status 404/,
  ],
  'plain text': [500, () => new Response('x'.repeat(5_000), { status: 500 }), /status 500|x{100}/],
  'JSON with a binary content type': [
    400,
    () =>
      new Response('{"error":{"message":"bad model"}}', {
        status: 400,
        headers: { 'content-type': 'application/octet-stream' },
      }),
    /bad model/,
  ],
}

for (const [name, [status, respond, message]] of Object.entries(oddBodies)) {
  test(`an error from ${name} keeps its status, in the client's envelope`, async () => {
    for (const client of wireFormats) {
      for (const stream of [false, true]) {
        const { response } = await send({ client, model: 'chat/m', stream, respond })
        assert.is(response.status, status, client)
        const text = await response.text()
        assert.match(JSON.parse(text).error.message, message)
        assert.ok(text.length < 1_500, text)
      }
    }
  })
}
