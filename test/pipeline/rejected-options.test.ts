import type { JsonObject } from '../../src/lib/json.ts'
import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('options that a provider rejects by name')

type CreateError = (field: string) => { status?: number; body: unknown }

/** Opens a provider that rejects requests with any of `fields`, one field at a time, with the error from `createError`. */
function strictServer(fields: readonly string[], createError: CreateError) {
  return fakeUpstream(({ body }) => {
    const sent: JsonObject = JSON.parse(body)
    const field = fields.find((name) => name in sent)
    if (field !== undefined) {
      const { status = 400, body: error } = createError(field)
      return typeof error === 'string' ? new Response(error, { status }) : json(error, status)
    }
    return sent.stream ? sse(STREAM) : json(chatResponse('fine'))
  })
}

const STREAM = [
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'fine' } }] })}\n\n`,
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`,
  'data: [DONE]\n\n',
]

const unknownField: CreateError = (field) => ({ body: { error: { message: `json: unknown field "${field}"` } } })
const callOptions = { model: 'one/m', messages: [{ role: 'user', content: 'Hi' }], top_k: 5, temperature: 0.5 }
const bodies = (upstream: ReturnType<typeof strictServer>) =>
  upstream.calls.map(({ body }): JsonObject => JSON.parse(body))
const getWarnings = (response: Response) => response.headers.get('x-signalbox-warning')

/** Errors that servers return for an unknown field. */
const wordings: Record<string, CreateError> = {
  'a server in Go': unknownField,
  'a server in Rust': (field) => ({
    status: 422,
    body: `Failed to deserialize the JSON body into the target type: unknown field \`${field}\`, expected one of \`model\`, \`messages\`, \`temperature\``,
  }),
  FastAPI: (field) => ({
    status: 422,
    body: {
      detail: [{ type: 'extra_forbidden', loc: ['body', field], msg: 'Extra inputs are not permitted', input: 5 }],
    },
  }),
  'older vLLM': (field) => ({
    body: {
      object: 'error',
      message: `[{'type': 'extra_forbidden', 'loc': ('body', '${field}'), 'msg': 'Extra inputs are not permitted', 'input': 5}]`,
      type: 'BadRequestError',
      code: 400,
    },
  }),
  OpenAI: (field) => ({
    body: {
      error: {
        message: `Unknown parameter: '${field}'.`,
        type: 'invalid_request_error',
        param: field,
        code: 'unknown_parameter',
      },
    },
  }),
  'older OpenAI': (field) => ({
    body: {
      error: {
        message: `Unrecognized request argument supplied: ${field}`,
        type: 'invalid_request_error',
        param: null,
      },
    },
  }),
  Groq: (field) => ({
    body: { error: { message: `property '${field}' is unsupported`, type: 'invalid_request_error' } },
  }),
  'a schema validator': (field) => ({
    body: { error: { message: `Additional properties are not allowed ('${field}' was unexpected)` } },
  }),
  'a Python server': (field) => ({
    body: { error: { message: `create() got an unexpected keyword argument '${field}'` } },
  }),
  'a proxy that only returns the field name': (field) => ({
    body: { error: { message: 'Unsupported parameter', param: field } },
  }),
}

for (const [name, createError] of Object.entries(wordings)) {
  test(`a field that ${name} rejects is dropped with a warning and omitted from later requests`, async () => {
    const upstream = strictServer(['top_k'], createError)
    const { messages } = await openWorld({ fetch: upstream, connections: ['one'] })
    const first = await messages(callOptions)
    assert.is(first.status, 200, await first.clone().text())
    assert.is(getWarnings(first), 'dropped:top_k')
    assert.equal(
      bodies(upstream).map((body) => ['top_k' in body, body.temperature]),
      [
        [true, 0.5],
        [false, 0.5],
      ],
    )
    const second = await messages(callOptions)
    assert.equal([second.status, getWarnings(second), upstream.calls.length], [200, 'dropped:top_k', 3])
  })
}

test('a streaming request is retried without the rejected option', async () => {
  const upstream = strictServer(['top_k'], unknownField)
  const { messages } = await openWorld({ fetch: upstream, connections: ['one'] })
  const response = await messages({ ...callOptions, stream: true })
  assert.match(await response.text(), /"text":"fine"[\s\S]*message_stop/)
  assert.equal([response.status, getWarnings(response), upstream.calls.length], [200, 'dropped:top_k', 2])
})

test("a warning for a Gemini client contains Gemini's name for the field", async () => {
  const upstream = strictServer(['top_k'], unknownField)
  const { post } = await openWorld({ fetch: upstream, connections: ['one'] })
  const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: { topK: 5 } }
  const response = await post('/v1beta/models/one/m:generateContent', body)
  assert.equal([response.status, getWarnings(response)], [200, 'dropped:generationConfig.topK'])
})

test('a rejected nested field is recognized by the last part of its path', async () => {
  const message = `Invalid JSON payload received. Unknown name "topK" at 'generation_config': Cannot find field.`
  const upstream = fakeUpstream(({ body }) =>
    'topK' in JSON.parse(body).generationConfig
      ? json({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }, 400)
      : json({ candidates: [{ content: { parts: [{ text: 'fine' }] }, finishReason: 'STOP' }] }),
  )
  const { messages } = await openWorld({ fetch: upstream, connections: ['google'] })
  const response = await messages({ ...callOptions, model: 'google/g' })
  assert.equal([response.status, getWarnings(response), upstream.calls.length], [200, 'dropped:top_k', 2])
})

