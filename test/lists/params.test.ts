import type { EntryParams } from '../../src/types.ts'
import { createRequest, getEndpoint } from '../gate/support/endpoint-requests.ts'
import { metered } from '../gate/support/metered-providers.ts'
import { openGate } from '../gate/support/world.ts'
import { fakeUpstream } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('parameters of combo entries')

/** One provider per format. */
const catalog = {
  one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm' }] },
  open: { baseUrl: 'http://open.test/v1', format: 'openai-responses' as const, models: [{ id: 'r' }] },
  claude: { baseUrl: 'http://claude.test/v1', format: 'anthropic-messages' as const, models: [{ id: 'c' }] },
  google: { baseUrl: 'http://google.test/v1', format: 'gemini' as const, models: [{ id: 'g' }] },
}
const connections = Object.keys(catalog)
const models = ['one/m', 'open/r', 'claude/c', 'google/g']

const clients = {
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  'anthropic-messages': '/v1/messages',
  gemini: '/v1beta/models/{model}:generateContent',
  'ai-sdk': '/v4/ai/language-model',
}

async function open(params: EntryParams, extra = {}) {
  const upstream = fakeUpstream(metered({}, { tokens: 0 }))
  const combos = Object.fromEntries(models.map((model) => [model.replace('/', '-'), { models: [{ model, params }] }]))
  const world = await openWorld({ fetch: upstream, catalog, connections, combos, ...extra })
  async function send(path: string, model: string, body: object = {}, headers: Record<string, string> = {}) {
    const pending = createRequest(getEndpoint(path), model, 900)
    const beside = { 'ai-language-model-id': model, 'ai-language-model-specification-version': '4' }
    const full = JSON.stringify({ ...pending.body, ...body })
    const response = await world.post(pending.path, full, { headers: { ...beside, ...headers } })
    const text = await response.text()
    const sent = upstream.calls.at(-1)?.body
    return {
      status: response.status,
      text,
      warnings: response.headers.get('x-signalbox-warning'),
      sent: sent === undefined ? {} : JSON.parse(sent),
    }
  }
  return { ...world, upstream, send }
}

const params: EntryParams = {
  maxTokens: 700,
  temperature: 0.3,
  topK: 5,
  stopSequences: ['END'],
  seed: 11,
  presencePenalty: 0.5,
  frequencyPenalty: -0.5,
}

