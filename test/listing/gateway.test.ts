import { HttpResponse, http, type RequestHandler } from 'msw'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import type { Catalog, Storage } from '../../src/types.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { upstream } from '../support/upstream.ts'

const test = suite('GET /v1/models, through the gateway')

const catalog: Catalog = {
  acme: {
    alias: 'ac',
    serviceKinds: ['llm', 'image', 'tts', 'stt', 'embedding', 'imageToText', 'webSearch', 'webFetch'],
    models: [
      { id: 'chat' },
      { id: 'painter', type: 'image' },
      { id: 'speaker', type: 'tts' },
      { id: 'listener', type: 'stt' },
      { id: 'vectors', type: 'embedding' },
      { id: 'seer', type: 'imageToText' },
    ],
    searchConfig: {},
    fetchConfig: {},
  },
}

interface Options {
  handlers?: RequestHandler[]
  storage?: Storage
  catalog?: Catalog
  onError?: (error: unknown) => void
}

function open({ handlers = [], storage = memoryStorage(), catalog: own = catalog, onError = () => {} }: Options = {}) {
  const clock = fakeClock(1_700_000_000_999)
  const fetch = upstream(...handlers)
  const gateway = createGateway({
    storage,
    fetch,
    clock,
    catalog: own,
    logger: false,
    hooks: { onError },
    management: { dangerouslyAllowUnauthenticated: true },
  })
  return { gateway, clock, fetch }
}

const get = (gateway: Gateway, path: string, init?: RequestInit) => gateway.fetch(new Request(`http://gw${path}`, init))

async function idsAt(gateway: Gateway, path: string): Promise<string[]> {
  const response = await get(gateway, path)
  assert.is(response.status, 200, path)
  const { data }: { data: Array<{ id: string }> } = await response.json()
  return data.map((entry) => entry.id)
}

/** `GET /v1/models` when `prefix` cannot be listed as often as `failures` says. */
function failing(prefix: string, failures = Number.POSITIVE_INFINITY): Storage {
  const storage = memoryStorage()
  let left = failures
  return {
    ...storage,
    list: (from, options) => {
      if (!from.startsWith(prefix) || left === 0) return storage.list(from, options)
      left--
      return Promise.reject(new Error('disk on fire'))
    },
  }
}

test('answers the list of the specification, for any origin', async () => {
  const { gateway } = open()
  await gateway.api.combos.create({ name: 'team', models: ['ac/chat'] })
  const response = await get(gateway, '/v1/models')
  assert.is(response.status, 200)
  assert.is(response.headers.get('access-control-allow-origin'), '*')
  assert.is(response.headers.get('content-type'), 'application/json')
  assert.equal(await response.json(), {
    object: 'list',
    data: [
      { id: 'team', object: 'model', created: 1_700_000_000, owned_by: 'combo' },
      { id: 'ac/chat', object: 'model', created: 1_700_000_000, owned_by: 'ac' },
    ],
  })
})

test('HEAD answers the same without the body', async () => {
  const response = await get(open().gateway, '/v1/models', { method: 'HEAD' })
  assert.is(response.status, 200)
  assert.is(response.headers.get('access-control-allow-origin'), '*')
  assert.is(await response.text(), '')
})

test('OPTIONS answers any origin without a body and without a key', async () => {
  const { gateway } = open()
  await gateway.api.settings.update({ requireApiKey: true })
  const response = await get(gateway, '/v1/models', { method: 'OPTIONS' })
  assert.is(response.status, 204)
  assert.equal(Object.fromEntries(response.headers), {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, OPTIONS',
    'access-control-allow-headers': '*',
  })
  assert.is(response.body, null)
})

test('a missing key is refused, readable from any origin', async () => {
  const { gateway } = open()
  await gateway.api.settings.update({ requireApiKey: true })
  const response = await get(gateway, '/v1/models')
  assert.is(response.status, 401)
  assert.is(response.headers.get('access-control-allow-origin'), '*')
})

