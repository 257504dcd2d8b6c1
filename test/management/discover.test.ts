import { HttpResponse, http, type RequestHandler } from 'msw'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createClient } from '../../src/client/client.ts'
import { parseReplicatedRecord } from '../../src/features/cloud-sync/gateway/replica-input.ts'
import { assert, suite } from '../support/suite.ts'
import { upstream } from '../support/upstream.ts'
import { openManagement, TOKEN } from './open-management.ts'

const test = suite("discovering a connection's models")

const LAB = 'http://lab.test/v1'
const lab = { provider: 'openai-compatible-lab', prefix: 'lab', baseUrl: LAB }
const models = (...ids: string[]) => ({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) })
const lists = (...ids: string[]) => http.get(`${LAB}/models`, () => HttpResponse.json(models(...ids)))

/** Opens a gateway with these servers, and a function that returns the latest warnings. */
function open(...handlers: RequestHandler[]) {
  const fetch = upstream(...handlers)
  const management = openManagement({ fetch })
  const { api } = management.gateway
  return { ...management, api, fetch, asked: () => fetch.requests.map(({ url }) => url) }
}

const getIds = async (gateway: ReturnType<typeof open>['gateway']) => {
  const listed: { data: { id: string }[] } = await (await gateway.fetch('http://gateway.test/v1/models')).json()
  return listed.data.map(({ id }) => id)
}

test('creating a connection with "discover" lists its server\'s models and stores them as enabledModels', async () => {
  const { expect, gateway, asked, storage } = open(lists('llama3.2:latest', 'qwen3:8b'))
  const created = await expect(201, 'POST', '/api/connections', { ...lab, discover: true })
  assert.equal(created.providerSpecificData, {
    prefix: 'lab',
    baseUrl: LAB,
    enabledModels: ['llama3.2:latest', 'qwen3:8b'],
  })
  assert.not.ok('warnings' in created || 'discover' in created)
  assert.equal(await expect(200, 'GET', `/api/connections/${created.id}`), created)
  assert.equal(await getIds(gateway), ['lab/llama3.2:latest', 'lab/qwen3:8b'])
  assert.equal(asked(), [`${LAB}/models`], 'the server is queried once')
  for (const { value } of await storage.list('')) assert.not.match(value, 'discover')
})

test('"discover" isn\'t a field of a synced connection', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const record = { id: 'lab', provider: lab.provider, name: 'lab', createdAt: at, updatedAt: at }
  assert.equal(parseReplicatedRecord('connections', record), record)
  assert.throws(() => parseReplicatedRecord('connections', { ...record, discover: true }), /Unknown field "discover"/)
})

test('a change with "discover" queries the server of the changed connection with the stored key', async () => {
  const handlers = [lists('a'), http.get('http://lab.test/v2/models', () => HttpResponse.json(models('b')))]
  const { expect, fetch } = open(...handlers)
  const { id } = await expect(201, 'POST', '/api/connections', { ...lab, apiKey: 'sk-0123456789-abcd' })
  const changed = await expect(200, 'PUT', `/api/connections/${id}`, {
    baseUrl: 'http://lab.test/v2',
    apiKey: 'sk-0123456789-efgh',
    discover: true,
  })
  assert.equal(changed.providerSpecificData?.enabledModels, ['b'])
  assert.is(fetch.requests[0]?.headers.get('authorization'), 'Bearer sk-0123456789-efgh')
  const again = await expect(200, 'PATCH', `/api/connections/${id}`, { discover: true })
  assert.equal(again.providerSpecificData, { ...changed.providerSpecificData })
  assert.is(fetch.requests[1]?.headers.get('authorization'), 'Bearer sk-0123456789-efgh')
})

test('never sends a stored key to another host to discover its models', async () => {
  const { expectError, expect, asked } = open(lists('a'))
  const { id } = await expect(201, 'POST', '/api/connections', { ...lab, apiKey: 'sk-0123456789-abcd' })
  await expectError(
    400,
    '"providerSpecificData.baseUrl" changes where the connection\'s key is sent, so send "apiKey" again as well, or null for none',
    ['PUT', `/api/connections/${id}`, { baseUrl: 'http://other.test/v1', discover: true }],
  )
  assert.equal(asked(), [])
})

