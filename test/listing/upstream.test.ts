import { HttpResponse, http, type RequestHandler } from 'msw'
import { assert, suite } from '../support/suite.ts'
import { upstream } from '../support/upstream.ts'
import { getIds, type World } from './world.ts'

const test = suite('upstream model fetch: requests and responses')

const BASE = 'http://up.test/v1'
const model = (id: string) => ({ id })

function compatible(provider = 'openai-compatible-lab', baseUrl: unknown = BASE, apiKey = 'secret'): World {
  const providerSpecificData = { prefix: 'lab', baseUrl: baseUrl as string } // stored records may contain anything
  return { connections: [{ provider, apiKey, providerSpecificData }] }
}

/** Lists a world with an upstream that has one handler for every URL. */
async function send(world: World, respond: Parameters<typeof http.get>[1] = () => HttpResponse.json([model('m')])) {
  const fetch = upstream(http.get('*', respond))
  const recorded: unknown[] = []
  const onError = (error: unknown) => void recorded.push(error)
  return { ids: await getIds(world, ['llm'], { fetch, onError }), requests: fetch.requests, recorded }
}

test('bearer authentication sends GET <baseUrl>/models with the key, without caching or following redirects', async () => {
  const { ids, requests } = await send(compatible())
  assert.equal(ids, ['lab/m'])
  const [request] = requests
  assert.is(requests.length, 1)
  assert.is(request?.method, 'GET')
  assert.is(request?.url, `${BASE}/models`)
  assert.is(request?.cache, 'no-store')
  assert.is(request?.redirect, 'manual')
  assert.equal(Object.fromEntries(request?.headers ?? []), {
    authorization: 'Bearer secret',
    'content-type': 'application/json',
  })
})

test('Anthropic-style authentication sends the key in two headers, and the API version', async () => {
  const { ids, requests } = await send(compatible('anthropic-compatible-lab'))
  assert.equal(ids, ['lab/m'])
  assert.is(requests[0]?.url, `${BASE}/models`)
  assert.equal(Object.fromEntries(requests[0]?.headers ?? []), {
    authorization: 'Bearer secret',
    'content-type': 'application/json',
    'x-api-key': 'secret',
    'anthropic-version': '2023-06-01',
  })
})

for (const [baseUrl, bearer, messages] of [
  ['http://up.test/v1', 'http://up.test/v1/models', 'http://up.test/v1/models'],
  ['http://up.test/v1/', 'http://up.test/v1/models', 'http://up.test/v1/models'],
  ['  http://up.test/v1/  ', 'http://up.test/v1/models', 'http://up.test/v1/models'],
  ['http://up.test/v1//', 'http://up.test/v1//models', 'http://up.test/v1//models'],
  ['http://up.test/v1/messages', 'http://up.test/v1/messages/models', 'http://up.test/v1/models'],
  ['http://up.test/v1/messages/', 'http://up.test/v1/messages/models', 'http://up.test/v1/models'],
  ['http://up.test/v1/my-messages', 'http://up.test/v1/my-messages/models', 'http://up.test/v1/my-messages/models'],
  ['http://up.test/messages/v1', 'http://up.test/messages/v1/models', 'http://up.test/messages/v1/models'],
] as const) {
  test(`builds the models URL from the base URL "${baseUrl}"`, async () => {
    assert.is((await send(compatible('openai-compatible', baseUrl))).requests[0]?.url, bearer)
    assert.is((await send(compatible('anthropic-compatible', baseUrl))).requests[0]?.url, messages)
  })
}

const keyless: World = { connections: [{ provider: 'openai-compatible', providerSpecificData: { baseUrl: BASE } }] }
const unaskable: Array<[what: string, world: World]> = [
  ['a base URL', compatible('openai-compatible', null)],
  ['a nonblank base URL', compatible('openai-compatible', '   ')],
  ['a base URL that is a string', compatible('openai-compatible', { href: BASE })],
  ['a key', keyless],
  ['a nonempty key', compatible('openai-compatible', BASE, '')],
]
for (const [label, world] of unaskable) {
  test(`the upstream isn't queried without ${label}`, async () => {
    const { ids, requests, recorded } = await send(world)
    assert.equal(ids, [])
    assert.is(requests.length, 0)
    assert.equal(recorded, [])
  })
}

for (const [provider, requested] of [
  ['openai-compatible', true],
  ['openai-compatible-chat-lab', true],
  ['anthropic-compatible', true],
  ['openai-compatible-1234567', true],
  ['openai-compatible-12345678', false],
  ['openai-compatible_12345678', false],
  ['openai-compatible-chat-0123456789abcdef', false],
  ['anthropic-compatible-DEADBEEF', false],
  ['anthropic-compatible_deadbee', true],
  ['openai-compatible-x12345678', true],
  ['openai-compatible-1234567g', true],
  ['openai-compatible-12345678-lab', true],
  ['openai', false],
  ['my-openai-compatible', false],
] as const) {
  test(`a ${provider} connection ${requested ? 'is' : "isn't"} queried for its models`, async () => {
    const { ids, requests } = await send(compatible(provider))
    assert.is(requests.length, requested ? 1 : 0)
    assert.equal(ids, requested ? ['lab/m'] : [])
  })
}

test('the upstream is queried only if the base list is empty', async () => {
  const [connection] = compatible().connections ?? []
  const withEnabled = (enabledModels: string[]): World => ({
    connections: connection
      ? [{ ...connection, providerSpecificData: { ...connection.providerSpecificData, enabledModels } }]
      : [],
  })
  assert.equal((await send(withEnabled(['mine']))).requests.length, 0)
  assert.equal((await send(withEnabled([]))).ids, ['lab/m'])
  assert.equal((await send(withEnabled(['  ']))).ids, ['lab/m'], 'a list of blanks counts as empty')
  const catalog: World['catalog'] = { 'openai-compatible-lab': { models: [{ id: 'known' }] } }
  const known = await send({ ...compatible(), catalog })
  assert.equal([known.ids, known.requests.length], [['lab/known'], 0])
})

