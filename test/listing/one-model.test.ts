import { HttpResponse, http } from 'msw'
import { assert, suite } from '../support/suite.ts'
import { get, getIds, open } from './open-gateway.ts'

const test = suite('kinds and single models on a gateway')

for (const [path, expected] of [
  ['image', ['for-image', 'ac/painter']],
  ['tts', ['for-tts', 'ac/speaker']],
  ['stt', ['for-stt', 'ac/listener']],
  ['embedding', ['for-embedding', 'ac/vectors']],
  ['image-to-text', ['for-imageToText', 'ac/seer']],
  ['web', ['for-webSearch', 'for-webFetch', 'ac/search', 'ac/fetch']],
] as const) {
  test(`/v1/models/${path} lists only its kind, in the same format`, async () => {
    const { gateway } = open()
    await gateway.api.connections.create({ provider: 'acme' })
    for (const kind of ['llm', 'image', 'tts', 'stt', 'embedding', 'imageToText', 'webSearch', 'webFetch'] as const) {
      await gateway.api.combos.create({ name: `for-${kind}`, kind, models: ['ac/chat'] })
    }
    assert.equal(await getIds(gateway, `/v1/models/${path}`), expected)
    assert.equal(await getIds(gateway, '/v1/models'), ['for-llm', 'ac/chat'])
  })
}

test('web entries include their kind', async () => {
  const { gateway } = open()
  await gateway.api.connections.create({ provider: 'acme' })
  const { data }: { data: unknown[] } = await (await get(gateway, '/v1/models/web')).json()
  const shared = { object: 'model', created: 1_700_000_000, owned_by: 'ac' }
  assert.equal(data, [
    { id: 'ac/search', ...shared, kind: 'webSearch' },
    { id: 'ac/fetch', ...shared, kind: 'webFetch' },
  ])
})

for (const [label, path, id] of [
  ['a plain id', '/v1/models/team', 'team'],
  ['an id with a slash', '/v1/models/ac/chat', 'ac/chat'],
  ['an id with an encoded slash', '/v1/models/ac%2Fchat', 'ac/chat'],
  ['an id with several slashes', '/v1/models/ac/meta/llama:7b', 'ac/meta/llama:7b'],
  ['a partly encoded id', '/v1/models/ac%2fmeta/llama%3A7b', 'ac/meta/llama:7b'],
  ['a model of another kind', '/v1/models/ac/painter', 'ac/painter'],
  ['web search', '/v1/models/ac/search', 'ac/search'],
  ['an id as Google’s clients send it', '/v1/models/models/ac/chat', 'ac/chat'],
] as const) {
  test(`/v1/models/{id} returns one entry: ${label}`, async () => {
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

test("a kind's path takes precedence over a combo with the same name", async () => {
  const { gateway } = open()
  await gateway.api.combos.create({ name: 'image', models: ['ac/chat'] })
  assert.equal(await getIds(gateway, '/v1/models/image'), ['ac/painter'])
  assert.equal(await getIds(gateway, '/v1/models'), ['image', 'ac/chat'])
})

for (const [label, headers, body] of [
  ['OpenAI', {}, { error: { message: '?', type: 'invalid_request_error', param: null, code: 'model_not_found' } }],
  [
    'Anthropic',
    { 'anthropic-version': '2023-06-01' },
    { type: 'error', error: { type: 'not_found_error', message: '?' } },
  ],
  ['Google', { 'x-goog-api-client': 'x' }, { error: { code: 404, message: '?', status: 'NOT_FOUND' } }],
] as const) {
  test(`the 404 for an unknown ID suggests a similar name, in ${label}'s format`, async () => {
    const { gateway } = open()
    const response = await get(gateway, '/v1/models/ac/chatt', { headers })
    assert.is(response.status, 404)
    const reply: { error: { message: string } } = await response.json()
    assert.match(reply.error.message, /"ac\/chatt" does not exist\. Did you mean "ac\/chat"/)
    reply.error.message = '?'
    assert.equal({ ...reply, request_id: undefined }, { ...body, request_id: undefined })
  })
}

test('an unlisted model causes one upstream lookup, and no request waits longer than that', async () => {
  const never = () => new Promise<Response>(() => {})
  const { gateway, clock, fetch } = open({
    catalog: { 'openai-compatible': { serviceKinds: ['llm', 'image'] } },
    handlers: [
      http.get('http://one.test/models', () => HttpResponse.json([{ id: 'm' }])),
      http.get('http://two.test/models', never),
    ],
  })
  const connect = (baseUrl: string) =>
    gateway.api.connections.create({
      provider: 'openai-compatible',
      apiKey: 'secret',
      providerSpecificData: { baseUrl, prefix: 'x' },
    })
  const { id } = await connect('http://one.test')
  assert.is((await get(gateway, '/v1/models/x/none')).status, 404)
  assert.is(fetch.requests.length, 1)
  await gateway.api.connections.delete(id)
  await connect('http://two.test')
  const response = get(gateway, '/v1/models/x/none')
  await clock.untilPending()
  await clock.advance(5_000)
  assert.is((await response).status, 200, 'the server may have the model, and requests for it are sent there')
  assert.is(fetch.requests.length, 2)
})

test('an ID without a similar name returns a plain 404', async () => {
  const response = await get(open({ catalog: {} }).gateway, '/v1/models/zzz')
  assert.is(response.status, 404)
  const reply: { error: { message: string } } = await response.json()
  assert.match(reply.error.message, /"zzz" does not exist/)
})