for (const [path, expected] of [
  ['image', ['for-image', 'ac/painter']],
  ['tts', ['for-tts', 'ac/speaker']],
  ['stt', ['for-stt', 'ac/listener']],
  ['embedding', ['for-embedding', 'ac/vectors']],
  ['image-to-text', ['for-imageToText', 'ac/seer']],
  ['web', ['for-webSearch', 'for-webFetch', 'ac/search', 'ac/fetch']],
] as const) {
  test(`/v1/models/${path} lists its kind and no other, in the same shape`, async () => {
    const { gateway } = open()
    await gateway.api.connections.create({ provider: 'acme' })
    for (const kind of ['llm', 'image', 'tts', 'stt', 'embedding', 'imageToText', 'webSearch', 'webFetch'] as const) {
      await gateway.api.combos.create({ name: `for-${kind}`, kind, models: ['ac/chat'] })
    }
    assert.equal(await idsAt(gateway, `/v1/models/${path}`), expected)
    assert.equal(await idsAt(gateway, '/v1/models'), ['for-llm', 'ac/chat'])
  })
}

test('web entries say which kind they are', async () => {
  const { gateway } = open()
  await gateway.api.connections.create({ provider: 'acme' })
  const { data }: { data: unknown[] } = await (await get(gateway, '/v1/models/web')).json()
  const shared = { object: 'model', created: 1_700_000_000, owned_by: 'ac' }
  assert.equal(data, [
    { id: 'ac/search', ...shared, kind: 'webSearch' },
    { id: 'ac/fetch', ...shared, kind: 'webFetch' },
  ])
})

for (const [what, path, id] of [
  ['a plain id', '/v1/models/team', 'team'],
  ['an id with a slash', '/v1/models/ac/chat', 'ac/chat'],
  ['an id with an encoded slash', '/v1/models/ac%2Fchat', 'ac/chat'],
  ['an id of several slashes', '/v1/models/ac/meta/llama:7b', 'ac/meta/llama:7b'],
  ['an id that is encoded in part', '/v1/models/ac%2fmeta/llama%3A7b', 'ac/meta/llama:7b'],
  ['a model of another kind', '/v1/models/ac/painter', 'ac/painter'],
  ['web search', '/v1/models/ac/search', 'ac/search'],
  ['an id as Google’s clients write it', '/v1/models/models/ac/chat', 'ac/chat'],
] as const) {
  test(`/v1/models/{id} answers one entry: ${what}`, async () => {
    const { gateway } = open()
    await gateway.api.connections.create({ provider: 'acme' })
    await gateway.api.combos.create({ name: 'team', models: ['ac/chat'] })
    await gateway.api.customModels.create({ id: 'meta/llama:7b', providerAlias: 'ac' })
    const response = await get(gateway, path)
    assert.is(response.status, 200)
    const entry: { id: string; object: string } = await response.json()
    assert.equal([entry.id, entry.object], [id, 'model'])
  })
}

test('a kind’s name wins over a combo of that name', async () => {
  const { gateway } = open()
  await gateway.api.combos.create({ name: 'image', models: ['ac/chat'] })
  assert.equal(await idsAt(gateway, '/v1/models/image'), ['ac/painter'])
  assert.equal(await idsAt(gateway, '/v1/models'), ['image', 'ac/chat'])
})

for (const [what, headers, body] of [
  ['OpenAI', {}, { error: { message: '?', type: 'invalid_request_error', param: null, code: 'model_not_found' } }],
  [
    'Anthropic',
    { 'anthropic-version': '2023-06-01' },
    { type: 'error', error: { type: 'not_found_error', message: '?' } },
  ],
  ['Google', { 'x-goog-api-client': 'x' }, { error: { code: 404, message: '?', status: 'NOT_FOUND' } }],
] as const) {
  test(`an unknown id is 404 in the shape of ${what}, naming the nearest`, async () => {
    const { gateway } = open()
    const response = await get(gateway, '/v1/models/ac/chatt', { headers })
    assert.is(response.status, 404)
    const answer: { error: { message: string } } = await response.json()
    assert.match(answer.error.message, /"ac\/chatt" does not exist\. Did you mean "ac\/chat"/)
    answer.error.message = '?'
    assert.equal({ ...answer, request_id: undefined }, { ...body, request_id: undefined })
  })
}

