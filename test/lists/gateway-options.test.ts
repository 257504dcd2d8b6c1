import { openGate } from '../gate/support/world.ts'
import { answerAt } from '../kinds/samples.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, type Respond, sse } from '../pipeline/support/upstream.ts'
import { catalog, openWorld, type WorldOptions } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite("options for the AI SDK's gateway")

const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]
const PATH = '/v4/ai/language-model'

/** A request body for each route. */
const bodies: Readonly<Record<string, object>> = {
  'language-model': { prompt },
  'embedding-model': { values: ['Hi'] },
  'reranking-model': { query: 'red', documents: { type: 'text', values: ['a tree', 'a red fruit'] } },
  'image-model': { prompt: 'a walk', n: 1 },
  'speech-model': { text: 'Hi' },
  'transcription-model': { audio: 'AAAA', mediaType: 'audio/wav' },
}
const routes = Object.keys(bodies)

interface Sent {
  path?: string
  model?: string
  headers?: Record<string, string>
  signalbox?: object
}

const createPriced = (id: string, input: number) => ({ id, price: { input, output: input } })
const prices = {
  ...catalog,
  one: { baseUrl: 'http://one.test/v1', models: [createPriced('m', 9)] },
  two: { baseUrl: 'http://two.test/v1', models: [createPriced('m', 1)] },
  three: {
    baseUrl: 'http://three.test/v1',
    models: [createPriced('m', 5), { id: 'seer', type: 'imageToText' as const }],
  },
}

async function open(respond: Respond = () => json(chatResponse()), extra: WorldOptions = {}) {
  const upstream = fakeUpstream((call, index) => answerAt(call.url.pathname) ?? respond(call, index))
  const combos = { fast: ['one/m', 'two/m', 'three/m'] }
  const world = await openWorld({ fetch: upstream, catalog: prices, combos, ...extra })
  const send = (gateway: unknown, { path = PATH, model = 'fast', headers = {}, signalbox }: Sent = {}) => {
    const body = bodies[path.slice(path.lastIndexOf('/') + 1)]
    const providerOptions = { gateway, ...(signalbox && { signalbox }) }
    return world.post(
      path,
      { ...body, providerOptions },
      { headers: { 'ai-language-model-id': model, 'ai-model-id': model, ...headers } },
    )
  }
  return { ...world, upstream, send }
}

const respondWithError: Respond = () => json({ error: { message: 'It broke.' } }, 500)

async function readError(response: Response) {
  const { error } = (await response.json()) as { error: { message: string; code?: string } }
  return { status: response.status, code: error.code, message: error.message }
}

async function getWarnings(response: Response): Promise<string[]> {
  const { warnings } = (await response.json()) as { warnings: Array<{ feature: string }> }
  assert.is(response.status, 200)
  return warnings.map(({ feature }) => feature)
}

for (const [option, value, providers] of [
  ['order', ['three', 'one'], ['three', 'one', 'two']],
  ['order', ['unknown', 'two'], ['two', 'one', 'three']],
  ['order', [], ['one', 'two', 'three']],
  ['only', ['two', 'three'], ['two', 'three']],
  ['only', [], ['one', 'two', 'three']],
  ['sort', 'cost', ['two', 'three', 'one']],
  ['models', ['claude/c'], ['one', 'two', 'three', 'claude']],
  ['models', [], ['one', 'two', 'three']],
] as const)
  test(`${option}: ${JSON.stringify(value)} determines which targets are called, and causes no warning`, async () => {
    const limits = { maxAttempts: 9 }
    const { send, upstream } = await open(respondWithError, { limits })
    await send({ [option]: value })
    assert.equal([...new Set(upstream.providers)], providers)
    const accepted = await open()
    assert.equal(await getWarnings(await accepted.send({ [option]: value })), [])
    assert.equal(accepted.upstream.providers, [providers[0]])
  })

test('`order` takes precedence over `sort`, alongside `only` and `models`', async () => {
  const { send, upstream } = await open(respondWithError, { limits: { maxAttempts: 9 } })
  await send({ order: ['one'], sort: 'cost', only: ['one', 'two', 'three'], models: ['two/m', 'three/m'] })
  assert.equal([...new Set(upstream.providers)], ['one', 'two', 'three'])
})

