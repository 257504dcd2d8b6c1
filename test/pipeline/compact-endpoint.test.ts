import OpenAI from 'openai'
import type { JsonObject } from '../../src/lib/json.ts'
import { assert, suite } from '../support/suite.ts'
import {
  ASKS_FOR_SUMMARY,
  answerOf,
  conversation,
  getCompaction,
  models,
  obliging,
  open,
  respondWith,
  SUMMARY,
  tools,
} from './support/compaction.ts'
import { type Call, json, never, type Respond } from './support/upstream.ts'

const test = suite('POST /v1/responses/compact')

const PATH = '/v1/responses/compact'
const requestOptions = { input: conversation, instructions: 'You love birds.', tools, parallel_tool_calls: true }

const native = {
  id: 'resp_1',
  object: 'response.compaction',
  created_at: 1,
  output: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'opaque' }],
  usage: { input_tokens: 30, output_tokens: 10, total_tokens: 40 },
}

test('a target with a compaction endpoint gets the request unchanged, and its tokens are counted', async () => {
  const { world, upstream, sent } = await open(() => json(native))
  assert.equal(await answerOf(await world.post(PATH, { model: 'openai/m', ...requestOptions })), native)
  assert.is(upstream.calls[0]?.url.href, 'http://openai.test/v1/responses/compact')
  assert.equal(sent(0), { model: 'm', ...requestOptions })
  assert.is(world.recorded.usages[0]?.inputTokens, 30)
})

for (const [name, model] of Object.entries(models))
  test(`the gateway turns a summary by ${name} into a compaction item`, async () => {
    const { world, upstream, sent } = await open((call) =>
      call.url.pathname.endsWith('/compact') ? json({ detail: 'Not Found' }, 404) : obliging(call, 1),
    )
    const response = await answerOf(await world.post(PATH, { model, ...requestOptions }))
    const request = JSON.stringify(sent(-1))
    assert.match(request, ASKS_FOR_SUMMARY)
    assert.match(request, 'You love birds.')
    assert.match(request, '[Called the tool look with:')
    assert.match(request, '[Result of the tool look] 7 ducks')
    assert.not.match(request, /"(tools|toolConfig|tool_calls|tool_use|toolUse|functionCall|function_call)"/)
    assert.match(String(response.id), /^resp_/)
    assert.equal([response.object, typeof response.created_at], ['response.compaction', 'number'])
    const output = response.output as JsonObject[]
    assert.equal(
      output.map(({ type, role, content }) => ({ type, role, content })),
      [
        { type: 'message', role: 'user', content: conversation[0]?.content },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And the lake?' }] },
        { type: 'compaction', role: undefined, content: undefined },
      ],
    )
    assert.match(String(getCompaction(output).encrypted_content), SUMMARY)
    const { input_tokens, output_tokens } = response.usage as JsonObject
    const [usage] = world.recorded.usages
    assert.equal([usage?.inputTokens, usage?.outputTokens], [input_tokens, output_tokens])
    assert.ok(Number(input_tokens) > 0)
    assert.is(upstream.open, 0)
  })

test('the official client compacts a conversation, and continues with any target', async () => {
  const { world, sent } = await open()
  const client = new OpenAI({
    apiKey: 'k',
    maxRetries: 0,
    baseURL: 'http://gateway/v1',
    fetch: (input, init) => world.gateway.fetch(new Request(input, init)),
  })
  const input = conversation as unknown as OpenAI.Responses.ResponseInputItem[] // tests define it once for all formats
  const compacted = await client.responses.compact({ model: models.messages, input })
  const further = [...compacted.output, { role: 'user', content: 'Go on.' }] as OpenAI.Responses.ResponseInputItem[]
  for (const model of Object.values(models)) {
    const { output_text } = await client.responses.create({ model, input: further })
    assert.is(output_text, '3 more')
    const request = JSON.stringify(sent(-1))
    for (const kept of ['Count the ducks.', 'And the lake?', SUMMARY, 'Go on.']) assert.match(request, kept)
    assert.not.match(request, /signalbox-1|I look at the pond|pond_0815/)
    const places = ['Count the ducks.', 'And the lake?', SUMMARY, 'Go on.'].map((text) => request.indexOf(text))
    assert.equal(
      places,
      places.toSorted((a, b) => a - b),
    )
  }
})

test("compacting again summarizes the earlier summary too, and keeps the user's messages", async () => {
  const { world, sent } = await open()
  const first = (await answerOf(await world.post(PATH, { model: models.chat, input: conversation }))).output
  const input = [...(first as JsonObject[]), { role: 'user', content: 'Go on.' }]
  const second = (await answerOf(await world.post(PATH, { model: models.gemini, input }))).output as JsonObject[]
  assert.match(JSON.stringify(sent(-1)), SUMMARY)
  assert.equal(
    second.map(({ type }) => type),
    ['message', 'message', 'message', 'compaction'],
  )
})

test("compaction keeps the last 64,000 tokens of the user's messages, and all instructions", async () => {
  const { world } = await open()
  const words = (name: string) => ({ role: 'user', content: `${name} ${'quack '.repeat(20_000)}` })
  const input = [{ role: 'developer', content: 'Be kind.' }, words('first'), words('second'), words('third')]
  const { output } = await answerOf(await world.post(PATH, { model: models.chat, input }))
  const texts = (output as { content?: { text: string }[] }[]).map(({ content }) => content?.[0]?.text.slice(0, 8))
  assert.equal(texts, ['Be kind.', 'second q', 'third qu', undefined])
})