test('put with "discover" queries the server at each start, and writes only changes', async () => {
  let served = ['a']
  const handler = http.get(`${LAB}/models`, () => HttpResponse.json(models(...served)))
  const { api, storage, asked } = open(handler)
  const put = () => api.connections.put({ id: 'lab', ...lab, discover: true })
  const first = await put()
  assert.equal(first.providerSpecificData?.enabledModels, ['a'])
  const before = await storage.list('')
  assert.equal(await put(), first)
  assert.equal(await storage.list(''), before, 'nothing was written')
  served = ['a', 'b']
  assert.equal((await put()).providerSpecificData?.enabledModels, ['a', 'b'])
  assert.is(asked().length, 3)
})

test('keeps discovered models while the server is unreachable, even if other settings are replaced', async () => {
  let isUnavailable = false
  const handler = http.get(`${LAB}/models`, () =>
    isUnavailable ? HttpResponse.error() : HttpResponse.json(models('a')),
  )
  const { api } = open(handler)
  const { provider, ...providerSpecificData } = lab
  const put = (extra = {}) =>
    api.connections.put({ id: 'lab', provider, providerSpecificData, discover: true, ...extra })
  await put()
  isUnavailable = true
  const kept = await put()
  assert.equal(kept.providerSpecificData?.enabledModels, ['a'])
  assert.match(kept.warnings?.join() ?? '', 'is unreachable')
  const input = await put({ providerSpecificData: { ...providerSpecificData, enabledModels: ['mine'] } })
  assert.equal(input.providerSpecificData?.enabledModels, ['mine'], 'given models replace the discovered ones')
  const removed = await api.connections.update('lab', { enabledModels: null, discover: true })
  assert.equal(removed.providerSpecificData, providerSpecificData)
})

test('POST /api/connections/{id}/models queries the server again, including in process and through the client', async () => {
  let count = 0
  const { expect, call, expectError, api, gateway } = open(
    http.get(`${LAB}/models`, () => HttpResponse.json(models(...['a', 'b', 'c'].slice(0, ++count)))),
  )
  const { id } = await expect(201, 'POST', '/api/connections', { ...lab, enabledModels: ['old'] })
  const path = `/api/connections/${id}/models`
  assert.equal((await expect(200, 'POST', path)).providerSpecificData?.enabledModels, ['a'])
  assert.equal((await api.connections.discover(id)).providerSpecificData?.enabledModels, ['a', 'b'])
  const client = createClient({ baseUrl: 'http://gateway.test', token: TOKEN, fetch: gateway.fetch })
  const last = await client.connections.discover(id)
  assert.equal(last.providerSpecificData?.enabledModels, ['a', 'b', 'c'])
  assert.equal(last, JSON.parse(JSON.stringify(await api.connections.get(id))))
  await expectError(404, 'Connection not found', ['POST', '/api/connections/none/models'])
  assert.is((await call('GET', path)).status, 405)
})

const getList = (address: string, response: object) => http.get(address, () => HttpResponse.json(response))
const formats: Array<[what: string, input: object, answer: object, url: string, headers: Record<string, string>]> = [
  ['OpenAI, without a key', lab, models('m'), `${LAB}/models`, {}],
  ['OpenAI, with a key', { ...lab, apiKey: 'sk-1' }, models('m'), `${LAB}/models`, { authorization: 'Bearer sk-1' }],
  [
    'OpenAI’s Responses API',
    { ...lab, provider: 'own', format: 'openai-responses', apiKey: 'sk-1' },
    models('m'),
    `${LAB}/models`,
    { authorization: 'Bearer sk-1' },
  ],
  [
    'a catalog provider with a key',
    { provider: 'openai', apiKey: 'sk-1' },
    models('m'),
    'https://api.openai.com/v1/models',
    { authorization: 'Bearer sk-1' },
  ],
  [
    'Anthropic',
    { provider: 'anthropic', apiKey: 'sk-1' },
    { data: [{ type: 'model', id: 'm', display_name: 'M' }], has_more: false, first_id: 'm', last_id: 'm' },
    'https://api.anthropic.com/v1/models?limit=1000',
    { 'x-api-key': 'sk-1', 'anthropic-version': '2023-06-01' },
  ],
  [
    'Anthropic-compatible, with a URL that ends in /messages',
    { provider: 'anthropic-compatible-lab', baseUrl: `${LAB}/messages`, apiKey: 'sk-1' },
    { data: [{ type: 'model', id: 'm' }] },
    `${LAB}/models?limit=1000`,
    { 'x-api-key': 'sk-1', 'anthropic-version': '2023-06-01', authorization: 'Bearer sk-1' },
  ],
  [
    'Anthropic-compatible, without a key',
    { provider: 'anthropic-compatible-lab', baseUrl: LAB },
    { data: [{ type: 'model', id: 'm' }] },
    `${LAB}/models?limit=1000`,
    { 'anthropic-version': '2023-06-01' },
  ],
  [
    'Google',
    { provider: 'google', apiKey: 'sk-1' },
    { models: [{ name: 'models/m', supportedGenerationMethods: ['generateContent'] }], nextPageToken: '' },
    'https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000',
    { 'x-goog-api-key': 'sk-1' },
  ],
]
for (const [label, input, response, url, headers] of formats) {
  test(`discovery queries a server for its models in the format of ${label}`, async () => {
    const { api, fetch } = open(getList(url.replace(/\?.*/, ''), response))
    const created = await api.connections.create({ provider: '', ...input, discover: true })
    assert.equal([created.providerSpecificData?.enabledModels, created.warnings], [['m'], undefined])
    const [request] = fetch.requests
    assert.equal([request?.url, request?.method, request?.redirect, request?.cache], [url, 'GET', 'manual', 'no-store'])
    assert.equal(Object.fromEntries(request?.headers ?? []), { 'content-type': 'application/json', ...headers })
  })
}