test('sort: "ttft" or "tps" calls the fastest target, and "tps" causes a warning or a strict-mode error', async () => {
  const slow: Respond = async ({ provider }) => {
    await clock.sleep(provider === 'one' ? 50 : provider === 'two' ? 30 : 10)
    return json(chatResponse())
  }
  const { send, upstream, clock } = await open((call, index) => slow(call, index))
  const done = async (requested: Promise<Response>) => {
    await clock.advance(60)
    return requested
  }
  for (const model of ['one/m', 'two/m', 'three/m']) await (await done(send({}, { model }))).text()
  const before = upstream.calls.length
  assert.equal(await getWarnings(await done(send({ sort: 'ttft' }))), [])
  const response = await done(send({ sort: 'tps' }))
  assert.is(response.headers.get('x-signalbox-warning'), 'replaced:providerOptions.gateway.sort')
  assert.equal(await getWarnings(response), ['providerOptions.gateway.sort'])
  assert.ok(upstream.providers.slice(before).includes('three'), upstream.providers.join())
  const strict = await readError(await done(send({ sort: 'tps' }, { headers: { 'x-signalbox-strict': 'true' } })))
  assert.is(strict.status, 400)
})

test('`only` accepts aliases, provider IDs, and connection IDs', async () => {
  const catalogWithAlias = { ...prices, two: { ...prices.two, alias: 'zwei' } }
  const combos = { fast: ['one/m', 'zwei/m', 'three/m'] }
  const { send, upstream, api } = await open(undefined, { catalog: catalogWithAlias, combos })
  const { connections } = await api.connections.list()
  const id = connections.find(({ provider }) => provider === 'three')?.id
  for (const name of ['two', 'zwei', id]) assert.is((await send({ only: [name] })).status, 200)
  assert.equal(upstream.providers, ['two', 'two', 'three'])
})

for (const [option, value, message] of [
  ['only', ['nowhere'], /"providerOptions\.gateway\.only\[0\]": "nowhere" is not a provider/],
  ['only', ['claude'], /"providerOptions\.gateway\.only": none of these providers serves "fast"/],
  ['only', 'one', /"providerOptions\.gateway\.only": must be an array of strings/],
  ['order', [5], /"providerOptions\.gateway\.order\[0\]": must be a string/],
  ['sort', 'price', /"providerOptions\.gateway\.sort": must be "cost", "ttft", or "tps"/],
  ['models', [{ model: 'one/m', when: {} }], /"providerOptions\.gateway\.models\[0\]": must be a string/],
  ['models', Array.from({ length: 100 }, () => 'one/m'), /must not contain more than 99 models/],
  ['tags', 'a', /"providerOptions\.gateway\.tags": must be an array of strings/],
  ['zeroDataRetention', 'true', /"providerOptions\.gateway\.zeroDataRetention": must be true or false/],
  ['disallowPromptTraining', 1, /"providerOptions\.gateway\.disallowPromptTraining": must be true or false/],
  ['has', ['reasoning'], /"providerOptions\.gateway\.has\[0\]": only "vision" is supported/],
  ['has', ['vision'], /"providerOptions\.gateway\.has": nothing says that "fast" reads images\. .*the tag "vision"/],
  [
    'byok',
    { openai: [{ apiKey: 'sk-secret-of-the-client' }] },
    /"providerOptions\.gateway\.byok": this gateway accepts/,
  ],
] as const)
  test(`${option}: ${JSON.stringify(value).slice(0, 40)} returns a 400, and no provider is called`, async () => {
    const { send, upstream, recorded } = await open()
    const requested = String(message).includes('"fast"') ? ['language-model'] : routes // the message refers to a combo of chat models
    for (const route of requested) {
      const response = await send({ [option]: value }, { path: `/v4/ai/${route}` })
      const { status, message: output } = await readError(response)
      assert.is(status, 400, output)
      assert.match(output, message)
      assert.not.match(output, 'sk-secret')
    }
    assert.is(upstream.calls.length, 0)
    assert.not.match(JSON.stringify(recorded), 'sk-secret')
  })

test('has: ["vision"] keeps models that support image input according to the catalog or a custom model', async () => {
  const { send, upstream, api } = await open(undefined, { combos: { fast: ['one/m', 'three/seer'] } })
  assert.equal(await getWarnings(await send({ has: ['vision'] })), [])
  assert.equal(upstream.providers, ['three'])
  await api.customModels.create({ providerAlias: 'one', id: 'm', type: 'imageToText' })
  assert.is((await send({ has: ['vision'] })).status, 200)
  assert.equal(upstream.providers, ['three', 'one'])
})