/** The request that each provider gets, and the options for which it has no field. */
const expected = {
  'one/m': {
    sent: {
      ...{ max_tokens: 700, temperature: 0.3, top_k: 5, stop: ['END'], seed: 11 },
      ...{ presence_penalty: 0.5, frequency_penalty: -0.5 },
    },
    lost: [],
  },
  'open/r': {
    sent: { max_output_tokens: 700, temperature: 0.3 },
    lost: ['topK', 'stop', 'seed', 'presencePenalty', 'frequencyPenalty'],
  },
  'claude/c': {
    sent: { max_tokens: 700, temperature: 0.3, top_k: 5, stop_sequences: ['END'] },
    lost: ['seed', 'presencePenalty', 'frequencyPenalty'],
  },
  'google/g': {
    sent: {
      generationConfig: {
        ...{ maxOutputTokens: 700, temperature: 0.3, topK: 5, stopSequences: ['END'], seed: 11 },
        ...{ presencePenalty: 0.5, frequencyPenalty: -0.5 },
      },
    },
    lost: [],
  },
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Removes the output limit fields and Gemini's configuration. */
const withoutLimit = ({
  max_tokens,
  max_completion_tokens,
  max_output_tokens,
  generationConfig,
  ...rest
}: Sent): Sent => rest

type Sent = Record<string, unknown>

for (const [format, path] of Object.entries(clients))
  for (const [model, { sent, lost }] of Object.entries(expected)) {
    test(`a request uses the combo entry's parameters (${format} client, ${model})`, async () => {
      const { send, upstream } = await open(params)
      const name = model.replace('/', '-')
      const plain = await send(path, model)
      const { status, text, warnings, sent: body } = await send(path, name)
      assert.is(status, 200, text)
      assert.equal(body, { ...withoutLimit(plain.sent), ...sent })
      const dropped = warnings?.split(', ').filter((value) => value.startsWith('dropped:')) ?? []
      assert.is(dropped.length, lost.length, warnings ?? '')
      for (const option of lost)
        assert.ok(
          dropped.some((value) => value.includes(option) || value.includes(snake(option))),
          `${option} in ${warnings}`,
        )
      const calls = upstream.calls.length
      const strict = await send(path, name, {}, { 'x-signalbox-strict': 'true' })
      assert.is(strict.status, lost.length > 0 ? 400 : 200, strict.text)
      assert.is(upstream.calls.length, calls + (lost.length > 0 ? 0 : 1))
    })
  }

const CHAT = '/v1/chat/completions'

/** A client's body for a provider of the same format, with fields that the entry overrides, and the body that is sent. */
const passed: Array<[what: string, { path: string; name: string; body: object; params: EntryParams; sent: Sent }]> = [
  [
    'the output limit under either name',
    {
      ...{ path: CHAT, name: 'one-m', params: { maxTokens: 5 } },
      body: { max_tokens: 10, max_completion_tokens: 20, vendor: { own: 1 } },
      sent: { vendor: { own: 1 }, max_tokens: 5, max_completion_tokens: undefined },
    },
  ],
  [
    "the reasoning effort instead of other vendors' fields",
    {
      ...{ path: CHAT, name: 'one-m', params: { reasoning: 'low' } },
      body: { thinking: { type: 'disabled' }, reasoning: { max_tokens: 9 }, temperature: 0.5 },
      sent: { reasoning_effort: 'low', thinking: undefined, reasoning: undefined, temperature: 0.5 },
    },
  ],
  [
    'the reasoning effort, and keeps its summary setting',
    {
      ...{ path: '/v1/responses', name: 'open-r', params: { reasoning: 'high' } },
      body: { reasoning: { effort: 'low', summary: 'auto' } },
      sent: { reasoning: { effort: 'high', summary: 'auto' } },
    },
  ],
  [
    "the effort as a budget, and loses a temperature that the model doesn't support with it",
    {
      ...{ path: '/v1/messages', name: 'claude-c', params: { reasoning: 'high' } },
      body: { max_tokens: 64_000, thinking: { type: 'adaptive' }, output_config: { effort: 'low' }, temperature: 0.5 },
      sent: {
        thinking: { type: 'enabled', budget_tokens: 16_384 },
        output_config: undefined,
        temperature: undefined,
      },
    },
  ],
  [
    "the entry's effort, and keeps its output format",
    {
      ...{ path: '/v1/messages', name: 'claude-c', params: { reasoning: 'none' } },
      body: { output_config: { effort: 'low', format: { type: 'json_schema', schema: {} } } },
      sent: { thinking: { type: 'disabled' }, output_config: { format: { type: 'json_schema', schema: {} } } },
    },
  ],
  [
    "Gemini options in the request's spelling",
    {
      ...{ path: clients.gemini, name: 'google-g', params: { topP: 0.5, maxTokens: 5 } },
      body: { generationConfig: undefined, generation_config: { top_p: 0.9, max_output_tokens: 8_000, seed: 1 } },
      sent: {
        generation_config: { top_p: 0.5, max_output_tokens: 5, seed: 1 },
        generationConfig: undefined,
      },
    },
  ],
  [
    'the Gemini thinking budget, and keeps whether thoughts are shown',
    {
      ...{ path: clients.gemini, name: 'google-g', params: { reasoning: 'low' } },
      body: { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' } } },
      sent: { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } } },
    },
  ],
  [
    "the entry's parameters if it is a legacy completion",
    {
      ...{ path: '/v1/completions', name: 'one-m', params: { maxTokens: 5, temperature: 0.1 } },
      body: { temperature: 1, suffix: 'x' },
      sent: { max_tokens: 5, temperature: 0.1, suffix: 'x' },
    },
  ],
]

for (const [label, { path, name, body, params: set, sent }] of passed) {
  test(`a passthrough request gets ${label}`, async () => {
    const { send } = await open(set)
    const { status, text, sent: found } = await send(path, name, body)
    assert.is(status, 200, text)
    for (const [field, value] of Object.entries(sent)) assert.equal(found[field], value, field)
  })
}

test('entry parameters change nothing else in a passthrough request', async () => {
  const { post, upstream } = await open({ temperature: 0.1 })
  const text =
    '{ "model": "one-m",\n "messages": [{"role":"user","content":"Hi \\u00e9"}], "temperature":1.50, "big":12345678901234567890, "top_p": 0.50 }'
  await (await post(CHAT, text)).text()
  const expectedText = text.replace('one-m', 'm').replace(' "temperature":1.50,', ' ')
  assert.is(
    upstream.calls[0]?.body.replace(/"temperature":0.1, ?/, '').replaceAll(' ', ''),
    expectedText.replaceAll(' ', ''),
  )
  assert.is(JSON.parse(upstream.calls[0]?.body ?? '').temperature, 0.1)
})

