import { matchesSchema } from '../../src/lib/matches-schema.ts'
import type { ResponseCondition } from '../../src/types.ts'
import { createRequest, getEndpoint } from '../gate/support/endpoint-requests.ts'
import { metered } from '../gate/support/metered-providers.ts'
import { catalog as gateCatalog } from '../gate/support/world.ts'
import { chatChunk, chatEvents, chatResponse, messageEvents, messageResponse } from '../pipeline/support/responses.ts'
import { type Call, fakeUpstream, getBody, json, type Respond, sse } from '../pipeline/support/upstream.ts'
import { catalog, openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('conditions on responses')

const messages = [{ role: 'user', content: 'Hi' }]
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const response_format = { type: 'json_schema', json_schema: { name: 'place', schema } }
const good = '{"city":"Ulm"}'

const priced = { ...catalog, one: { ...catalog.one, models: [{ id: 'm', price: { input: 1, output: 1 } }] } }
const connections = ['one', 'two', 'three', 'claude', 'google']

async function open(respond: Respond, extra = {}) {
  const upstream = fakeUpstream(respond)
  const world = await openWorld({ fetch: upstream, catalog: priced, connections, ...extra })
  const send = (on: ResponseCondition[], models: string[], body: object = {}, init: RequestInit = {}) => {
    const headers = { 'x-signalbox-models': JSON.stringify({ models, on }) }
    return world.chat({ model: 'said', messages, ...body }, { ...init, headers })
  }
  return { ...world, upstream, send }
}

const filteredChat = {
  ...chatResponse('Half an'),
  choices: [{ index: 0, message: { role: 'assistant', content: 'Half an' }, finish_reason: 'content_filter' }],
}
const refusingChat = {
  ...chatResponse(),
  choices: [{ index: 0, message: { role: 'assistant', content: null, refusal: 'No.' }, finish_reason: 'stop' }],
}
const blockedGemini = {
  promptFeedback: { blockReason: 'SAFETY' },
  usageMetadata: { promptTokenCount: 7, totalTokenCount: 7 },
}
const refusedMessage = { ...messageResponse('No'), stop_reason: 'refusal' }

/** Filtered responses, and the models that return them. */
const filtered: Array<[what: string, model: string, body: object, status?: number]> = [
  ['a filtered chat completion', 'one/m', filteredChat],
  ['a refusal', 'one/m', refusingChat],
  ['a Messages refusal', 'claude/c', refusedMessage],
  ['a blocked Gemini prompt', 'google/g', blockedGemini],
  ['a content filter error', 'one/m', { error: { message: 'The response was filtered', code: 'content_filter' } }, 400],
]

const clients = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1beta/models/{model}:generateContent',
  '/v4/ai/language-model',
]

for (const [label, model, body, status] of filtered)
  for (const path of clients) {
    test(`with "content", ${label} falls back to the next model (${path})`, async () => {
      const pending = createRequest(getEndpoint(path), 'said', 900)
      const { post, upstream, recorded } = await open(({ provider }) =>
        provider === 'two' ? json(chatResponse()) : json(body, status),
      )
      const headers = (on: ResponseCondition[]) => ({
        headers: {
          'x-signalbox-models': JSON.stringify({ models: [model, 'two/m'], on }),
          'ai-language-model-id': 'said',
          'ai-language-model-specification-version': '4',
        },
      })
      const without = await post(pending.path, pending.body, headers([]))
      await without.text()
      assert.is(upstream.calls.length, 1, 'without conditions, only failures fall back')
      const response = await post(pending.path, pending.body, headers(['content']))
      assert.is(response.status, 200, await response.clone().text())
      assert.match(await response.text(), 'Hello')
      assert.is(response.headers.get('x-signalbox-target'), 'two/m')
      const [first, second] = recorded.requests.at(-1)?.attempts ?? []
      assert.equal([first?.outcome, second?.outcome], ['filtered', 'answered'])
      assert.equal(recorded.errors, [])
    })
  }