test('several rejected fields are dropped one by one', async () => {
  const upstream = strictServer(['top_k', 'safety_identifier', 'stop'], unknownField)
  const { messages } = await openWorld({ fetch: upstream, connections: ['one'] })
  const response = await messages({ ...callOptions, metadata: { user_id: 'u' }, stop_sequences: ['x'] })
  assert.is(response.status, 200)
  assert.equal(getWarnings(response)?.split(', ').sort(), [
    'dropped:metadata.user_id',
    'dropped:stop_sequences',
    'dropped:top_k',
  ])
  assert.is(upstream.calls.length, 4)
})

test('an attempt drops at most three rejected fields, and the next request continues from there', async () => {
  const upstream = strictServer(['top_k', 'safety_identifier', 'stop', 'temperature'], unknownField)
  const { messages } = await openWorld({ fetch: upstream, connections: ['one'] })
  const body = { ...callOptions, metadata: { user_id: 'u' }, stop_sequences: ['x'] }
  const first = await messages(body)
  assert.equal([first.status, upstream.calls.length], [400, 4])
  const second = await messages(body)
  assert.equal([second.status, upstream.calls.length], [200, 6])
})

test('stream_options is dropped if the provider rejects it', async () => {
  const upstream = strictServer(['stream_options'], unknownField)
  const { messages } = await openWorld({ fetch: upstream, connections: ['one'] })
  const response = await messages({ ...callOptions, stream: true })
  assert.match(await response.text(), /"text":"fine"[\s\S]*message_stop/)
  await messages({ ...callOptions, stream: true })
  assert.equal([response.status, getWarnings(response), upstream.calls.length], [200, null, 3])
})

test('an option that one connection rejects is still sent to others', async () => {
  const upstream = strictServer(['top_k'], unknownField)
  const { messages } = await openWorld({ fetch: upstream, connections: ['one', 'two'] })
  await messages(callOptions)
  await messages({ ...callOptions, model: 'two/m' })
  assert.equal(
    upstream.calls.map(({ provider, body }) => [provider, 'top_k' in JSON.parse(body)]),
    [
      ['one', true],
      ['one', false],
      ['two', true],
      ['two', false],
    ],
  )
})

test('a rejected option is sent again after a day', async () => {
  const upstream = strictServer(['top_k'], unknownField)
  const { messages, clock } = await openWorld({ fetch: upstream, connections: ['one'] })
  await messages(callOptions)
  await clock.advance(24 * 60 * 60_000 + 1)
  await messages(callOptions)
  assert.is(upstream.calls.length, 4)
})

/** Errors that the client should get, each after a single call. */
const kept: Record<string, [fields: string[], createError: CreateError, status: number]> = {
  'a value out of range': [
    ['top_k'],
    () => ({ body: { error: { message: 'top_k must be at least 10', param: 'top_k' } } }),
    400,
  ],
  'an unsupported value': [
    ['temperature'],
    () => ({
      body: {
        error: {
          message: "Unsupported value: 'temperature' does not support 0.5 with this model.",
          param: 'temperature',
        },
      },
    }),
    400,
  ],
  'an unknown model': [['top_k'], () => ({ body: { error: { message: 'unknown model "m"' } } }), 400],
  'a field that was not sent': [['top_k'], () => unknownField('seed'), 400],
  'the token limit': [['max_tokens'], unknownField, 400],
  'the messages': [['messages'], unknownField, 400],
}

for (const [name, [fields, createError, status]] of Object.entries(kept)) {
  test(`a rejection of ${name} reaches the client`, async () => {
    const upstream = strictServer(fields, createError)
    const { messages } = await openWorld({ fetch: upstream, connections: ['one'] })
    const response = await messages(callOptions)
    assert.equal([response.status, upstream.calls.length], [status, 1])
  })
}

test("a strict request returns the provider's rejection", async () => {
  const upstream = strictServer(['top_k'], unknownField)
  const { messages } = await openWorld({ fetch: upstream, connections: ['one'] })
  const response = await messages(callOptions, { headers: { 'x-signalbox-strict': 'true' } })
  assert.equal([response.status, upstream.calls.length], [400, 1])
  assert.match(await response.text(), /unknown field/)
})

test("a provider that still rejects an option after it was dropped isn't called a third time", async () => {
  const upstream = fakeUpstream(() => json(unknownField('top_k').body, 400))
  const { messages } = await openWorld({ fetch: upstream, connections: ['one'] })
  assert.equal([(await messages(callOptions)).status, upstream.calls.length], [400, 2])
  await messages(callOptions)
  assert.ok('top_k' in JSON.parse(upstream.calls[2]?.body ?? ''), "the field wasn't the cause, so it is sent again")
})

test("a field in a passed-through request isn't dropped", async () => {
  const upstream = strictServer(['top_k'], unknownField)
  const { chat } = await openWorld({ fetch: upstream, connections: ['one'] })
  assert.equal([(await chat({ ...callOptions })).status, upstream.calls.length], [400, 1])
})
