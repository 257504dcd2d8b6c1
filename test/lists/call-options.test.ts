import { openGate } from '../gate/support/world.ts'
import { answerAt } from '../kinds/samples.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, never, type Respond } from '../pipeline/support/upstream.ts'
import { openWorld, type WorldOptions } from '../pipeline/support/world.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('gateway options in AI SDK calls')

const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]
const PATH = '/v4/ai/language-model'

/** A request body for each route, without options. */
const bodies: Readonly<Record<string, object>> = {
  'language-model': { prompt },
  'embedding-model': { values: ['Hi'] },
  'reranking-model': { query: 'red', documents: { type: 'text', values: ['a tree', 'a red fruit'] } },
  'image-model': { prompt: 'a walk', n: 1 },
  'speech-model': { text: 'Hi' },
  'transcription-model': { audio: 'AAAA', mediaType: 'audio/wav' },
}
const routes = Object.keys(bodies)

const createRequest = (model: string, headers: Record<string, string> = {}) => ({
  headers: { 'ai-language-model-id': model, 'ai-model-id': model, ...headers },
})

async function open(respond: Respond = () => json(chatResponse()), extra: WorldOptions = {}) {
  const upstream = fakeUpstream((call, index) => answerAt(call.url.pathname) ?? respond(call, index))
  const world = await openWorld({ fetch: upstream, combos: { fast: ['one/m', 'two/m'] }, ...extra })
  const send = (signalbox: unknown, { path = PATH, model = 'fast', headers = {}, body = {} }: Sent = {}) => {
    const all = { ...bodies[path.slice(path.lastIndexOf('/') + 1)], ...body, providerOptions: { signalbox } }
    return world.post(path, all, createRequest(model, headers))
  }
  return { ...world, upstream, send, sent: () => upstream.calls.map(({ body }) => JSON.parse(body)) }
}

interface Sent {
  path?: string
  model?: string
  headers?: Record<string, string>
  body?: object
}

const readError = async (response: Response) => {
  const { error } = (await response.json()) as { error: { message: string } }
  return error.message
}

const failingFirst: Respond = ({ provider }) => (provider === 'one' ? json({ error: {} }, 503) : json(chatResponse()))

test("models in the options are tried in order instead of the call's model, which records keep", async () => {
  const { send, upstream, recorded, sent } = await open(failingFirst)
  const models = ['one/m', { model: 'two/m', params: { maxTokens: 7 } }, 'three/m']
  const response = await send({ models }, { model: 'said' })
  assert.is(response.status, 200)
  assert.equal((await response.json()).warnings, [], "gateway options aren't reported as dropped")
  assert.equal(upstream.providers, ['one', 'two'])
  assert.equal(
    sent().map(({ max_tokens }) => max_tokens),
    [undefined, 7],
  )
  assert.is(recorded.requests[0]?.model, 'said')
  assert.is(recorded.requests[0]?.attempts[1]?.via, 'providerOptions.signalbox:fallback')
})

test("parameters in the options override the call's own, and an entry's parameters override both", async () => {
  const { send, sent } = await open(failingFirst)
  const params = { maxTokens: 7, temperature: 0.5 }
  await send({ params }, { body: { maxOutputTokens: 900, topP: 0.25 } })
  await send({ params, models: [{ model: 'three/m', params: { maxTokens: 8 } }] })
  assert.equal(
    sent().map(({ max_tokens, temperature, top_p }) => [max_tokens, temperature, top_p]),
    [
      [7, 0.5, 0.25],
      [7, 0.5, 0.25],
      [8, 0.5, undefined],
    ],
  )
})

test("fields of a list apply to the call's model if the options contain no models", async () => {
  const { send, upstream } = await open(({ provider }) => json(chatResponse(provider === 'two' ? '{}' : 'Hello')))
  const body = { responseFormat: { type: 'json', schema: { type: 'object' } } }
  assert.is((await send({ on: ['schema'] }, { body })).status, 200)
  assert.equal(upstream.providers, ['one', 'two'])
  const failing = await open(() => json({}, 500))
  await failing.send({ maxAttempts: 1 })
  assert.equal(failing.upstream.providers, ['one'])
})