test('has: ["vision"] keeps models of a connection with that tag', async () => {
  const connections = ['one', { provider: 'two', tags: { vision: true } }]
  const { send, upstream } = await open(undefined, { connections, combos: { fast: ['one/m', 'two/m'] } })
  assert.is((await send({ has: ['vision'] })).status, 200)
  assert.equal(upstream.providers, ['two'])
})

for (const [option, tags] of [
  ['zeroDataRetention', { zdr: true }],
  ['disallowPromptTraining', { training: false }],
] as const) {
  test(`${option} uses only connections with the tag, on every route and in streams`, async () => {
    const connections = ['one', { provider: 'two', tags }, 'three']
    const { send, upstream } = await open(
      ({ body }) => (body.includes('"stream":true') ? sse(chatEvents()) : json(chatResponse())),
      {
        connections,
        combos: {},
      },
    )
    for (const route of routes) {
      const path = `/v4/ai/${route}`
      const signalbox = { models: ['one/x', 'two/x', 'three/x'], retryAmbiguous: true, sameVectors: true }
      const response = await send({ [option]: true }, { path, signalbox })
      assert.equal(await getWarnings(response), [], route)
      const { status, code, message } = await readError(await send({ [option]: true }, { path, model: 'one/x' }))
      assert.equal([status, code], [403, 'no_compliant_target'], message)
      assert.match(message, `"providerOptions.gateway.${option}" requires`)
    }
    const headers = { 'ai-language-model-streaming': 'true' }
    const stream = await send({ [option]: true }, { headers, model: 'two/x' })
    assert.match(await stream.text(), '"finish"')
    assert.is((await send({ [option]: true }, { headers, model: 'three/x' })).status, 403)
    assert.equal(new Set(upstream.providers), new Set(['two']))
  })

  test(`${option}: false requires nothing`, async () => {
    const { send, upstream } = await open()
    assert.equal(await getWarnings(await send({ [option]: false })), [])
    assert.equal(upstream.providers, ['one'])
  })

  test(`${option} applies to fallback models, and returns a 403 in strict mode`, async () => {
    const { send, upstream } = await open()
    const options = { [option]: true, models: ['two/m'], order: ['three'], sort: 'cost' }
    const { status } = await readError(await send(options, { headers: { 'x-signalbox-strict': 'true' } }))
    assert.equal([status, upstream.calls.length], [403, 0])
  })
}

test('if `only` leaves no compliant target, the error code is no_compliant_target', async () => {
  const { send } = await open()
  const { code } = await readError(await send({ only: ['two'], zeroDataRetention: true }))
  assert.is(code, 'no_compliant_target')
})

test('tags and the user are recorded, and extra or overly long tags cause a warning', async () => {
  const { send, api } = await open(undefined, { usage: true })
  const tags = ['beta', ...Array.from({ length: 9 }, (_, index) => `t${index}`)]
  assert.equal(await getWarnings(await send({ tags, user: 'u1' })), [])
  const response = await send({ tags: ['x'.repeat(65), ...tags, 'more'], user: 'u2' })
  assert.is(response.headers.get('x-signalbox-warning'), 'clamped:providerOptions.gateway.tags')
  const { requests } = await api.usage.requests({})
  assert.equal(
    new Map(requests.map(({ tags, user }) => [user, tags])),
    new Map([
      ['u1', tags],
      ['u2', tags],
    ]),
  )
})

test("a quotaEntityId other than the caller's account returns a 403", async () => {
  const { send, upstream } = await open()
  const { status, code } = await readError(await send({ quotaEntityId: 'bob' }))
  assert.equal([status, code, upstream.calls.length], [403, 'account_not_allowed', 0])
})

for (const [option, value] of Object.entries({
  providerTimeouts: { byok: { openai: 5_000 } },
  caching: 'auto',
  idempotencyKey: 'k',
  headquarters: ['DE'],
  invented: true,
}))
  test(`${option} causes a warning on every route, and is rejected in strict mode`, async () => {
    const { send, upstream } = await open(undefined, { connections: ['one'] })
    const name = `providerOptions.gateway.${option}`
    for (const route of routes) {
      const callOptions = { path: `/v4/ai/${route}`, model: 'one/x' }
      const response = await send({ [option]: value }, callOptions)
      assert.match(response.headers.get('x-signalbox-warning') ?? '', `dropped:${name}`, route)
      assert.ok(
        (await getWarnings(response)).some((feature) => feature.startsWith(name)),
        route,
      )
      const calls = upstream.calls.length
      const strict = await readError(
        await send({ [option]: value }, { ...callOptions, headers: { 'x-signalbox-strict': '1' } }),
      )
      assert.equal([strict.status, upstream.calls.length], [400, calls], `${route} ${strict.message}`)
      assert.match(strict.message, name)
    }
  })