test(`with "schema", a response that doesn't match the schema falls back, and its tokens are charged`, async () => {
  const responses = ['no JSON', '{"city":5}', good]
  const { send, recorded, upstream } = await open((_, index) => json(chatResponse(responses[index - 1])))
  const response = await send(['schema'], ['one/m', 'two/m', 'three/m'], { response_format })
  const { choices } = await response.json()
  assert.is(choices[0].message.content, good)
  assert.equal(upstream.providers, ['one', 'two', 'three'])
  const [record] = recorded.requests
  assert.equal(
    record?.attempts.map(({ outcome, status, usage }) => [outcome, status, usage?.inputTokens]),
    [
      ['schema', 200, 7],
      ['schema', 200, 7],
      ['answered', 200, 7],
    ],
  )
  assert.is(record?.attempts[0]?.message, "The response is not JSON that matches the request's schema.")
  assert.is(record?.usage?.inputTokens, 21)
  assert.is(record?.attempts[0]?.costUsd, 8e-6)
  assert.match(response.headers.get('x-signalbox-attempts') ?? '', /schema/)
})

test('if every response is unwanted, the client gets the last one unchanged, even after other failures', async () => {
  for (const [stream, last] of [
    [false, 'two'],
    [true, 'two'],
    [false, 'one'],
    [true, 'one'],
  ] as const) {
    const { send, recorded } = await open(({ provider }) => {
      if (last === 'one' && provider === 'two') return json({ error: { message: 'It broke.' } }, 503)
      const text = `no JSON of ${provider}`
      return stream ? sse(chatEvents(text)) : json(chatResponse(text))
    })
    const response = await send(['schema'], ['one/m', 'two/m'], { response_format, stream })
    assert.is(response.status, 200)
    const text = await response.text()
    assert.match(
      stream ? (text.match(/"content":"[^"]*"/g)?.join('') ?? '') : text,
      stream ? `${last}"` : `no JSON of ${last}`,
    )
    if (stream) assert.match(text, /data: \[DONE\]\n\n$/)
    assert.is(response.headers.get('x-signalbox-target'), `${last}/m`)
    const [record] = recorded.requests
    assert.equal([record?.attempts.length, record?.attempts[0]?.outcome, record?.end], [2, 'schema', 'complete'])
    assert.equal(recorded.errors, [])
  }
})

test('"schema" has no effect on tool calls or without an output format', async () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
  const calling = {
    ...chatResponse(),
    choices: [
      { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' },
    ],
  }
  const { send, upstream } = await open((_, index) => json(index === 1 ? chatResponse() : calling))
  await send(['schema'], ['one/m', 'two/m'])
  await send(['schema'], ['one/m', 'two/m'], { response_format })
  assert.equal(upstream.providers, ['one', 'one'])
})

for (const [name, models] of [
  ['passthrough', ['one/m', 'two/m']],
  ['translated', ['claude/c', 'two/m']],
] as const) {
  const events = (provider: string, text: string) => (provider === 'claude' ? messageEvents(text) : chatEvents(text))

  test(`a ${name} stream is buffered until it matches the schema`, async () => {
    const { send, recorded } = await open(({ provider }) =>
      sse(events(provider, provider === 'two' ? good : 'no JSON at all')),
    )
    const response = await send(['schema'], [...models], { response_format, stream: true })
    const text = await response.text()
    assert.not.match(text, 'JSON')
    assert.match(text, /Ulm/)
    assert.match(text, /data: \[DONE\]\n\n$/)
    const [record] = recorded.requests
    assert.equal(
      record?.attempts.map(({ outcome }) => outcome),
      ['schema', 'answered'],
    )
    assert.ok(record?.attempts.every(({ usage }) => (usage?.outputTokens ?? 0) > 0))
  })

  test(`a ${name} stream that breaks off while buffered falls back to the next model`, async () => {
    const { send, recorded } = await open(({ provider }) => {
      if (provider === 'two') return sse(chatEvents(good))
      return new Response(
        getBody(
          events(provider, good)
            .slice(0, -3)
            .map((event) => new TextEncoder().encode(event)),
          'close',
        ),
        {
          headers: { 'content-type': 'text/event-stream' },
        },
      )
    })
    const response = await send(['schema'], [...models], { response_format, stream: true })
    assert.match(await response.text(), /data: \[DONE\]\n\n$/)
    assert.equal(
      recorded.requests[0]?.attempts.map(({ outcome }) => outcome),
      ['network', 'answered'],
    )
  })

  test(`the client gets an error if the ${name} stream of every model breaks off`, async () => {
    const { send, recorded } = await open(
      ({ provider }) =>
        new Response(
          getBody(
            events(provider, good)
              .slice(0, -3)
              .map((event) => new TextEncoder().encode(event)),
            'error',
          ),
          {
            headers: { 'content-type': 'text/event-stream' },
          },
        ),
    )
    const response = await send(['schema'], [...models], { response_format, stream: true })
    assert.is(response.status, 502)
    assert.not.match(await response.text(), 'Ulm')
    assert.is(recorded.requests[0]?.end, 'failed')
  })

  test(`aborting a buffered ${name} stream ends the provider call`, async () => {
    const controller = new AbortController()
    const { send, upstream, recorded } = await open(({ provider }) => {
      setTimeout(() => controller.abort(), 5)
      return new Response(
        getBody(
          events(provider, good)
            .slice(0, 4)
            .map((event) => new TextEncoder().encode(event)),
          'hang',
        ),
        {
          headers: { 'content-type': 'text/event-stream' },
        },
      )
    })
    const response = await send(
      ['schema'],
      [...models],
      { response_format, stream: true },
      { signal: controller.signal },
    ).catch(() => undefined)
    assert.ok(response === undefined || response.status === 499)
    assert.equal([upstream.calls.length, upstream.open], [1, 0])
    assert.is(recorded.requests[0]?.end, 'aborted')
  })
}

const form = { type: 'json_schema', name: 'place', schema }
/** A request for streamed JSON with a schema in each format, and how its stream ends. */
const streaming: Array<[path: string, body: object, end: RegExp]> = [
  ['/v1/chat/completions', { stream: true, response_format }, /data: \[DONE\]\n\n$/],
  ['/v1/responses', { stream: true, text: { format: form } }, /event: response\.completed\n/],
  [
    '/v1/messages',
    { stream: true, output_config: { format: { type: 'json_schema', schema } } },
    /event: message_stop\n/,
  ],
  [
    '/v1beta/models/{model}:streamGenerateContent',
    { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } },
    /"finishReason": ?"STOP"/,
  ],
  ['/v4/ai/language-model', { responseFormat: { type: 'json', schema } }, /"type":"finish"/],
]
const streamed = { one: 'one/m', open: 'open/r', claude: 'claude/c', google: 'google/g' }