test("without models in the options, a combo's maxAttempts applies, and the options can only lower it", async () => {
  const models = ['one/m', 'two/m', 'three/m', 'claude/m']
  const few = { models, strategy: 'fallback' as const, maxAttempts: 1 }
  const combos = { few, many: { ...few, maxAttempts: 4 } }
  const { send, upstream } = await open(() => json({}, 500), { combos })
  for (const [model, options, calls] of [
    ['few', { params: { temperature: 0 } }, 1],
    ['few', { maxAttempts: 3 }, 1],
    ['many', { params: { temperature: 0 } }, 4],
    ['many', { maxAttempts: 2 }, 2],
    ['few', { models }, 3],
  ] as const) {
    await send(options, { model })
    assert.is(upstream.calls.splice(0).length, calls, `${model} ${JSON.stringify(options)}`)
  }
})

test('options override a list in the header, and the lower maxAttempts applies', async () => {
  const { send, upstream, sent } = await open(() => json({}, 500))
  const listed = { models: [{ model: 'two/m', params: { maxTokens: 5 } }, 'three/m', 'one/m'], maxAttempts: 2 }
  const headers = { 'x-signalbox-models': JSON.stringify(listed) }
  await send({ params: { maxTokens: 7 } }, { headers })
  assert.equal(upstream.providers, ['two', 'three'])
  assert.equal(
    sent().map(({ max_tokens }) => max_tokens),
    [5, 7],
  )
  await send({ models: ['one/m', 'two/m', 'three/m'], maxAttempts: 3 }, { headers })
  assert.equal(upstream.providers.slice(2), ['one', 'two'])
  await send({ maxAttempts: 1 }, { headers })
  assert.equal(upstream.providers.slice(4), ['two'])
  await send({ user: 'me' }, { headers })
  assert.equal(upstream.providers.slice(5), ['two', 'three'], 'other options keep the list')
})

for (const [by, options, headers, ms] of [
  ['the option', { timeoutMs: 500 }, {}, 500],
  ['an option that is shorter than the header', { timeoutMs: 500 }, { 'x-signalbox-timeout-ms': '900' }, 500],
  ['a header that is shorter than the option', { timeoutMs: 900 }, { 'x-signalbox-timeout-ms': '500' }, 500],
] as const)
  test(`the call uses the timeout from ${by}`, async () => {
    const { send, clock, upstream } = await open(() => never())
    const pending = send(options, { headers })
    while (upstream.calls.length === 0) await clock.advance(0)
    await clock.advance(ms - 1)
    assert.is(upstream.open, 1)
    await clock.advance(1)
    const response = await pending
    assert.is(response.status, 504)
    const name =
      'x-signalbox-timeout-ms' in headers && ms < options.timeoutMs
        ? 'x-signalbox-timeout-ms'
        : 'providerOptions.signalbox.timeoutMs'
    assert.match(
      await readError(response),
      `No response within the ${ms} ms that "${name}" allows. Raise it or try another model.`,
    )
    assert.is(upstream.open, 0)
  })

test("strict: true rejects a call with an unsupported field, and strict: false doesn't override the header", async () => {
  const { send } = await open()
  const body = { seed: 7 }
  const model = 'claude/c'
  assert.is((await send({ strict: true }, { model, body })).status, 400)
  assert.is((await send({ strict: false }, { model, body })).status, 502) // the target is called, but its response is in another format
  assert.is((await send({ strict: false }, { model, body, headers: { 'x-signalbox-strict': 'true' } })).status, 400)
})

test('calls with the same session option go to the same target, and the option overrides the header', async () => {
  const models = ['one/m', 'two/m', 'three/m']
  const { send, upstream } = await open(undefined, { combos: { sticky: { models, strategy: 'sticky' } } })
  const sessions = Array.from({ length: 8 }, (_, index) => `session ${index}`)
  for (const session of sessions) await send({ session }, { model: 'sticky' })
  for (const session of sessions) await send({}, { model: 'sticky', headers: { 'x-signalbox-session': session } })
  const headers = { 'x-signalbox-session': 'of the header' }
  for (const session of sessions) await send({ session }, { model: 'sticky', headers })
  const [first, ...others] = [0, 8, 16].map((index) => upstream.providers.slice(index, index + 8))
  assert.ok(new Set(first).size > 1)
  assert.equal(others, [first, first])
})

