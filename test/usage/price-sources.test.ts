import { decodeRequests, encodeRequests } from '../../src/features/usage/usage-codec.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { Catalog, Logger } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('price sources')

const catalog: Catalog = {
  one: {
    baseUrl: 'http://one.test/v1',
    asOf: '2026-09-30',
    models: [
      { id: 'm', price: { input: 1, output: 2 } },
      { id: 'old', price: { input: 1, output: 2 }, asOf: '2026-01-02' },
      { id: 'unknown' },
    ],
  },
}

const openPriced = (options: object = {}) =>
  openWorld({ catalog, connections: ['one'], fetch: fakeUpstream(() => json(chatResponse())), usage: true, ...options })

test('a record includes the price, its source, and its date', async () => {
  const { api, chat, clock } = await openPriced()
  await api.customModels.create({ providerAlias: 'one', id: 'custom', prices: { input: 1, output: 1 } })
  const { connections } = await api.connections.list()
  await api.connections.update(connections[0]?.id ?? '', { prices: { own: { input: 1, output: 1 } } })
  const today = new Date(clock.now()).toISOString().slice(0, 10)
  for (const model of ['m', 'old', 'own', 'custom', 'unknown']) await (await chat({ model: `one/${model}` })).text()
  const { requests } = await api.usage.requests({})
  const models = ['m', 'old', 'own', 'custom', 'unknown']
  const prices = models.map((model) => requests.find(({ target }) => target?.model === model)?.attempts[0]?.price)
  assert.equal(prices, [
    { by: 'built-in', of: 'one/m', asOf: '2026-09-30' },
    { by: 'built-in', of: 'one/old', asOf: '2026-01-02' },
    { by: 'connection', of: 'one/own', asOf: today },
    { by: 'custom', of: 'one/custom' },
    undefined,
  ])
  const { targets } = await api.explain({ model: 'one/m' })
  assert.equal(targets[0]?.price, prices[0])
})

test("a price change doesn't affect stored requests or totals", async () => {
  const { api, chat, clock } = await openPriced()
  await (await chat({})).text()
  const before = await api.usage.summary()
  const { connections } = await api.connections.list()
  await api.connections.update(connections[0]?.id ?? '', { prices: { m: { input: 100, output: 100 } } })
  await clock.advance(5_000)
  assert.equal((await api.usage.summary()).totals.costUsd, before.totals.costUsd)
})

test('requests stored by an earlier release have no price, and earlier releases can read new requests', () => {
  const tokens = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const target = { provider: 'one', model: 'm', connectionId: 'c' }
  const price = { by: 'live' as const, of: 'one/m', asOf: '2026-11-27' }
  const attempt = { ...target, outcome: 'answered', status: 200, startMs: 0, durationMs: 1, tokens, costUsd: 1 }
  const request = {
    ...{ id: '01JDW2V8M5Q4XK7N3R6T9Y0ABC', time: '2026-11-30T00:00:00.000Z', endpoint: '/v1/messages' },
    ...{ format: 'anthropic-messages' as const, streamed: false, durationMs: 1, status: 200, end: 'complete' as const },
    ...{ tokens, attempts: [attempt] },
  }
  const priced = { ...request, attempts: [{ ...attempt, price }] }
  const stored = encodeRequests([priced], 0)
  assert.equal(decodeRequests(stored)?.[0]?.attempts[0]?.price, price)
  assert.is(decodeRequests(encodeRequests([request], 0))?.[0]?.attempts[0]?.price, undefined)
  const { rows } = JSON.parse(stored)
  const [spent] = rows[0][16].map((row: unknown[]) => row.at(-1))
  assert.equal(spent.slice(0, 10), [1_000_000_000, -1, 1, 10, 1, 0, 0, 0, null, []]) // the fields that earlier releases read
})

test('the built-in Anthropic models have the date of their prices', () => {
  assert.match(defaultCatalog.anthropic?.asOf ?? '', /^2026-\d\d-\d\d$/)
})

const askWithBudget = async (world: Awaited<ReturnType<typeof openPriced>>, model: string) => {
  const { key, id } = await world.api.keys.create({ name: 'alice', limits: { usd: { day: 5 } } })
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: `{"model":"${model}","messages":[]}`,
  }
  const send = () => world.gateway.fetch(new Request('http://gateway/v1/chat/completions', init))
  return { send, id }
}

test('a dollar limit rejects an unpriced model, and the log shows the call that sets the price', async () => {
  const warnings: string[] = []
  const logger: Logger = { warn: (message) => void warnings.push(message), error() {} }
  const world = await openPriced({ logger })
  const { send, id } = await askWithBudget(world, 'one/unknown')
  const response = await send()
  assert.is(response.status, 402)
  const { error } = await response.json()
  assert.match(
    error.message,
    /^The price of "one\/unknown" is unknown, and this request is subject to a dollar limit\./,
  )
  assert.not.match(error.message, /gateway\.api/)
  await (await send()).text()
  const { connections } = await world.api.connections.list()
  const call = `gateway.api.connections.update('${connections[0]?.id}', { prices: { unknown: { input: 3, output: 15 } } })`
  const advice = `No price of "one/unknown": ${call} (USD per million tokens). The catalog is of 2026-09-30. To keep it current: catalog: { refresh: 'models.dev' }.`
  assert.equal(warnings, [advice]) // logged once for two rejected requests
  const { targets } = await world.api.explain({ model: 'one/unknown', keyId: id })
  assert.ok(targets[0]?.why.endsWith(advice), targets[0]?.why)
})

test('without a limit, the cost of an unpriced model is omitted, and the request counts as unpriced', async () => {
  const { api, chat, recorded } = await openPriced()
  assert.is((await chat({ model: 'one/unknown' })).status, 200)
  const { totals } = await api.usage.summary()
  assert.equal([totals.unpriced, totals.costUsd], [1, 0])
  const { requests } = await api.usage.requests({})
  assert.not.ok('costUsd' in (requests[0] ?? {}))
  assert.not.ok('costUsd' in (recorded.usages[0] ?? {}))
})

test('after the logged call sets the price, the next request succeeds', async () => {
  const warnings: string[] = []
  const world = await openPriced({ logger: { warn: (message: string) => void warnings.push(message), error() {} } })
  const { connections } = await world.api.connections.list()
  await world.api.connections.update(connections[0]?.id ?? '', { prices: { m: { input: 7 } } })
  const { send } = await askWithBudget(world, 'one/unknown')
  assert.is((await send()).status, 402)
  const [, args = ''] = /connections\.update\((.*)\) \(USD/.exec(warnings[0] ?? '') ?? []
  const [id, change] = new Function(`return [${args}]`)()
  await world.api.connections.update(id, change)
  assert.is((await send()).status, 200)
  const [connection] = (await world.api.connections.list()).connections
  assert.equal(connection?.prices, { m: { input: 7 }, unknown: { input: 3, output: 15 } })
})