for (const [path, body, end] of streaming)
  for (const [provider, model] of Object.entries(streamed)) {
    test(`a buffered stream from ${model} arrives complete at ${path}`, async () => {
      const words = (call: Call) => metered({ words: [call.provider === provider ? 'no JSON' : good] }, { tokens: 0 })
      const { post, recorded } = await open((call, index) => words(call)(call, index), {
        catalog: gateCatalog,
        connections: ['one', 'two', 'open', 'claude', 'google'],
      })
      const pending = createRequest(getEndpoint(path), 'said', 900)
      const send = async (models: string[]) => {
        const headers = {
          'x-signalbox-models': JSON.stringify({ models, on: ['content', 'schema'] }),
          'ai-language-model-id': 'said',
          'ai-language-model-streaming': 'true',
          'ai-language-model-specification-version': '4',
        }
        const response = await post(pending.path, { ...pending.body, ...body }, { headers })
        return { target: response.headers.get('x-signalbox-target'), text: await response.text() }
      }
      const wanted = await send([model, 'two/m'])
      assert.is(wanted.target, 'two/m', wanted.text)
      assert.match(wanted.text, /Ulm/)
      assert.match(wanted.text, end)
      const only = await send([model])
      assert.is(only.target, model)
      assert.match(only.text, /no JSON/)
      assert.match(only.text, end)
      assert.equal(
        recorded.requests.map(({ attempts, end: ended }) => [attempts.map(({ outcome }) => outcome), ended]),
        [
          [['schema', 'answered'], 'complete'],
          [['schema'], 'complete'],
        ],
      )
      assert.equal(recorded.errors, [])
    })
  }