test('the options `user` and `reasoning` are sent to the provider, and the user is recorded', async () => {
  const { send, sent, api } = await open(undefined, { usage: true })
  await send({ user: 'me', reasoning: 'low' })
  assert.equal([sent()[0]?.user ?? sent()[0]?.safety_identifier, sent()[0]?.reasoning_effort], ['me', 'low'])
  const { requests } = await api.usage.requests({ user: 'me' })
  assert.is(requests.length, 1)
})

for (const route of routes)
  for (const version of [3, 4])
    test(`version ${version} of ${route} accepts gateway options without a warning`, async () => {
      const { send, upstream } = await open(undefined, { connections: ['one', 'two'] })
      const options = { models: ['nowhere/x', 'two/x'], user: 'me', session: 's', strict: false, timeoutMs: 60_000 }
      const response = await send(options, { path: `/v${version}/ai/${route}`, model: 'said' })
      const { warnings } = await response.json()
      assert.equal([response.status, upstream.providers, warnings], [200, ['two'], []])
    })

const invalidOptions: Array<[options: unknown, message: string | RegExp]> = [
  [[], '"providerOptions.signalbox" must be an object'],
  ['fast', '"providerOptions.signalbox" must be an object'],
  [5, '"providerOptions.signalbox" must be an object'],
  [{ modles: ['one/m'] }, /^Unknown field "providerOptions\.signalbox\.modles"\. Did you mean "models"\?/],
  [
    { language: 'de' },
    /^Unknown field "providerOptions\.signalbox\.language"\. .* Put model options next to it, under the provider's name/,
  ],
  [{ tags: ['a'] }, /^Unknown field "providerOptions\.signalbox\.tags"/],
  [{ models: 'one/m' }, '"providerOptions.signalbox.models" must be an array of model names'],
  [{ models: [] }, '"providerOptions.signalbox.models" must contain at least one model'],
  [{ models: null }, /^"providerOptions\.signalbox\.models" must/],
  [{ models: ['one/m', {}] }, /^"providerOptions\.signalbox\.models\[1\]\.model" is required/],
  [
    { models: [{ model: 'one/m', params: { foo: 1 } }] },
    /^Unknown field "providerOptions\.signalbox\.models\[0\]\.params\.foo"\. Known: [^.]*\.$/,
  ],
  [{ params: { topP: 2 } }, '"providerOptions.signalbox.params.topP" must be a number from 0 to 1'],
  [{ params: [] }, /^"providerOptions\.signalbox\.params" must be an object/],
  [{ strategy: 'round-robin' }, /^"providerOptions\.signalbox\.strategy" cannot be "round-robin"/],
  [{ on: 'schema' }, /^"providerOptions\.signalbox\.on" must be an array/],
  [{ hedge: 'yes' }, '"providerOptions.signalbox.hedge" must be true or false'],
  [{ timeouts: { headersMs: -1 } }, /^"providerOptions\.signalbox\.timeouts\.headersMs" must be/],
  [{ maxAttempts: 0 }, /^"providerOptions\.signalbox\.maxAttempts" must be/],
  [{ timeoutMs: '500' }, /^"providerOptions\.signalbox\.timeoutMs" must be a whole number from 1 to 86400000/],
  [{ timeoutMs: 0 }, /^"providerOptions\.signalbox\.timeoutMs" must be a whole number/],
  [{ strict: 'true' }, '"providerOptions.signalbox.strict" must be true or false'],
  [{ session: '' }, '"providerOptions.signalbox.session" must not be blank'],
  [{ session: 5 }, '"providerOptions.signalbox.session" must be a string'],
  [{ user: 5 }, '"providerOptions.signalbox.user" must be a string'],
  [{ reasoning: 'hard' }, /^"providerOptions\.signalbox\.reasoning" must be one of "none"/],
]
for (const [options, message] of invalidOptions)
  test(`each route rejects ${JSON.stringify(options)} with the field's path, and calls no provider`, async () => {
    const { send, upstream } = await open()
    for (const route of routes) {
      const response = await send(options, { path: `/v4/ai/${route}` })
      const responseBody = await readError(response)
      assert.is(response.status, 400, responseBody)
      if (typeof message === 'string') assert.is(responseBody, message)
      else assert.match(responseBody, message)
    }
    assert.is(upstream.calls.length, 0)
  })

