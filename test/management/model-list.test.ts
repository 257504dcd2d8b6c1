import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('the model list in the management API')

test('GET /api/models lists the same models as GET /v1/models, without an API key', async () => {
  const { expect, send, gateway } = openManagement()
  await expect(201, 'POST', '/api/connections', { provider: 'openai', apiKey: 'sk-0123456789-abcd' })
  await expect(201, 'POST', '/api/combos', { name: 'fast', models: ['openai/gpt-5-mini'] })
  await expect(200, 'PATCH', '/api/settings', { requireApiKey: true })
  assert.is((await send('GET', '/v1/models')).status, 401)
  const { key } = await gateway.api.keys.create({ name: 'app' })
  const { body } = await send('GET', '/v1/models', { headers: { authorization: `Bearer ${key}` } })
  assert.equal(await expect(200, 'GET', '/api/models'), body)
  const { data } = await gateway.api.models.published()
  assert.is(data[0]?.id, 'fast')
  assert.ok(data.length > 1 && data.slice(1).every(({ id }) => id.startsWith('openai/')))
})

const catalog = {
  one: {
    baseUrl: 'http://one.test/v1',
    alias: 'first',
    serviceKinds: ['llm', 'image', 'webSearch'],
    models: [
      { id: 'large', price: { input: 2, output: 10 }, contextWindow: 100_000, maxOutputTokens: 8_000 },
      { id: 'vendor/small', price: { input: 0.1 } },
      { id: 'draw', type: 'image', price: { image: 0.04 } },
    ],
    searchConfig: { price: { search: 0.005 } },
  },
  two: { baseUrl: 'http://two.test/v1', models: [{ id: 'plain' }] },
} as const

type Published = ReturnType<typeof openManagement>['gateway']['api']['models']['published']
type Query = NonNullable<Parameters<Published>[0]>
type ModelPage = Awaited<ReturnType<Published>>

for (const isConnected of [true, false])
  test(`with a query, each model has its kind, price, and size (${isConnected ? 'connected' : 'from the catalog'})`, async () => {
    const { gateway } = openManagement({ catalog })
    const { api } = gateway
    if (isConnected) for (const provider of ['one', 'two']) await api.connections.create({ provider })
    await api.combos.create({ name: 'pictures', kind: 'image', models: ['one/draw'] })
    const listEntries = async (query: Query) =>
      (await api.models.published(query)).data.map(({ object: _, created, owned_by, ...rest }) => rest)
    const large = {
      ...{ id: 'first/large', kind: 'llm', price: { input: 2, output: 10 }, priceSource: 'catalog' },
      ...{ contextWindow: 100_000, maxOutput: 8_000 },
    }
    const small = { id: 'first/vendor/small', kind: 'llm', price: { input: 0.1 }, priceSource: 'catalog' }
    const plain = { id: 'two/plain', kind: 'llm' }
    const pictures = { id: 'pictures', kind: 'image' }
    const draw = { id: 'first/draw', kind: 'image', price: { image: 0.04 }, priceSource: 'catalog' }
    assert.equal(await listEntries({ details: true }), [large, small, plain])
    assert.equal(await listEntries({ kinds: 'llm' }), [large, small, plain])
    assert.equal(await listEntries({ q: 'SMALL' }), [small])
    assert.equal(await listEntries({ kinds: ['image'] }), [pictures, draw])
    const search = { id: 'first/search', kind: 'webSearch', price: { search: 0.005 }, priceSource: 'catalog' }
    const all = [large, small, plain, pictures, draw, ...(isConnected ? [search] : [])]
    assert.equal(await listEntries({ kinds: 'all' }), all)
    assert.equal(await listEntries({ kinds: 'image,llm', q: 'a' }), [large, small, plain, draw])
    assert.equal(await api.models.published({ details: false }), await api.models.published())
  })

test("a model's price comes from the connection, then the custom model, then the catalog", async () => {
  const { gateway } = openManagement({ catalog })
  const { api } = gateway
  const getSources = async () =>
    (await api.models.published({ details: true })).data.map(({ id, priceSource, price }) => [
      id,
      priceSource,
      price?.input,
    ])
  await api.customModels.create({ providerAlias: 'first', id: 'vendor/small', prices: { input: 7 } })
  assert.equal((await getSources())[1], ['first/vendor/small', 'customModel', 7])
  const connection = await api.connections.create({ provider: 'one', prices: { large: { input: 3 } } })
  assert.equal(await getSources(), [
    ['first/large', 'connection', 3],
    ['first/vendor/small', 'customModel', 7],
  ])
  await api.connections.update(connection.id, { isActive: false })
  assert.equal((await getSources())[0], ['first/large', 'catalog', 2])
})

test("pages contain every model once, even if a page's last model has since disappeared", async () => {
  const { gateway, expect } = openManagement({ catalog })
  const { api } = gateway
  await api.connections.create({ provider: 'one' })
  await api.connections.create({ provider: 'two' })
  for (let index = 0; index < 5; index++) await api.combos.create({ name: `combo-${index}`, models: ['one/large'] })
  const all = (await api.models.published({ kinds: 'all' })).data.map(({ id }) => id)
  for (const limit of [1, 2, 3, 100]) {
    const found: string[] = []
    for (let after: string | undefined; ; ) {
      const query = new URLSearchParams({ kinds: 'all', limit: String(limit), ...(after && { after }) })
      const page: ModelPage = Object(await expect(200, 'GET', `/api/models?${query}`))
      found.push(...page.data.map(({ id }) => id))
      after = page.after
      if (!after) break
    }
    assert.equal(found, all)
  }
  const { after = '' } = await api.models.published({ limit: 2 })
  const { combos } = await api.combos.list()
  await api.combos.delete(combos.find(({ name }) => name === 'combo-1')?.id ?? '')
  assert.is((await api.models.published({ after })).data[0]?.id, 'combo-2')
})

test('queries a compatible provider only once for its models of all kinds', async () => {
  let requestCount = 0
  const { gateway } = openManagement({
    catalog: { 'openai-compatible-lab': { alias: 'lab', serviceKinds: ['llm', 'embedding'] } },
    fetch: async () => {
      requestCount++
      return Response.json({ data: [{ id: 'chat' }, { id: 'embed-small' }] })
    },
  })
  await gateway.api.connections.create({
    provider: 'openai-compatible-lab',
    apiKey: 'sk-0123456789-lab',
    providerSpecificData: { baseUrl: 'http://lab.test/v1' },
  })
  const { data } = await gateway.api.models.published({ kinds: 'all' })
  assert.is(requestCount, 1)
  assert.equal(
    data.map(({ id, kind }) => [id, kind]),
    [
      ['lab/chat', 'llm'],
      ['lab/embed-small', 'embedding'],
    ],
  )
})

test('rejects an invalid model list parameter with an error that names it', async () => {
  const { call } = openManagement({ catalog })
  for (const [query, message] of [
    ['kinds=video', '"kinds" must be "all" or a comma-separated list of llm, image'],
    ['kinds=', '"kinds" must be'],
    ['limit=0', '"limit" must be a whole number from 1 to 1000'],
    ['after=x', '"after" must be the "after" value of a previous page'],
    ['details=1', '"details" must be true or false'],
    ['kind=llm', 'Unknown field "kind". Did you mean "kinds"?'],
    ['q=a&q=b', '"q" can only appear once'],
  ] as const) {
    const { status, body } = await call('GET', `/api/models?${query}`)
    assert.equal(
      [status, String(Object(body).error).startsWith(message)],
      [400, true],
      `${query}: ${Object(body).error}`,
    )
  }
})