test('the client gets keep-alives while a stream is buffered', async () => {
  let resume = () => {}
  const extra = new Promise<void>((resolve) => {
    resume = resolve
  })
  async function* streamSlowly() {
    yield* chatEvents(good).slice(0, 2)
    await extra
    yield* chatEvents(good).slice(2)
  }
  const { send, clock, upstream } = await open(() => sse(streamSlowly()))
  const pending = send(['schema'], ['one/m'], { response_format, stream: true })
  while (upstream.calls.length === 0) await clock.advance(0)
  await clock.advance(15_000)
  const reader = (await pending).body?.getReader()
  const decode = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)
  assert.match(decode((await reader?.read())?.value), /^: /)
  resume()
  let text = ''
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += decode(part.value)
  assert.match(text, /Ulm/)
  assert.match(text, /data: \[DONE\]\n\n$/)
})

test('a stream that the content filter ends falls back only if it has no content yet', async () => {
  const end = chatChunk({}, 'content_filter')
  const { send, recorded } = await open(({ provider }, index) => {
    if (provider === 'two') return sse(chatEvents())
    return sse(index === 1 ? [end, 'data: [DONE]\n\n'] : [chatChunk({ content: 'Half' }), end, 'data: [DONE]\n\n'])
  })
  assert.match(await (await send(['content'], ['one/m', 'two/m'], { stream: true })).text(), 'Hello')
  assert.equal(
    recorded.requests[0]?.attempts.map(({ outcome }) => outcome),
    ['filtered', 'answered'],
  )
  const started = await (await send(['content'], ['one/m', 'two/m'], { stream: true })).text()
  assert.match(started, 'Half')
  assert.match(started, 'content_filter')
})

test('a combo with the condition "content" falls back after a filtered response', async () => {
  const combos = { fast: { models: ['one/m', 'two/m'], on: ['content' as const] } }
  const { chat, upstream, api } = await open(
    ({ provider }) => json(provider === 'one' ? filteredChat : chatResponse()),
    {
      combos,
    },
  )
  assert.is((await chat({ model: 'fast', messages })).headers.get('x-signalbox-target'), 'two/m')
  assert.equal(upstream.providers, ['one', 'two'])
  const [combo] = (await api.combos.list()).combos
  assert.equal(combo?.on, ['content'])
})

test("unwanted responses don't count against a model's health", async () => {
  const { send, api } = await open(({ provider }) => json(provider === 'one' ? filteredChat : chatResponse()))
  for (let index = 0; index < 8; index++) await (await send(['content'], ['one/m', 'two/m'])).text()
  const { targets } = await api.explain({ model: 'one/m' })
  assert.is(targets[0]?.use, 'first')
})

const schemas: Array<[what: string, schema: object, value: unknown, isMatch: boolean]> = [
  ['a type', { type: 'integer' }, 5, true],
  ['another type', { type: 'integer' }, 5.5, false],
  ['a missing field', schema, {}, false],
  ['a reference', { $defs: { a: { type: 'string' } }, type: 'array', items: { $ref: '#/$defs/a' } }, ['x', 5], false],
  ['draft 7', { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }, [5], false],
  ['a field named like a keyword', { properties: { pattern: { type: 'string' } } }, { pattern: 5 }, false],
  ["a pattern, which isn't checked", { type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(50)}!`, true],
  [
    "pattern properties, which aren't checked",
    { patternProperties: { '^a': {} }, additionalProperties: false },
    { b: 1 },
    true,
  ],
  ['an unresolvable reference', { $ref: '#/nowhere' }, 5, true],
]
for (const [label, input, value, isMatch] of schemas)
  test(`matchesSchema validates a value: ${label}`, () => assert.is(matchesSchema(value, { ...input }), isMatch))

test('matchesSchema accepts a value if checking the schema would take years', () => {
  const $defs: Record<string, object> = { d0: { type: 'string' } }
  for (let index = 1; index < 60; index++)
    $defs[`d${index}`] = { allOf: [{ $ref: `#/$defs/d${index - 1}` }, { $ref: `#/$defs/d${index - 1}` }] }
  assert.is(matchesSchema('x', { $defs, $ref: '#/$defs/d59' }), true)
})