test("custom models and aliases are added to the upstream's models", async () => {
  const world: World = {
    ...compatible(),
    customModels: [{ id: 'custom', providerAlias: 'lab' }],
    aliases: ['openai-compatible-lab/aliased', 'lab/m'],
  }
  assert.equal((await send(world)).ids, ['lab/m', 'lab/custom', 'lab/aliased'])
})

test('upstream IDs stay unchanged except for a leading provider name, and are filtered by kind', async () => {
  const respond = () =>
    HttpResponse.json([' m ', 'lab/m', 'openai-compatible-lab/n', 'meta/llama', 'text-embed', 'lab/'].map(model))
  assert.equal((await send(compatible(), respond)).ids, ['lab/ m ', 'lab/m', 'lab/n', 'lab/meta/llama'])
})

const many = [model('a'), model('b'), model('a')]
for (const [label, response, expected] of [
  ['an array', many, ['lab/a', 'lab/b']],
  ['data', { data: many }, ['lab/a', 'lab/b']],
  ['models', { models: many }, ['lab/a', 'lab/b']],
  ['results', { results: many }, ['lab/a', 'lab/b']],
  [
    'a choice of lists, in the order data, models, results',
    { results: [model('r')], models: [model('m')], data: [model('d')] },
    ['lab/d'],
  ],
  ['models, if data is not an array', { data: {}, models: [model('m')] }, ['lab/m']],
  [
    'a choice of names, in the order id, name, model',
    [{ model: 'm', name: 'n', id: 'i' }, { model: 'm', name: 'n' }, { model: 'm' }],
    ['lab/i', 'lab/n', 'lab/m'],
  ],
  [
    'blank or non-string names, which are skipped',
    [
      { id: ' ', name: 'n' },
      { id: 7, name: null, model: 'm' },
    ],
    ['lab/n', 'lab/m'],
  ],
  ['elements without a name', [{}, { title: 'x' }, null, 'text', 7, ['x'], model('a')], ['lab/a']],
  ['an object without a list', { error: 'no' }, []],
  ['text', 'models', []],
  ['null', null, []],
] as const) {
  test(`the listing parses a model list from a response with ${label}`, async () => {
    assert.equal((await send(compatible(), () => HttpResponse.json(response))).ids, expected)
  })
}

const failures: Array<[what: string, handler: RequestHandler]> = [
  ...[204, 300, 400, 401, 404, 429, 500, 503].map((status): [string, RequestHandler] => [
    `status ${status}`,
    http.get('*', () => new HttpResponse(status === 204 ? null : JSON.stringify([model('m')]), { status })),
  ]),
  ["a redirect, which isn't followed", http.get('*', () => HttpResponse.redirect('http://elsewhere.test/models', 302))],
  ['a broken connection', http.get('*', () => HttpResponse.error())],
  ['HTML instead of JSON', http.get('*', () => HttpResponse.html('<h1>hello</h1>'))],
  ['invalid UTF-8', http.get('*', () => HttpResponse.arrayBuffer(Uint8Array.of(0x5b, 0xff, 0x5d).buffer))],
  ['an empty body', http.get('*', () => HttpResponse.text(''))],
]
for (const [label, handler] of failures) {
  test(`${label} results in an empty list, and onError gets the failure without the key`, async () => {
    const fetch = upstream(handler)
    const recorded: unknown[] = []
    const world: World = {
      ...compatible(),
      combos: [{ name: 'team' }],
      customModels: [{ id: 'mine', providerAlias: 'lab' }],
    }
    assert.equal(await getIds(world, ['llm'], { fetch, onError: (error) => recorded.push(error) }), [
      'team',
      'lab/mine',
    ])
    assert.is(fetch.requests.length, 1)
    assert.is(recorded.length, 1)
    assert.match(String(recorded[0]), /No models from openai-compatible-lab/)
    assert.not.match(JSON.stringify(recorded[0]) + String(recorded[0]), /secret/)
  })
}

test('onError gets the status of an upstream error', async () => {
  const recorded: unknown[] = []
  const fetch = upstream(http.get('*', () => new HttpResponse('no', { status: 401 })))
  await getIds(compatible(), ['llm'], { fetch, onError: (error) => recorded.push(error) })
  assert.match(String(recorded[0]), /No models from openai-compatible-lab: The provider returned status 401\./)
})

test("a key that isn't valid in a header isn't sent, and the error doesn't quote it", async () => {
  const recorded: unknown[] = []
  const fetch = upstream()
  const world = compatible('openai-compatible', BASE, 'sec\nret')
  assert.equal(await getIds(world, ['llm'], { fetch, onError: (error) => recorded.push(error) }), [])
  assert.is(recorded.length, 1)
  assert.not.match(JSON.stringify(recorded[0], Object.getOwnPropertyNames(recorded[0])), /sec.{0,3}ret/)
})

test("a key that can't be decrypted results in an empty list", async () => {
  const recorded: unknown[] = []
  const store = { keyring: () => Promise.reject(new Error('wrong secret')) }
  const fetch = upstream()
  assert.equal(await getIds(compatible(), ['llm'], { fetch, store, onError: (error) => recorded.push(error) }), [])
  assert.is(recorded.length, 1)
  assert.is(fetch.requests.length, 0)
})