test('chat-only options are rejected for other kinds', async () => {
  const { send, upstream } = await open()
  for (const route of routes.slice(1))
    for (const [options, member] of [
      [{ params: { seed: 1 } }, 'params'],
      [{ reasoning: 'low' }, 'reasoning'],
      [{ models: ['one/m', { model: 'two/m', params: { seed: 1 } }] }, 'models[1].params'],
    ] as const) {
      const response = await send(options, { path: `/v4/ai/${route}` })
      assert.is(response.status, 400)
      assert.ok((await readError(response)).startsWith(`"providerOptions.signalbox.${member}" is only for chat.`))
    }
  assert.is(upstream.calls.length, 0)
})

test('null options count as missing', async () => {
  const { send, upstream } = await open()
  for (const none of [null, undefined, {}]) assert.is((await send(none)).status, 200)
  assert.equal(upstream.providers, ['one', 'one', 'one'])
})

test("a key must allow every model in the options, and the call's own model if that is used", async () => {
  const combos = { chain: ['two/m'] }
  const { post, upstream, key, keyId, gateway } = await openGate({ models: ['one/m', 'chain'], combos })
  assert.ok(key)
  const send = (signalbox: object, model = 'one/m') =>
    post(PATH, { prompt, providerOptions: { signalbox } }, createRequest(model))
  for (const [options, model] of [
    [{ models: ['two/m'] }, 'one/m'],
    [{ models: ['one/m', { model: 'two/m' }] }, 'one/m'],
    [{ models: ['nowhere/m', 'one/m'] }, 'one/m'],
    [{ params: { seed: 1 } }, 'two/m'],
    [{ hedge: true }, 'two/m'],
  ] as const) {
    const response = await send(options, model)
    assert.is(response.status, 403, JSON.stringify(options))
    await response.text()
  }
  assert.is(upstream.calls.length, 0)
  assert.is((await send({ models: ['chain', 'one/m'] }, 'any label')).status, 200)
  assert.equal(upstream.providers, ['two'])
  const body = { prompt, providerOptions: { signalbox: { models: ['one/m', 'two/m'] } } }
  const { error: rejection } = await gateway.api.explain({ model: 'one/m', path: PATH, body, keyId })
  assert.is(rejection?.code, 'MODEL_NOT_ALLOWED')
})

test("a key's limits use the output limit from the options instead of the call's", async () => {
  const { post, upstream, used } = await openGate({ limits: { tokens: { total: 3_000 } } })
  const signalbox = { models: ['two/m'], params: { maxTokens: 100 } }
  const body = { prompt, maxOutputTokens: 4_000, providerOptions: { signalbox } }
  assert.is((await post(PATH, body, createRequest('x'))).status, 200)
  assert.is(JSON.parse(upstream.calls[0]?.body ?? '').max_tokens, 100)
  assert.is(await used('tokens'), 12)
})

test('turning allowRequestModels off forbids the options that create a list, and no others', async () => {
  const { send, upstream, api } = await open()
  await api.settings.update({ allowRequestModels: false })
  for (const options of [{ models: ['one/m'] }, { params: { seed: 1 } }, { on: ['content'] }]) {
    const response = await send(options)
    assert.is(response.status, 403)
    assert.match(await readError(response), /"providerOptions\.signalbox".*"allowRequestModels"/)
  }
  assert.is(upstream.calls.length, 0)
  assert.is((await send({ user: 'me', session: 's', timeoutMs: 60_000, strict: true, reasoning: 'low' })).status, 200)
})