/** Errors from Responses servers without the endpoint. */
const missingEndpoints: Readonly<Record<string, () => Response>> = {
  'a bare 404': () => new Response('404 page not found', { status: 404 }),
  'a FastAPI 404': () => json({ detail: 'Not Found' }, 404),
  'a 405': () => json({ detail: 'Method Not Allowed' }, 405),
  'a 501': () => json({ error: { message: 'Not implemented' } }, 501),
  'a 400 from the model': () =>
    json({ error: { message: 'This model does not support compaction.', type: 'invalid_request_error' } }, 400),
}

for (const [name, respond] of Object.entries(missingEndpoints))
  test(`after ${name}, the gateway requests a summary from the same target, and skips the endpoint for an hour`, async () => {
    const paths: string[] = []
    const { world } = await open((call) => {
      paths.push(call.url.pathname)
      return call.url.pathname.endsWith('/compact') ? respond() : obliging(call, 1)
    })
    const send = async () => {
      paths.length = 0
      const response = await world.post(PATH, { model: models.responses, ...requestOptions })
      const { output } = await answerOf(response)
      getCompaction(output as JsonObject[])
      return [...paths]
    }
    assert.equal(await send(), ['/v1/responses/compact', '/v1/responses'])
    assert.equal((await world.api.health.list()).health, [])
    assert.equal(await send(), ['/v1/responses'])
    await world.clock.advance(60 * 60 * 1_000)
    assert.equal(await send(), ['/v1/responses/compact', '/v1/responses'])
  })

test("compaction falls back to the next target if the gateway can't summarize a conversation", async () => {
  const { world, upstream } = await open(
    (call) => (call.provider === 'openai' ? json(native) : json({ detail: 'Not Found' }, 404)),
    { combos: { chain: [models.responses, 'openai/m'] } },
  )
  const input = [...conversation, { type: 'computer_call', id: 'cu_1', call_id: 'c', action: {} }]
  assert.equal(await answerOf(await world.post(PATH, { model: 'chain', input })), native)
  assert.equal(upstream.providers, ['responses', 'openai'])
})

test('after a model_not_found error, no summary is requested', async () => {
  const error = { message: 'The model `m` does not exist.', type: 'invalid_request_error', code: 'model_not_found' }
  const { world, upstream } = await open(() => json({ error }, 404))
  const response = await world.post(PATH, { model: models.responses, ...requestOptions })
  assert.is(response.status, 404)
  assert.is((await response.json()).error.code, 'model_not_found')
  assert.is(upstream.calls.length, 1)
})

test('compaction falls back to the next target after one fails', async () => {
  const { world, upstream } = await open(
    (call) => (call.provider === 'chat' ? json({ error: { message: 'down' } }, 500) : obliging(call, 1)),
    { combos: { chain: [models.chat, models.messages] } },
  )
  const response = await world.post(PATH, { model: 'chain', ...requestOptions })
  assert.is(response.headers.get('x-signalbox-target'), 'messages/m')
  getCompaction((await answerOf(response)).output as JsonObject[])
  assert.equal(upstream.providers, ['chat', 'messages'])
  assert.equal(
    world.recorded.attempts.map(({ outcome }) => outcome),
    ['server', 'answered'],
  )
})

/** Responses without a summary. */
const empty: Readonly<Record<string, Respond>> = {
  'an empty summary': (call: Call) => respondWith(call, ''),
  'a tool call': () =>
    json({
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }],
          },
        },
      ],
    }),
}

for (const [name, respond] of Object.entries(empty))
  test(`a response without a summary counts as a failure: ${name}`, async () => {
    const { world, upstream } = await open(
      (call) => (call.provider === 'chat' ? respond(call, 1) : obliging(call, 1)),
      {
        combos: { chain: [models.chat, models.messages] },
      },
    )
    getCompaction(
      (await answerOf(await world.post(PATH, { model: 'chain', ...requestOptions }))).output as JsonObject[],
    )
    assert.equal(upstream.providers, ['chat', 'messages'])
  })

test("a provider's rate limit on compaction reaches the client in the client's own format", async () => {
  const { world } = await open(() =>
    json({ type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } }, 429),
  )
  const response = await world.post(PATH, { model: models.messages, ...requestOptions })
  assert.is(response.status, 429)
  const { error } = await response.json()
  assert.equal([error.type, error.code], ['rate_limit_error', 'rate_limit_exceeded'])
})

test('compaction rejects references to stored responses and requests without an input', async () => {
  const { world, upstream } = await open()
  for (const [body, param] of [
    [{ ...requestOptions, previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{}, 'input'],
  ] as const) {
    const response = await world.post(PATH, { model: models.chat, ...body })
    assert.equal([response.status, (await response.json()).error.param], [400, param])
  }
  assert.is(upstream.calls.length, 0)
})

test('a client disconnect aborts the summary call', async () => {
  const { world, upstream } = await open(never)
  const controller = new AbortController()
  const pending = world.post(PATH, { model: models.messages, ...requestOptions }, { signal: controller.signal })
  while (upstream.calls.length === 0) await world.clock.advance(0)
  controller.abort()
  assert.is((await pending).status, 499)
  assert.is(upstream.open, 0)
})

test('strict mode accepts a summary that omits parts of the conversation', async () => {
  const { world } = await open()
  const headers = { 'x-signalbox-strict': 'true' }
  await answerOf(await world.post(PATH, { model: models.messages, ...requestOptions }, { headers }))
})