test('serviceTier is sent to the provider', async () => {
  const { send, upstream } = await open()
  assert.equal(await getWarnings(await send({ serviceTier: 'flex' }, { model: 'one/m' })), [])
  assert.is(JSON.parse(upstream.calls[0]?.body ?? '').service_tier, 'flex')
})

test("a key must allow each fallback model, and `order` can't reach any other model", async () => {
  const { post, upstream, key, gateway, keyId } = await openGate({ models: ['one/m', 'two/m'] })
  assert.ok(key)
  const send = (options: object) =>
    post(PATH, { prompt, providerOptions: { gateway: options } }, { headers: { 'ai-language-model-id': 'one/m' } })
  for (const models of [['cheap/m'], ['two/m', 'cheap/m'], ['nowhere/m']])
    assert.is((await send({ models })).status, 403, models.join())
  assert.is(upstream.calls.length, 0)
  assert.is((await send({ models: ['two/m'], order: ['cheap'], sort: 'cost' })).status, 200)
  assert.equal(upstream.providers, ['one'])
  const body = { prompt, providerOptions: { gateway: { models: ['cheap/m'] } } }
  const { error } = await gateway.api.explain({ model: 'one/m', path: PATH, body, keyId })
  assert.is(error?.code, 'MODEL_NOT_ALLOWED')
})

test('turning allowRequestModels off forbids `models`, but not the other options', async () => {
  const { send, upstream, api } = await open()
  await api.settings.update({ allowRequestModels: false })
  const { status, message } = await readError(await send({ models: ['one/m'] }))
  assert.equal([status, upstream.calls.length], [403, 0])
  assert.match(message, /"providerOptions\.gateway".*"allowRequestModels"/)
  assert.is((await send({ order: ['two'], sort: 'cost', only: ['two'] })).status, 200)
  assert.equal(upstream.providers, ['two'])
})

test('explanations show the order, the cost, and the targets that the options exclude', async () => {
  const { api, upstream } = await open()
  const explain = (gateway: object) =>
    api.explain({ model: 'fast', path: PATH, body: { prompt, providerOptions: { gateway } } })
  const { targets } = await explain({ sort: 'cost', order: ['three'], only: ['three', 'two'] })
  assert.equal(
    targets.map(({ provider, use }) => [provider, use]),
    [
      ['three', 'first'],
      ['two', 'next'],
      ['one', 'skipped'],
    ],
  )
  assert.match(targets[1]?.why ?? '', '$2 per million tokens')
  assert.is((await explain({ zeroDataRetention: true })).error?.code, 'NO_COMPLIANT_TARGET')
  assert.is((await explain({ byok: {} })).error?.code, 'INVALID_REQUEST')
  assert.is(upstream.calls.length, 0)
})

test('models in a header come before those in the options', async () => {
  const { send, upstream } = await open(respondWithError, { limits: { maxAttempts: 9 } })
  const headers = { 'x-signalbox-models': 'two/m' }
  await send({ models: ['three/m'], order: ['three'] }, { headers, model: 'any' })
  assert.equal([...new Set(upstream.providers)], ['two', 'three'])
})

test('null options count as missing', async () => {
  const { send, upstream } = await open()
  const nothing = { order: null, only: null, sort: null, models: null, tags: null, byok: null, has: null }
  assert.equal(await getWarnings(await send({ ...nothing, zeroDataRetention: null, quotaEntityId: null })), [])
  assert.equal(upstream.providers, ['one'])
})

test('an OpenAI chat request passes `providerOptions` to the provider unchanged', async () => {
  const { chat, upstream } = await open()
  const providerOptions = { gateway: { only: ['nowhere'], byok: {} } }
  assert.is((await chat({ messages: [{ role: 'user', content: 'Hi' }], providerOptions })).status, 200)
  assert.equal(JSON.parse(upstream.calls[0]?.body ?? '').providerOptions, providerOptions)
})
