import type { Catalog } from '../../src/types.ts'
import { openManagement } from '../management/open-management.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('custom prices')

const catalog: Catalog = {
  one: {
    alias: 'uno',
    baseUrl: 'http://one.test/v1',
    models: [{ id: 'm', price: { input: 1, output: 2 } }, { id: 'free' }],
  },
}

const usage = { prompt_tokens: 1_000_000, completion_tokens: 1_000_000, total_tokens: 2_000_000 }

async function world() {
  const upstream = fakeUpstream(() => json({ ...chatResponse(), usage }))
  const opened = await openWorld({ fetch: upstream, catalog, connections: ['one'] })
  const { api, recorded, chat } = opened
  const [connection] = (await api.connections.list()).connections
  const cost = async (model: string) => {
    await (await chat({ model, messages: [] })).text()
    return recorded.usages.at(-1)?.costUsd
  }
  return { ...opened, id: connection?.id ?? '', cost }
}

test('prices come from the connection, then the custom model, then the catalog', async () => {
  const { api, id, cost } = await world()
  assert.equal([await cost('one/m'), await cost('one/free'), await cost('one/new')], [3, undefined, undefined])
  await api.customModels.put({ providerAlias: 'uno', id: 'new', prices: { input: 0, output: 5 } })
  await api.customModels.put({ providerAlias: 'one', id: 'm', prices: { input: 10, output: 10 } })
  assert.equal([await cost('one/m'), await cost('uno/new')], [20, 5])
  await api.connections.update(id, { prices: { m: { input: 0.5, output: 0.5 }, free: { input: 0, output: 0 } } })
  assert.equal([await cost('one/m'), await cost('one/free'), await cost('uno/new')], [1, 0, 5])
  await api.connections.update(id, { prices: { m: { input: 4 } } })
  assert.equal([await cost('one/m'), await cost('one/free')], [undefined, undefined])
  await api.connections.update(id, { prices: null })
  assert.is(await cost('one/m'), 20)
  await api.customModels.put({ providerAlias: 'one', id: 'm', prices: null })
  assert.is(await cost('one/m'), 3)
  assert.is(await cost('one/constructor'), undefined)
})

test('custom prices determine which target is cheapest', async () => {
  const upstream = fakeUpstream(() => json({ ...chatResponse(), usage }))
  const getPrices = (input: number) => ({ prices: { m: { input, output: 1 } } })
  const connections = [
    { provider: 'one', ...getPrices(5) },
    { provider: 'two', ...getPrices(3) },
    { provider: 'three', ...getPrices(4) },
  ]
  const { chat } = await openWorld({
    fetch: upstream,
    connections,
    combos: { cheap: { models: ['one/m', 'two/m', 'three/m'], strategy: 'least-cost' } },
  })
  await chat({ model: 'cheap', messages: [] })
  assert.equal(
    upstream.calls.map(({ provider }) => provider),
    ['two'],
  )
})

const AMOUNT = 'must be a number of 0 or more'
const EMPTY = 'must contain a price, such as "input"'

test('invalid custom prices are rejected with the field name', async () => {
  const { expect, expectError } = openManagement()
  const { id } = await expect(201, 'POST', '/api/connections', { provider: 'openai' })
  for (const [prices, error] of [
    [{ m: { input: -1 } }, `"prices.m.input" ${AMOUNT}`],
    [{ m: { image: '1' } }, `"prices.m.image" ${AMOUNT}`],
    [{ m: {} }, `"prices.m" ${EMPTY}`],
    [{ m: 5 }, '"prices.m" must be an object'],
    [[], '"prices" must be an object'],
  ] as const) {
    await expectError(400, error, ['PUT', `/api/connections/${id}`, { prices }])
    await expectError(400, error, ['POST', '/api/connections', { provider: 'openai', prices }])
  }
  const model = { providerAlias: 'openai', id: 'm' }
  await expectError(400, `"prices.output" ${AMOUNT}`, [
    'POST',
    '/api/models/custom',
    { ...model, prices: { output: null } },
  ])
  await expectError(400, `"prices" ${EMPTY}`, ['PUT', '/api/models/custom', { ...model, prices: {} }])
  const unknown = await expect(400, 'POST', '/api/models/custom', { ...model, prices: { token: 1 } })
  assert.match(unknown.error, /^Unknown field "prices\.token"\. Known: "input", "output", "cacheRead"/)
})
