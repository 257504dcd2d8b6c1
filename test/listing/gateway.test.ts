import { HttpResponse, http } from 'msw'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Catalog, Storage } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { catalog, get, getIds, open } from './open-gateway.ts'

const test = suite('GET /v1/models on a gateway')

/** Opens a gateway that fails to list `prefix` this many times, and calls `GET /v1/models`. */
function createFailingStorage(prefix: string, failures = Number.POSITIVE_INFINITY): Storage {
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

test('GET /v1/models returns a list of entries, readable from any origin', async () => {
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

test('HEAD /v1/models returns a 200 with a CORS header and no body', async () => {
  const response = await get(open().gateway, '/v1/models', { method: 'HEAD' })
  assert.is(response.status, 200)
  assert.is(response.headers.get('access-control-allow-origin'), '*')
  assert.is(await response.text(), '')
})

test('OPTIONS /v1/models works from any origin, without a body or a key', async () => {
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

test('the missing-key error is readable from any origin', async () => {
  const { gateway } = open()
  await gateway.api.settings.update({ requireApiKey: true })
  const response = await get(gateway, '/v1/models')
  assert.is(response.status, 401)
  assert.is(response.headers.get('access-control-allow-origin'), '*')
})

test('an unexpected listing failure returns a 500 without details and goes to onError', async () => {
  const recorded: unknown[] = []
  const broken: Catalog = new Proxy(catalog, {
    ownKeys() {
      throw new Error('secret internals')
    },
  })
  const { gateway } = open({ catalog: broken, onError: (error) => recorded.push(error) })
  const response = await get(gateway, '/v1/models')
  assert.is(response.status, 500)
  assert.is(response.headers.get('access-control-allow-origin'), '*')
  const body: { error: { message: string } } = await response.json()
  assert.equal(body, { error: { message: body.error.message, type: 'server_error' } })
  assert.not.match(body.error.message, /secret/)
  assert.equal(recorded.map(String), ['Error: secret internals'])
})

for (const prefix of ['connections/', 'combos/', 'custom-models/', 'aliases/']) {
  test(`if ${prefix} fails to load once, every list is complete, and onError is called once`, async () => {
    const recorded: unknown[] = []
    const { gateway } = open({ storage: createFailingStorage(prefix, 1), onError: (error) => recorded.push(error) })
    assert.equal(await getIds(gateway, '/v1/models'), ['ac/chat'])
    assert.is(recorded.length, 1)
    assert.equal(await getIds(gateway, '/v1/models'), ['ac/chat'])
    assert.is(recorded.length, 1)
  })
}

test('GET /v1/models reflects management API changes immediately', async () => {
  const { gateway } = open()
  assert.equal(await getIds(gateway, '/v1/models'), ['ac/chat'])
  const connection = await gateway.api.connections.create({
    provider: 'acme',
    providerSpecificData: { prefix: 'mine', enabledModels: ['one', 'flux'] },
  })
  await gateway.api.customModels.create({ id: ' two ', providerAlias: 'mine' })
  await gateway.api.aliases.set({ alias: 'quick', model: 'acme/three' })
  assert.equal(await getIds(gateway, '/v1/models'), ['mine/one', 'mine/two', 'mine/three'])
  assert.equal(await getIds(gateway, '/v1/models/image'), ['mine/flux'])
  await gateway.api.connections.update(connection.id, { isActive: false })
  assert.equal(await getIds(gateway, '/v1/models'), ['ac/chat', 'mine/two'])
})

test('GET /v1/models queries a compatible provider with the connection’s key', async () => {
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
  assert.equal(await getIds(gateway, '/v1/models'), ['lab/one', 'lab/two'])
  assert.equal(seen, ['Bearer lab-secret'])
})

test('upstream model lookups are canceled when the client disconnects', async () => {
  const recorded: unknown[] = []
  const silent = http.get('http://lab.test/models', () => new Promise<Response>(() => {}))
  const { gateway, clock, fetch } = open({ handlers: [silent], onError: (error) => recorded.push(error) })
  await gateway.api.connections.create({
    provider: 'openai-compatible-lab',
    apiKey: 'lab-secret',
    providerSpecificData: { baseUrl: 'http://lab.test' },
  })
  const controller = new AbortController()
  const answered = get(gateway, '/v1/models', { signal: controller.signal })
  await clock.untilPending()
  controller.abort()
  await answered
  assert.is(fetch.requests[0]?.signal.aborted, true)
  assert.is(clock.pending(), 0)
  assert.equal(recorded, [])
})