test('an id that is near to nothing is 404 all the same', async () => {
  const response = await get(open({ catalog: {} }).gateway, '/v1/models/zzz')
  assert.is(response.status, 404)
  const answer: { error: { message: string } } = await response.json()
  assert.match(answer.error.message, /"zzz" does not exist/)
})

test('an unexpected failure is a bare 500 for any origin, and goes whole to the host', async () => {
  const told: unknown[] = []
  const broken: Catalog = new Proxy(catalog, {
    ownKeys() {
      throw new Error('secret internals')
    },
  })
  const { gateway } = open({ catalog: broken, onError: (error) => told.push(error) })
  const response = await get(gateway, '/v1/models')
  assert.is(response.status, 500)
  assert.is(response.headers.get('access-control-allow-origin'), '*')
  const body: { error: { message: string } } = await response.json()
  assert.equal(body, { error: { message: body.error.message, type: 'server_error' } })
  assert.not.match(body.error.message, /secret/)
  assert.equal(told.map(String), ['Error: secret internals'])
})

for (const prefix of ['connections/', 'combos/', 'custom-models/', 'aliases/']) {
  test(`${prefix} that cannot be read once count as empty once`, async () => {
    const told: unknown[] = []
    const { gateway } = open({ storage: failing(prefix, 1), onError: (error) => told.push(error) })
    assert.equal(await idsAt(gateway, '/v1/models'), ['ac/chat'])
    assert.is(told.length, 1)
    assert.equal(await idsAt(gateway, '/v1/models'), ['ac/chat'])
    assert.is(told.length, 1)
  })
}

test('follows what the management API changes, at once', async () => {
  const { gateway } = open()
  assert.equal(await idsAt(gateway, '/v1/models'), ['ac/chat'])
  const connection = await gateway.api.connections.create({
    provider: 'acme',
    providerSpecificData: { prefix: 'mine', enabledModels: ['one', 'flux'] },
  })
  await gateway.api.customModels.create({ id: ' two ', providerAlias: 'mine' })
  await gateway.api.aliases.set({ alias: 'quick', model: 'acme/three' })
  assert.equal(await idsAt(gateway, '/v1/models'), ['mine/one', 'mine/two', 'mine/three'])
  assert.equal(await idsAt(gateway, '/v1/models/image'), ['mine/flux'])
  await gateway.api.connections.update(connection.id, { isActive: false })
  assert.equal(await idsAt(gateway, '/v1/models'), ['ac/chat', 'mine/two'])
})

test('asks a compatible provider with the connection’s own key', async () => {
  const seen: unknown[] = []
  const handler = http.get('http://lab.test/v1/models', ({ request }) => {
    seen.push(request.headers.get('authorization'))
    return HttpResponse.json({ data: [{ id: 'one' }, { id: 'lab/two' }] })
  })
  const { gateway } = open({ handlers: [handler] })
  await gateway.api.connections.create({
    provider: 'openai-compatible-lab',
    apiKey: 'lab-secret',
    providerSpecificData: { prefix: 'lab', baseUrl: 'http://lab.test/v1/' },
  })
  assert.equal(await idsAt(gateway, '/v1/models'), ['lab/one', 'lab/two'])
  assert.equal(seen, ['Bearer lab-secret'])
})

test('a client that leaves takes the look-ups with it', async () => {
  const told: unknown[] = []
  const silent = http.get('http://lab.test/models', () => new Promise<Response>(() => {}))
  const { gateway, clock, fetch } = open({ handlers: [silent], onError: (error) => told.push(error) })
  await gateway.api.connections.create({
    provider: 'openai-compatible-lab',
    apiKey: 'lab-secret',
    providerSpecificData: { baseUrl: 'http://lab.test' },
  })
  const abort = new AbortController()
  const answered = get(gateway, '/v1/models', { signal: abort.signal })
  await clock.untilPending()
  abort.abort()
  await answered
  assert.is(fetch.requests[0]?.signal.aborted, true)
  assert.is(clock.pending(), 0)
  assert.equal(told, [])
})
