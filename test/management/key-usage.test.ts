import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('key usage')

const DAY = 86_400_000

async function world(options: object = {}) {
  const opened = await openWorld({ fetch: fakeUpstream(() => json(chatResponse())), usage: true, ...options })
  const { api, chat, clock } = opened
  await api.customModels.create({ providerAlias: 'one', id: 'm', prices: { input: 1, output: 1 } })
  const group = await api.groups.create({ name: 'team', limits: { requests: { month: 100 } } })
  const make = (name: string, extra: object = {}) => api.keys.create({ name, ...extra })
  const [busy, old, never] = [
    await make('busy', { group: group.id, limits: { requests: { day: 10 }, usd: { month: 5 } } }),
    await make('old'),
    await make('never', { expiresAt: '2099-01-01T00:00:00Z' }),
  ]
  const send = async ({ key }: { key: string }) =>
    (await chat({ model: 'one/m', messages: [] }, { headers: { 'x-api-key': key } })).text()
  const readUsage = async (...ids: string[]) =>
    new Map((await api.usage.keys({ ids })).keys.map(({ id, ...usage }) => [id, usage]))
  return { ...opened, clock, busy, old, never, send, usageOf: readUsage }
}

test("shows a key's monthly cost, its usage of each limit, and its latest request time", async () => {
  const { api, clock, busy, old, never, send, usageOf: readUsage } = await world()
  await send(busy) // in the previous month
  await send(old)
  const oldAt = clock.now()
  await clock.advance(Date.parse('2026-02-03T09:15:30Z') - clock.now())
  await send(busy)
  await send(busy)
  const busyAt = clock.now()
  await clock.advance(90_000)

  const found = await readUsage(busy.id, old.id, never.id, 'unknown')
  assert.equal([...found.keys()].sort(), [busy.id, old.id, never.id].sort())
  const { totals } = await api.usage.summary({ from: '2026-02-01', keyId: busy.id })
  const { limits, ...spent } = found.get(busy.id) ?? { limits: [] }
  assert.ok(totals.costUsd > 0)
  assert.equal(spent, {
    requests: 2,
    costUsd: totals.costUsd,
    unpriced: 0,
    lastUsedAt: new Date(busyAt).toISOString(),
  })
  assert.equal(
    limits.map(({ scope, unit, window, used }) => [scope, unit, window, used]),
    [
      ['key', 'requests', 'day', 2],
      ['key', 'usd', 'month', totals.costUsd],
      ['group', 'requests', 'month', 2],
    ],
  )
  assert.equal(found.get(old.id), { limits: [], requests: 0, costUsd: 0, unpriced: 0 }, 'longer ago than 30 days')
  assert.equal(found.get(never.id), { limits: [], requests: 0, costUsd: 0, unpriced: 0 })
  assert.ok(clock.now() - oldAt > 30 * DAY)
})

test('the latest request time is still exact days later, even after requests are aggregated', async () => {
  const { clock, gateway, busy, send, usageOf: readUsage } = await world()
  await clock.advance(5 * DAY + 12_345_678)
  await send(busy)
  const timestamp = clock.now()
  await clock.advance(150_000) // requests are aggregated every two minutes
  assert.is((await readUsage(busy.id)).get(busy.id)?.lastUsedAt, new Date(timestamp).toISOString())
  await clock.advance(3 * DAY)
  assert.is((await readUsage(busy.id)).get(busy.id)?.lastUsedAt, new Date(timestamp).toISOString())
  await gateway.close()
})

test("each key's usage of its limits is shown even without stored usage", async () => {
  const { busy, send, usageOf: readUsage } = await world({ usage: false })
  await send(busy)
  const { limits, ...spent } = (await readUsage(busy.id)).get(busy.id) ?? { limits: [] }
  assert.equal(spent, {})
  assert.equal(limits.find(({ scope, unit }) => scope === 'key' && unit === 'requests')?.used, 1)
})

test('rejects a usage query for no keys or more than 100', async () => {
  const { api } = await world()
  for (const ids of ['', [], Array.from({ length: 101 }, (_, index) => `k${index}`), 5 as never])
    await api.usage.keys({ ids }).then(
      () => assert.unreachable(),
      ({ message }) => assert.match(message, '"ids" must be 1 to 100 key IDs'),
    )
})
