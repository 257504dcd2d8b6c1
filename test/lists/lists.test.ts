import { metered } from '../gate/support/metered-providers.ts'
import { openGate } from '../gate/support/world.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, type Respond, sse } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('model lists in requests')

const messages = [{ role: 'user', content: 'Hi' }]
const listed = (list: unknown) => ({
  headers: { 'x-signalbox-models': typeof list === 'string' ? list : JSON.stringify(list) },
})

async function open(respond: Respond = () => json(chatResponse()), extra = {}) {
  const upstream = fakeUpstream(respond)
  const world = await openWorld({ fetch: upstream, ...extra })
  const send = (list: unknown, body: object = {}) => world.chat({ model: 'said', messages, ...body }, listed(list))
  return { ...world, upstream, send }
}

const readError = async (response: Response) => {
  const { error } = (await response.json()) as { error: { message: string; code?: string } }
  return error.message
}

const failingFirst: Respond = ({ provider }) => (provider === 'one' ? json({ error: {} }, 503) : json(chatResponse()))

test("a list's models are tried in order, and the model in the body is ignored", async () => {
  const { send, upstream, recorded } = await open(failingFirst)
  const response = await send({ models: ['one/m', { model: 'two/m', params: { maxTokens: 7 } }, 'three/m'] })
  assert.is(response.status, 200, await response.text())
  assert.equal(upstream.providers, ['one', 'two'])
  assert.equal(
    upstream.calls.map(({ body }) => JSON.parse(body).max_tokens),
    [undefined, 7],
  )
  assert.is(upstream.calls[0]?.headers.get('x-signalbox-models'), null, 'no provider gets the list')
  assert.match(response.headers.get('x-signalbox-attempts') ?? '', /one.*503.*two/)
  const [record] = recorded.requests
  assert.equal([record?.model, record?.attempts.length], ['said', 2])
  assert.match(record?.attempts[1]?.via ?? '', /^x-signalbox-models:fallback$/)
})

test('comma-separated names form a list', async () => {
  const { send, upstream } = await open(failingFirst)
  assert.is((await send(' one/m ,two/m')).status, 200)
  assert.equal(upstream.providers, ['one', 'two'])
})

test("a list can contain combos and aliases, and names that don't resolve are skipped", async () => {
  const extra = {
    combos: { inner: { models: ['one/m', { model: 'three/m', params: { topP: 0.5 } }] } },
    aliases: { short: 'two/m' },
  }
  const { send, upstream } = await open(
    ({ provider }) => (provider === 'two' ? json(chatResponse()) : json({}, 500)),
    extra,
  )
  const outer = { model: 'inner', params: { topP: 0.1, temperature: 0.2 } }
  assert.is((await send({ models: ['nowhere/m', outer, 'short'] })).status, 200)
  assert.equal(upstream.providers, ['one', 'three', 'two'])
  assert.equal(
    upstream.calls.map(({ body }) => [JSON.parse(body).top_p, JSON.parse(body).temperature]),
    [
      [0.1, 0.2],
      [0.5, 0.2],
      [undefined, undefined],
    ],
  )
})

const NAMES_NOTHING =
  'no active connection serves it. Ask the operator of this gateway to connect one of its providers or to change its models.'
const MANY = ['a/m', 'b/m', 'c/m', 'd/m', 'e/m', 'f/m', 'g/m']
const deadEnds: [models: string[], message: string][] = [
  [['nowhere/m', 'nothing'], `("nowhere/m", "nothing") is available: ${NAMES_NOTHING}`],
  [MANY, `("a/m", "b/m", "c/m", "d/m", "e/m" and 2 more) is available: ${NAMES_NOTHING}`],
  [
    ['away/m', 'nothing', 'away/n'],
    '("away/m", "nothing", "away/n") is available: there is no active connection to "away". Ask the operator of this gateway to add or activate one at /api/connections (POST {"provider":"away","apiKey":"<API key>"}).',
  ],
]
for (const [models, message] of deadEnds) {
  test(`a list that doesn't resolve (${models}) returns a 404 that names its models`, async () => {
    const provider = { baseUrl: 'http://provider.test/v1', models: [{ id: 'm' }] }
    const extra = { catalog: { one: provider, away: provider }, connections: ['one'] }
    const { send, upstream } = await open(undefined, { ...extra, combos: { said: { models: [] } } })
    const response = await send({ models })
    assert.is(response.status, 404)
    assert.is(await readError(response), `None of the models in "x-signalbox-models" ${message}`)
    assert.is(upstream.calls.length, 0)
  })
}

test("a list's conditions, weights, and strategy apply", async () => {
  const { send, upstream } = await open()
  await send({ models: [{ model: 'one/m', when: { tools: true } }, 'two/m'] })
  await send({
    models: [
      { model: 'one/m', weight: 0 },
      { model: 'three/m', weight: 5 },
    ],
    strategy: 'weighted',
  })
  assert.equal(upstream.providers, ['two', 'three'])
  const left = await send({ models: [{ model: 'one/m', when: { tools: true } }] })
  assert.is(left.status, 400)
  assert.match(
    await readError(left),
    /^No reachable model in the list "x-signalbox-models" matches this request\. Check the conditions \("when"\)/,
  )
})