const AGAIN = 'Then try "discover" again, or list its models with "enabledModels".'
const AT = `The server at ${LAB}/models`
const CHECK = 'check "baseUrl", which usually ends in "/v1"'
const status = (code: number) =>
  http.get(`${LAB}/models`, () => HttpResponse.json({ error: 'sk-2 leaked' }, { status: code }))
const problems: Array<[what: string, handler: RequestHandler, warning: string, input?: object]> = [
  [
    'is unreachable',
    http.get(`${LAB}/models`, () => HttpResponse.error()),
    `${AT} is unreachable: start it, or set its "baseUrl". ${AGAIN}`,
  ],
  ['requires a key', status(401), `${AT} returned status 401 because it requires a key: set "apiKey". ${AGAIN}`],
  ['rejects the key', status(403), `${AT} returned status 403: check "apiKey". ${AGAIN}`, { apiKey: 'sk-2' }],
  ['returns a 404 for the path', status(404), `${AT} returned status 404: ${CHECK}. ${AGAIN}`],
  ['is loading its model', status(503), `${AT} returned status 503: wait until it is ready. ${AGAIN}`],
  [
    'sends a web page',
    http.get('*', () => HttpResponse.html('<h1>hello</h1>')),
    `${AT} did not return a list of models: ${CHECK}. ${AGAIN}`,
  ],
  [
    'returns 200 for any path',
    getList(`${LAB}/models`, { error: 'Unexpected endpoint or method. (GET /models)' }),
    `${AT} did not return a list of models: ${CHECK}. ${AGAIN}`,
  ],
  ['has no models', lists(), `${AT} has no models yet. Load one there, then try "discover" again.`],
  [
    'returns null as the list',
    getList(`${LAB}/models`, { object: 'list', data: null }),
    `${AT} has no models yet. Load one there, then try "discover" again.`,
  ],
  [
    'has no URL',
    lists('m'),
    `The connection has no URL to get models from. Set "baseUrl". ${AGAIN}`,
    { baseUrl: null },
  ],
  [
    'is a cloud service',
    lists('m'),
    'AWS Bedrock cannot list an account\'s models. List them with "enabledModels".',
    {
      provider: 'bedrock',
      baseUrl: null,
      region: undefined,
      providerSpecificData: { region: 'us-east-1' },
      apiKey: 'sk-2',
    },
  ],
]
for (const [label, handler, warning, input = {}] of problems) {
  test(`creates a connection even if its server ${label}, with a warning that explains what to do`, async () => {
    const { expect, expectError: _, gateway } = open(handler)
    const created = await expect(201, 'POST', '/api/connections', { ...lab, ...input, discover: true })
    assert.equal(Reflect.get(created, 'warnings'), [warning])
    assert.not.ok(created.providerSpecificData?.enabledModels)
    const again = await gateway.api.connections.discover(created.id)
    assert.equal(again, { ...(await gateway.api.connections.get(created.id)), warnings: [warning] })
  })
}

test("discovery waits at most five seconds in total for a hanging server's headers and body", async () => {
  const body = () => new HttpResponse(new ReadableStream(), { headers: { 'content-type': 'application/json' } })
  for (const respond of [() => new Promise<Response>(() => {}), body]) {
    const { api, clock } = open(http.get(`${LAB}/models`, respond))
    const created = api.connections.create({ ...lab, discover: true })
    await clock.untilPending()
    await clock.advance(4_999)
    assert.is(clock.pending(), 1)
    await clock.advance(1)
    assert.match(
      (await created).warnings?.join() ?? '',
      `${AT} did not list its models within 5 s: check whether it is busy or starting. ${AGAIN}`,
    )
  }
})

