import { startIdleTimer } from '../../src/platform.ts'
import { assert, suite } from '../support/suite.ts'
import { openBothEnds, runTurns } from './support/gateway-and-proxy.ts'

const test = suite('automatic cloud sync')

const SYNC = 'POST /cloud/1/mirror'

test('a gateway syncs a paused, resumed, or deleted key and a new combo within 5 s', async () => {
  const { enable, api, atCloud, after, tenant } = openBothEnds()
  const { key, id } = await api.keys.create({ name: 'mine' })
  await enable()
  assert.is(await atCloud(key), 200)
  await api.keys.update(id, { isActive: false })
  await after(5_000)
  assert.is(await atCloud(key), 403)
  await api.keys.update(id, { isActive: true })
  await api.combos.create({ name: 'fast', models: ['one/a'] })
  await after(5_000)
  assert.is(await atCloud(key), 200)
  assert.is((await (await tenant()).combos.list()).combos.length, 1)
  await api.keys.delete(id)
  await after(5_000)
  assert.is(await atCloud(key), 401)
})

test("a gateway batches changes made in quick succession, and shows the oldest pending change's age", async () => {
  const { enable, api, after, calls, clock } = openBothEnds()
  await api.keys.create({ name: 'mine' })
  await enable()
  await after(2_000)
  const before = calls.length
  for (let created = 0; created < 12; created++) {
    await api.aliases.set({ alias: `a${created}`, model: 'one/a' })
    if (created === 0) assert.is((await api.cloud.get()).lagMs, 0)
    await clock.advance(20)
  }
  assert.is((await api.cloud.get()).lagMs, 240)
  assert.is(calls.length, before, 'nothing is sent while changes keep coming')
  await after(1_000)
  assert.ok(calls.length - before <= 3, `${calls.slice(before)}`)
  assert.is((await api.cloud.get()).lagMs, 0)
})

test('a gateway sends changes within 1.5 s, even while more keep coming', async () => {
  const { enable, api, after, calls } = openBothEnds()
  await enable()
  await after(2_000)
  const before = calls.length
  for (let created = 0; created < 12; created++) {
    await api.aliases.set({ alias: `a${created}`, model: 'one/a' })
    await after(125)
  }
  assert.ok(calls.length > before)
})

test('a gateway backs off while the proxy is down, and reports the outage', async () => {
  const { enable, api, after, calls, cut, tenant, clock } = openBothEnds()
  await enable()
  await after(2_000)
  const { lastSuccessAt } = await api.cloud.get()
  cut()
  const before = calls.length
  const cutAt = clock.now()
  await api.combos.create({ name: 'late', models: ['one/a'] })
  await after(10 * 60_000)
  const attempts = calls.length - before
  assert.ok(attempts > 8 && attempts < 30, `${attempts} attempts`)
  const state = await api.cloud.get()
  assert.match(state.lastError ?? '', /is unreachable/)
  assert.is(state.lagMs, clock.now() - cutAt)
  assert.is(state.lastSuccessAt, lastSuccessAt)
  cut(false)
  await api.combos.create({ name: 'later', models: ['one/a'] })
  await after(5_000)
  assert.is((await (await tenant()).combos.list()).combos.length, 2)
  const healed = await api.cloud.get()
  assert.equal([healed.lastError, healed.lagMs], [null, 0])
  assert.ok(healed.lastSuccessAt !== lastSuccessAt)
})

test('a gateway fetches changes from the cloud every 30 s', async () => {
  const { enable, api, after, tenant, calls } = openBothEnds()
  await enable()
  await after(2_000)
  await (await tenant()).aliases.set({ alias: 'far', model: 'one/a' })
  await after(31_000)
  assert.equal((await api.aliases.list()).aliases, { far: 'one/a' })
  const before = calls.length
  await after(300_000)
  assert.ok(calls.length - before >= 9 && calls.length - before <= 12, `${calls.length - before} calls in 5 minutes`)
})