const invalidLists: Array<[list: unknown, message: string | RegExp]> = [
  ['', 'It is not valid JSON.'],
  ['{', 'It is not valid JSON.'],
  ['["one/m"]', /^Send an object with "models"/],
  ['"one/m"', /^Send an object with "models"/],
  [',', '"models[0]" must not be blank'],
  [{}, '"models" is required and must be an array of model names'],
  [{ models: [] }, '"models" must contain at least one model'],
  [{ models: 'one/m' }, /^"models" must be an array of model names/],
  [{ models: ['one/m', 5] }, '"models[1]" must be a string or an object with "model"'],
  [{ models: ['one/m', { model: 'two/m', params: { foo: 1 } }] }, /^Unknown field "models\[1\]\.params\.foo"\./],
  [
    { models: ['one/m', { model: 'two/m', params: { topP: 2 } }] },
    '"models[1].params.topP" must be a number from 0 to 1',
  ],
  [{ models: Array.from({ length: 101 }, () => 'm') }, /^"models" must not contain more than 100 models/],
  [{ models: ['one/m'], on: ['never'] }, /^"on\[0\]" must be one of "content", "schema"/],
  [{ models: ['one/m'], on: 'content' }, /^"on" must be an array of "content", "schema", "refused"/],
  [{ models: ['one/m'], strategy: 'round-robin' }, /^"strategy" cannot be "round-robin"/],
  [{ models: ['one/m'], strategy: 'best' }, /^"strategy" must be one of/],
  [{ models: ['one/m'], maxAttempts: 0 }, /^"maxAttempts" must be/],
  [{ models: ['one/m'], name: 'x' }, /^Unknown field "name"/],
  [
    { models: [`one/${'m'.repeat(500)}`, ...Array.from({ length: 20 }, () => 'x'.repeat(400))] },
    /^It must not be longer than 8192/,
  ],
]
for (const [list, message] of invalidLists) {
  test(`${JSON.stringify(list).slice(0, 60)} is rejected, and no provider is called`, async () => {
    const { send, upstream } = await open()
    const response = await send(list)
    const responseBody = await readError(response)
    assert.is(response.status, 400, responseBody)
    assert.ok(responseBody.startsWith('x-signalbox-models: '), responseBody)
    const rest = responseBody.slice('x-signalbox-models: '.length)
    if (typeof message === 'string') assert.is(rest, message)
    else assert.match(rest, message)
    assert.is(upstream.calls.length, 0)
  })
}

test("a list can lower the gateway's maximum number of attempts, but not raise it", async () => {
  const { send, upstream } = await open(() => json({}, 500), { limits: { maxAttempts: 2 } })
  const models = ['one/m', 'two/m', 'three/m']
  await send({ models, maxAttempts: 50 })
  assert.is(upstream.calls.length, 2)
  await send({ models, maxAttempts: 1 })
  assert.is(upstream.calls.length, 3)
})

test('turning allowRequestModels off forbids lists in requests and in explain', async () => {
  const { send, upstream, api, gateway, chat } = await open()
  await api.settings.update({ allowRequestModels: false })
  const response = await send({ models: ['one/m'] })
  assert.is(response.status, 403)
  assert.match(await readError(response), /allowRequestModels/)
  assert.is(upstream.calls.length, 0)
  assert.is((await chat({ model: 'one/m', messages })).status, 200)
  const headers = { 'x-signalbox-models': 'one/m' }
  assert.is((await gateway.api.explain({ model: 'x', headers })).error?.status, 403)
  await api.settings.update({ allowRequestModels: null })
  assert.is((await send({ models: ['one/m'] })).status, 200)
  assert.is((await gateway.api.explain({ model: 'x', headers })).targets[0]?.use, 'first')
})

test('a key must allow every name in a list, regardless of the model in the body', async () => {
  const { post, upstream, key, keyId, gateway } = await openGate({
    models: ['one/m', 'chain', 'claude/*'],
    combos: { chain: ['two/m'], mixed: ['one/m', 'two/m'] },
  })
  const send = (models: unknown[], model = 'one/m') =>
    post('/v1/chat/completions', { model, messages }, listed({ models }))
  for (const [models, model] of [
    [['two/m'], 'one/m'],
    [['one/m', 'two/m'], 'one/m'],
    [['one/m', { model: 'open/r' }], 'chain'],
    [['one/m', 'nowhere/m'], 'one/m'],
  ] as const) {
    const response = await send([...models], model)
    assert.is(response.status, 403, JSON.stringify(models))
    await response.text()
  }
  assert.is(upstream.calls.length, 0)
  assert.ok(key)
  assert.is((await send(['chain', 'claude/c'], 'any label')).status, 200)
  assert.equal(upstream.providers, ['two'])
  const partly = await send(['mixed', 'chain'], 'chain')
  assert.is(partly.status, 200)
  assert.equal(
    upstream.providers,
    ['two', 'one'],
    "targets that the key allows are used, even if it doesn't allow their combo",
  )
  const headers = { 'x-signalbox-models': JSON.stringify({ models: ['one/m', 'two/m'] }) }
  const { error: rejection } = await gateway.api.explain({ model: 'one/m', headers, keyId })
  assert.is(rejection?.code, 'MODEL_NOT_ALLOWED')
})