test("entry parameters don't change token counting requests", async () => {
  const { send } = await open({ maxTokens: 5, temperature: 0.1 })
  const counted = await send('/v1/messages/count_tokens', 'claude-c', { max_tokens: undefined })
  assert.equal([counted.sent.max_tokens, counted.sent.temperature], [undefined, undefined])
})

test('in nested combos, the innermost entry determines each parameter', async () => {
  const { send, api } = await open({ maxTokens: 5, temperature: 0.1 })
  await api.combos.create({ name: 'outer', models: [{ model: 'one-m', params: { temperature: 0.9, topP: 0.5 } }] })
  const { sent } = await send(CHAT, 'outer')
  assert.equal([sent.max_tokens, sent.temperature, sent.top_p], [5, 0.1, 0.5])
})

test('the same model is called again for an entry with different parameters', async () => {
  const respond = metered({}, { tokens: 0 })
  const upstream = fakeUpstream((call, index) =>
    index === 1 ? new Response('{}', { status: 503 }) : respond(call, index),
  )
  const models = [
    { model: 'one/m', params: { maxTokens: 5 } },
    { model: 'one/m', params: { maxTokens: 6 } },
  ]
  const { chat, api } = await openWorld({ fetch: upstream, catalog, connections, combos: { twice: { models } } })
  assert.is((await chat({ model: 'twice', messages: [{ role: 'user', content: 'Hi' }] })).status, 200)
  assert.equal(
    upstream.calls.map(({ body }) => JSON.parse(body).max_tokens),
    [5, 6],
  )
  const { targets } = await api.explain({ model: 'twice' })
  assert.equal(
    targets.map(({ use, params: shown }) => [use, shown]),
    [
      ['first', { maxTokens: 5 }],
      ['next', { maxTokens: 6 }],
    ],
  )
})

test('entries with equal parameters count as one target, regardless of where the parameters come from', async () => {
  const halved = { models: [{ model: 'one/m', params: { topP: 0.5 } }] }
  const upstream = fakeUpstream(() => new Response('{}', { status: 500 }))
  const world = await openWorld({
    fetch: upstream,
    catalog,
    connections: ['one'],
    combos: {
      inner: halved,
      twin: halved,
      repeated: { models: [...halved.models, ...halved.models] },
      empty: { models: ['one/m', { model: 'one/m', params: {} }] },
      nested: {
        models: [
          { model: 'inner', params: { temperature: 0.1 } },
          { model: 'twin', params: { temperature: 0.1 } },
          { model: 'one/m', params: { temperature: 0.1, topP: 0.5 } },
        ],
      },
    },
  })
  for (const model of ['repeated', 'empty', 'nested']) {
    const before = upstream.calls.length
    await (await world.chat({ model })).text()
    assert.is(upstream.calls.length - before, 1, model)
    await world.clock.advance(3_600_000)
    const { targets } = await world.api.explain({ model })
    const [first, ...others] = targets.map(({ use }) => use)
    assert.equal([first, ...new Set(others)], ['first', 'skipped'], model)
  }
})

test("a key's limits take an entry's output limit into account, and lower it if less is left", async () => {
  const { gateway, upstream, chat } = await openGate({ limits: { tokens: { total: 2_000 } } })
  const combo = (name: string, maxTokens: number) =>
    gateway.api.combos.create({ name, models: [{ model: 'one/m', params: { maxTokens } }] })
  await combo('short', 50)
  await combo('long', 3_000)
  const getSentLimit = () => JSON.parse(upstream.calls.at(-1)?.body ?? '').max_tokens
  assert.is((await chat({ model: 'one/m', max_tokens: 3_000 })).status, 402, 'not enough tokens are left')
  assert.is((await chat({ model: 'short', max_tokens: 3_000 })).status, 200)
  assert.is(getSentLimit(), 50)
  const lowered = await chat({ model: 'long', max_tokens: 10 })
  assert.is(lowered.status, 200, await lowered.clone().text())
  assert.ok(getSentLimit() > 1_500 && getSentLimit() < 2_000, `${getSentLimit()} of 2,000 tokens`)
  assert.match(lowered.headers.get('x-signalbox-warning') ?? '', /clamped:max_completion_tokens=\d+/)
})