for (const by of ['request', 'call'] as const) {
  test(`a gateway sends a previous process's leftover changes in the background of its first ${by}`, async () => {
    const { enable, api, gateway, after, cut, start, tenant, clock, calls } = openBothEnds()
    await enable()
    await after(2_000)
    cut()
    await api.aliases.set({ alias: 'left', model: 'one/a' })
    const changedAt = clock.now()
    await after(3_000)
    await gateway.close()
    const before = calls.length
    const next = start()
    await runTurns()
    assert.is(calls.length, before, 'nothing is called before the first request')
    const startedAt = clock.now()
    if (by === 'call') await next.gateway.api.keys.list()
    else assert.is((await next.send('GET', '/v1/models')).status, 200)
    assert.is(clock.now(), startedAt)
    await after(2_000)
    assert.is((await next.gateway.api.cloud.get()).lagMs, clock.now() - changedAt)
    cut(false)
    await after(5_000)
    assert.equal((await (await tenant()).aliases.list()).aliases, { left: 'one/a' })
    await next.gateway.close()
  })
}

test('a gateway sends changes that another gateway made in the same storage', async () => {
  const { enable, start, after, tenant, gateway } = openBothEnds()
  await enable()
  await after(2_000)
  const quiet = start({ fetch: () => Promise.reject(new TypeError('fetch failed')) }) // a gateway that can't reach the proxy
  await quiet.gateway.api.aliases.set({ alias: 'shared', model: 'one/a' })
  await after(2_000)
  assert.equal((await (await tenant()).aliases.list()).aliases, { shared: 'one/a' })
  await gateway.close()
  await quiet.gateway.close()
})

test('a gateway stops syncing when it closes, even during a call', async () => {
  const { enable, api, after, gateway, calls, clock } = openBothEnds()
  await enable()
  await after(2_000)
  await api.aliases.set({ alias: 'last', model: 'one/a' })
  await clock.advance(250)
  await gateway.close()
  const before = calls.length
  await after(120_000)
  assert.is(calls.length, before)
  assert.is(clock.pending(), 0)
})

test('a gateway makes no calls while cloud sync is off or after it was disabled', async () => {
  const { enable, api, after, calls } = openBothEnds()
  await api.aliases.set({ alias: 'one', model: 'one/a' })
  await after(60_000)
  assert.is(calls.length, 0)
  await enable()
  await api.cloud.disable()
  const before = calls.length
  await api.aliases.set({ alias: 'two', model: 'one/a' })
  await after(60_000)
  assert.is(calls.length, before)
})

test('a gateway keeps the platform running until a change over HTTP is synced', async () => {
  const { enable, gateway, after, clock, tenant } = openBothEnds()
  await enable()
  await after(2_000)
  const work: Promise<unknown>[] = []
  const request = new Request('http://gateway.test/api/models/aliases', {
    method: 'PUT',
    headers: { 'content-type': 'application/json', authorization: `Bearer management-token-of-forty-characters-000` },
    body: '{"alias":"worker","model":"one/a"}',
  })
  const context = { waitUntil: (item: Promise<unknown>) => void work.push(item) }
  assert.is((await gateway.fetch(request, {}, context)).status, 200)
  assert.is(work.length, 1)
  let isDone = false
  const waiting = Promise.all(work).then(() => {
    isDone = true
  })
  await runTurns()
  assert.is(isDone, false)
  await clock.advance(250)
  await waiting
  assert.equal((await (await tenant()).aliases.list()).aliases, { worker: 'one/a' })
})

test('a gateway resumes syncing on a request after the platform dropped its timers', async () => {
  const far = openBothEnds()
  await far.enable()
  await far.after(2_000)
  const now = far.clock.now()
  const clock = { now: () => now + offset, sleep: () => new Promise<void>(() => {}) }
  let offset = 0
  const dropping = far.start({ clock })
  const waited: Promise<unknown>[] = []
  const send = () =>
    dropping.gateway.fetch(
      new Request('http://gateway.test/v1/models'),
      {},
      { waitUntil: (item: Promise<unknown>) => void waited.push(item) },
    )
  await send()
  await runTurns()
  const before = far.calls.length
  offset = 5_000
  await send()
  await Promise.all(waited)
  assert.ok(far.calls.slice(before).includes(SYNC))
})

test("an idle timer doesn't keep the process alive", () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  const cancel = startIdleTimer(1e6, () => {})
  assert.is(timers(), before)
  cancel()
})