test("a combo in a list never calls targets that the key doesn't allow, even after failures", async () => {
  const { post, upstream } = await openGate({
    models: ['one/m', 'cheap/m'],
    combos: { mixed: ['one/m', 'two/m'] },
    respond: (call, index) => (call.provider === 'one' ? json({}, 500) : metered({}, { tokens: 0 })(call, index)),
  })
  const response = await post(
    '/v1/chat/completions',
    { model: 'cheap/m', messages },
    listed({ models: ['mixed', 'cheap/m'] }),
  )
  assert.is(response.status, 200)
  assert.equal(upstream.providers, ['one', 'cheap'])
})

test("a key's limits use a list entry's output limit instead of the request's", async () => {
  const { post, upstream, used } = await openGate({ limits: { tokens: { total: 3_000 } } })
  const models = [{ model: 'one/m', params: { maxTokens: 100 } }, 'two/m']
  const response = await post('/v1/chat/completions', { model: 'x', messages, max_tokens: 4_000 }, listed({ models }))
  assert.is(response.status, 200)
  assert.is(JSON.parse(upstream.calls[0]?.body ?? '').max_tokens, 100)
  assert.is(await used('tokens'), 12)
})

test('unwanted responses count toward limits', async () => {
  const { post, used, reserved } = await openGate({ limits: { tokens: { total: 30_000 }, usd: { total: 1 } } })
  const response_format = { type: 'json_object' }
  for (const stream of [false, true]) {
    const body = { model: 'x', messages, max_tokens: 100, response_format, stream }
    const response = await post('/v1/chat/completions', body, listed({ models: ['one/m', 'two/m'], on: ['schema'] }))
    assert.is(response.status, 200)
    assert.match(await response.text(), 'Hello')
  }
  assert.is(await used('tokens'), 48)
  assert.is(await reserved(), 0)
})

test("only chat lists can have parameters, and embedding lists can't mix models", async () => {
  const { post, upstream } = await openGate()
  const send = (list: object) => post('/v1/embeddings', { model: 'x', input: 'Hi' }, listed(list))
  const wrong = await send({ models: [{ model: 'other/embedding', params: { maxTokens: 1 } }] })
  assert.is(wrong.status, 400)
  assert.match(await readError(wrong), /"models\[0\]\.params" is only for chat/)
  const mixing = await send({ models: ['other/embedding', 'one/another'] })
  assert.is(mixing.status, 400)
  assert.match(await readError(mixing), /mixes embedding models/)
  assert.is(upstream.calls.length, 0)
  assert.is((await send({ models: ['other/embedding'] })).status, 200)
})

for (const stream of [false, true])
  test(`if the client gets an unwanted response, it is reported and charged once${stream ? ', streamed' : ''}`, async () => {
    const { post, upstream, recorded } = await open(() => (stream ? sse(chatEvents('{}')) : json(chatResponse('{}'))), {
      catalog: { one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm', price: { input: 1, output: 1 } }] } },
      connections: ['one'],
    })
    const models = ['one/m', { model: 'one/m', params: { maxTokens: 9 } }]
    const response = await post(
      '/v4/ai/language-model',
      {
        prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
        responseFormat: { type: 'json', schema: { type: 'object', required: ['city'] } },
      },
      {
        headers: {
          'x-signalbox-models': JSON.stringify({ models, on: ['schema'] }),
          'ai-language-model-specification-version': '4',
          'ai-language-model-id': 'said',
          'ai-language-model-streaming': `${stream}`,
        },
      },
    )
    const text = await response.text()
    const last = stream ? text.split('data: ').find((event) => event.includes('"finish"')) : text
    const { signalbox } = JSON.parse(last ?? '').providerMetadata
    assert.is(upstream.calls.length, 2)
    const attempt = { target: 'one/m', status: 200, outcome: 'schema' }
    assert.equal(signalbox.attempts, [attempt, attempt])
    const costs = recorded.requests[0]?.attempts.map(({ costUsd = 0 }) => costUsd) ?? []
    assert.is(
      signalbox.costUsd,
      costs.reduce((sum, cost) => sum + cost, 0),
    )
    assert.ok(signalbox.costUsd > 0)
    assert.equal(signalbox.warnings, [])
  })