test("discovery drops IDs that aren't valid in enabledModels, and any beyond the first 5,000", async () => {
  const many = Array.from({ length: 5_001 }, (_, index) => `m${index}`)
  const { api } = open(lists('a\nb', 'x'.repeat(513), ...many))
  const created = await api.connections.create({ ...lab, discover: true })
  assert.equal(created.providerSpecificData?.enabledModels, many.slice(0, 5_000))
  assert.match(created.warnings?.join() ?? '', `${AT} has 5001 models. The first 5000 are kept`)
})

const NOTHING =
  'GET /v1/models lists none of this connection\'s models because its server was never queried. Query the server with "discover": true, or list its models with "enabledModels".'
const CATALOG =
  'GET /v1/models lists this connection\'s models from the catalog, and its server may not have them. Query the server with "discover": true, or list its models with "enabledModels".'
for (const [label, input, warning] of [
  ['a compatible connection without a key', lab, NOTHING],
  [
    'a compatible connection whose id ends in hex digits',
    { ...lab, provider: 'openai-compatible-0123456789', apiKey: 'k' },
    NOTHING,
  ],
  ['a compatible connection without a URL', { provider: 'openai-compatible', apiKey: 'k' }, NOTHING],
  ['a provider outside the catalog', { ...lab, provider: 'own', apiKey: 'k' }, NOTHING],
  ['ollama', { provider: 'ollama' }, CATALOG],
  ['LM Studio under its alias, with a key', { provider: 'lms', apiKey: 'k' }, CATALOG],
  ['your own server under a vendor’s name, without a key', { provider: 'openai', baseUrl: LAB }, CATALOG],
  ['a compatible connection with a key', { ...lab, apiKey: 'k' }, undefined],
  ['a connection with enabled models', { ...lab, enabledModels: ['m'] }, undefined],
  ['a vendor with a key', { provider: 'openai', apiKey: 'k' }, undefined],
  ['a vendor without a key yet', { provider: 'openai' }, undefined],
  ['web search', { provider: 'tavily', apiKey: 'k' }, undefined],
] as const) {
  test(`${warning ? 'warns' : "doesn't warn"} that the server's model list was never fetched: ${label}`, async () => {
    const { expect, api, asked } = open()
    const created = await expect(201, 'POST', '/api/connections', input)
    const shown = { ...(await api.connections.get(created.id)), ...(warning && { warnings: [warning] }) }
    assert.equal(created, shown)
    assert.equal(await expect(200, 'PUT', `/api/connections/${created.id}`, { ...created, apiKey: undefined }), {
      ...shown,
      updatedAt: '2026-01-01T00:00:00.001Z',
    })
    assert.equal(asked(), [])
  })
}

test("doesn't warn about models that were never queried if custom models replace the server's", async () => {
  const { api } = open()
  await api.customModels.create({ providerAlias: 'lab', id: 'm' })
  assert.not.ok('warnings' in (await api.connections.create(lab)))
})

test('a connection with a prefix that would be rejected today can still discover its models', async () => {
  const storage = memoryStorage()
  const fetch = upstream(lists('m'))
  const before = openManagement({ storage, fetch, catalog: {} }).gateway
  const { id } = await before.api.connections.create({ ...lab, prefix: 'openai' })
  const { api } = openManagement({ storage, fetch }).gateway
  assert.equal((await api.connections.discover(id)).providerSpecificData?.enabledModels, ['m'])
})

test('"discover" must be a boolean, and invalid input calls no server', async () => {
  const { expectError, expect, asked } = open(lists('m'))
  const path = '/api/connections'
  await expectError(400, '"discover" must be true or false', ['POST', path, { ...lab, discover: 'yes' }])
  await expect(400, 'POST', path, { ...lab, prefix: 'openai', discover: true })
  await expect(400, 'POST', path, { ...lab, discover: true, enabledModels: [1] })
  await expect(201, 'POST', path, { ...lab, discover: false })
  assert.equal(asked(), [])
})

test('discovered models survive a restart, and are included in a copied record', async () => {
  const storage = memoryStorage()
  const fetch = upstream(lists('m'))
  const { id } = await openManagement({ storage, fetch }).gateway.api.connections.create({ ...lab, discover: true })
  const later = openManagement({ storage, fetch }).gateway
  assert.equal((await later.api.connections.get(id)).providerSpecificData?.enabledModels, ['m'])
  assert.is(fetch.requests.length, 1)
})