test("an explanation applies the models and parameters in a call's options", async () => {
  const { api, upstream } = await open()
  const explain = (signalbox: object) =>
    api.explain({ model: 'fast', path: PATH, body: { prompt, providerOptions: { signalbox } } })
  const { targets } = await explain({ models: ['three/m', 'two/m'], params: { maxTokens: 7 } })
  assert.equal(
    targets.map(({ provider, params }) => [provider, params]),
    [
      ['three', { maxTokens: 7 }],
      ['two', { maxTokens: 7 }],
    ],
  )
  const { error: rejection } = await explain({ models: 5 })
  assert.match(rejection?.message ?? '', 'providerOptions.signalbox.models')
  assert.is(upstream.calls.length, 0)
})

test("options on a message or a part don't apply to the call", async () => {
  const { send, upstream } = await open()
  const own = { providerOptions: { signalbox: { models: ['three/m'], nonsense: true } } }
  const content = [{ type: 'text', text: 'Hi', ...own }]
  const response = await send(undefined, { body: { prompt: [{ role: 'user', content, ...own }] } })
  assert.is(response.status, 200)
  assert.equal(upstream.providers, ['one'])
})

test('an OpenAI chat request passes `providerOptions` to the provider unchanged', async () => {
  const { chat, upstream } = await open()
  const providerOptions = { signalbox: { models: ['two/m'], nonsense: true } }
  const messages = [{ role: 'user', content: 'Hi' }]
  assert.is((await chat({ model: 'one/m', messages, providerOptions })).status, 200)
  assert.equal(JSON.parse(upstream.calls[0]?.body ?? '').providerOptions, providerOptions)
})

const TIMES = process.env.CI ? 5_000 : 120

test('random options cause no internal error, and rejected options call no provider', async () => {
  const random = createRandom(11)
  const { send, upstream, recorded } = await open((_, index) => json(chatResponse(), index % 7 === 0 ? 503 : 200))
  const one = <T>(values: readonly T[]) => values[random.below(values.length)]
  const statuses = new Set<number>()
  for (let times = 0; times < TIMES; times++) {
    const chosen = Object.entries(members).filter(() => random.below(4) === 0)
    const wrong = random.below(2) === 0 ? undefined : random.below(chosen.length || 1)
    const options = Object.fromEntries(
      chosen.map(([name, values], index) => [name, index === wrong ? one(STRANGE) : one(values)]),
    )
    const calls = upstream.calls.length
    const listed = random.below(4) === 0 ? { 'x-signalbox-models': 'three/m, two/m' } : {}
    const response = await send(options, { headers: { ...listed } })
    const text = await response.text()
    statuses.add(response.status)
    assert.ok(response.status !== 500, `${JSON.stringify(options)} ${text}`)
    if (response.status === 400) assert.is(upstream.calls.length, calls, `${JSON.stringify(options)} ${text}`)
    if (response.status === 400 && options.strict !== true) assert.match(text, 'providerOptions.signalbox') // in strict mode, the 400 may be about a dropped option
  }
  assert.ok(statuses.has(200) && statuses.has(400), [...statuses].join(', '))
  assert.equal(recorded.errors, [])
})

/** Valid values for each option. */
const members: Readonly<Record<string, readonly unknown[]>> = {
  models: [['one/m'], ['two/m', { model: 'fast', params: { seed: 1 } }], ['nowhere/x', 'one/m'], ['fast', 'fast']],
  params: [{}, { maxTokens: 5 }, { temperature: 0, reasoning: 'low' }, { stopSequences: ['x'] }],
  strategy: ['fallback', 'weighted', 'random', 'sticky', 'conditional', 'least-latency', 'least-cost', 'least-busy'],
  on: [['content'], ['schema', 'content'], []],
  hedge: [true, false],
  retryAmbiguous: [true],
  sameVectors: [false],
  maxAttempts: [1, 3],
  timeouts: [{}, { headersMs: 5_000 }, { idleMs: 5_000, totalMs: 9_000 }],
  timeoutMs: [1, 86_400_000],
  strict: [true, false],
  session: ['s', 'ü ∑'],
  user: ['', 'me'],
  reasoning: ['none', 'max'],
}

const STRANGE = [
  null,
  -1,
  1e308,
  1.5,
  '',
  'x',
  '\ud800',
  true,
  [],
  [[]],
  [null],
  {},
  { a: 1 },
  [{}],
  { headersMs: null },
]
