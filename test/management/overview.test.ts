import { memoryStorage } from '../../adapters/storage/memory.ts'
import { openBothEnds } from '../cloud/support/gateway-and-proxy.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld, token } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('the gateway overview')

const HOUR = 3_600_000

test('one call returns the usage of two days, the failures, and the missing setup', async () => {
  const world = await openWorld({
    usage: true,
    fetch: fakeUpstream(({ provider }) =>
      provider === 'three' ? json({ error: { message: 'out of order' } }, 500) : json(chatResponse()),
    ),
  })
  const { api, clock, chat } = world
  await chat({})
  await clock.advance(30 * HOUR)
  for (let index = 0; index < 7; index++) await chat({ model: 'three/m' })
  await chat({})
  await api.keys.create({ name: 'app' })
  const { usage, failures, health, damaged, counts, requireApiKey, mirrorError } = await api.overview()
  assert.equal([usage?.totals.requests, usage?.before?.totals.requests], [8, 1])
  assert.is(usage?.rows.length, 1)
  assert.is(Date.parse(usage?.rows[0]?.hour ?? ''), Math.floor(clock.now() / HOUR) * HOUR)
  assert.ok(usage?.totals.durationMs)
  assert.is(Date.parse(usage?.from ?? ''), Math.floor(clock.now() / HOUR) * HOUR - 23 * HOUR)
  assert.equal(
    failures.map(({ end, model }) => [end, model]),
    Array.from({ length: 5 }, () => ['failed', 'three/m']),
  )
  assert.equal(
    health.map(({ provider }) => provider),
    health.map(() => 'three'),
  )
  assert.equal([damaged, counts, requireApiKey, mirrorError], [0, { keys: 1, connections: 4 }, false, undefined])
  const reply = await world.gateway.fetch('http://gateway/api/overview', {
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(await reply.json(), await api.overview())
})

test("the overview contains everything except usage if usage isn't stored", async () => {
  const { gateway, expect } = openManagement({ usage: false })
  await gateway.api.connections.create({ provider: 'openai' })
  assert.equal(await expect(200, 'GET', '/api/overview'), {
    failures: [],
    health: [],
    damaged: 0,
    nearLimits: [],
    counts: { keys: 0, connections: 1 },
    requireApiKey: false,
  })
})

test('the overview explains why the cloud mirror is behind until it has caught up', async () => {
  const { enable, api, after, cut } = openBothEnds()
  await enable()
  await after(2_000)
  assert.is((await api.overview()).mirrorError, undefined)
  cut()
  await api.combos.create({ name: 'late', models: ['one/a'] })
  await after(60_000)
  assert.match((await api.overview()).mirrorError ?? '', /is unreachable/)
  cut(false)
  await api.combos.create({ name: 'later', models: ['one/a'] })
  await after(60_000)
  assert.is((await api.overview()).mirrorError, undefined)
})

test('the overview lists key, group, and gateway limits that are at least 80% used', async () => {
  const world = await openWorld({ usage: true, fetch: fakeUpstream(() => json(chatResponse())) })
  const { api, clock, chat } = world
  const group = await api.groups.create({ name: 'team', limits: { requests: { day: 5, month: 100 } } })
  const full = await api.keys.create({ name: 'full', group: group.id, limits: { requests: { day: 4 }, parallel: 1 } })
  const half = await api.keys.create({ name: 'half', limits: { requests: { day: 8 } } })
  const createHeaders = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
  const listNear = async () => {
    await clock.advance(1_000)
    const { nearLimits = [] } = await api.overview()
    return nearLimits.map(({ scope, name, window, limit, used }) => [scope, name, window, limit, used])
  }
  assert.equal(await listNear(), [])
  for (let index = 0; index < 4; index++) {
    await chat({}, createHeaders(full.key))
    await chat({}, createHeaders(half.key))
  }
  assert.equal(await listNear(), [
    ['key', 'full', 'day', 4, 4],
    ['group', 'team', 'day', 5, 4],
  ])
  await api.settings.update({ limits: { requests: { day: 1 } } })
  await chat({}, createHeaders(half.key))
  assert.equal((await listNear()).at(0), ['gateway', undefined, 'day', 1, 1])
  await api.keys.delete(full.id)
  assert.equal(
    (await listNear()).map(([scope]) => scope),
    ['gateway', 'group'],
  )
  await clock.advance(24 * HOUR)
  assert.equal(await listNear(), [], 'the next day')
})

test("the overview omits limits while their counters can't be read", async () => {
  const storage = memoryStorage()
  let isUnavailable = false
  const { gateway, clock } = openManagement({
    storage: {
      ...storage,
      list: (prefix, ...rest) =>
        isUnavailable && prefix.startsWith('limits/')
          ? Promise.reject(new Error('away'))
          : storage.list(prefix, ...rest),
    },
  })
  const { api } = gateway
  await api.keys.create({ name: 'a', limits: { requests: { day: 1 } } })
  assert.equal((await api.overview()).nearLimits, [])
  isUnavailable = true
  await clock.advance(1_000)
  assert.is((await api.overview()).nearLimits, undefined)
})
