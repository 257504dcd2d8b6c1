import { memoryStorage } from '../../adapters/storage/memory.ts'
import { encodeBatch } from '../../src/features/usage/batch.ts'
import { createUsageOperations } from '../../src/features/usage/operations/usage-operations.ts'
import { UnlistedTotals } from '../../src/features/usage/unlisted.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Storage } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld, token } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getRequest, noAccounts, noNames, openInstance } from './support/instances.ts'

const test = suite('usage while the storage is unavailable')

/** Creates a store that rejects usage writes while `isAway` is set. */
function flaky(clock = fakeClock()) {
  const inner = memoryStorage({ clock })
  const state = { isUnavailable: false, writes: 0 }
  const storage: Storage = {
    ...inner,
    async set(key, value, options) {
      if (key.startsWith('usage/')) {
        state.writes++
        if (state.isUnavailable) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      }
      return inner.set(key, value, options)
    },
  }
  return { clock, storage, state }
}

function openRecorded() {
  const lines: string[] = []
  const add = (message: string) => void lines.push(message)
  return { lines, logger: { warn: add, error: add } }
}

const respond = () => fakeUpstream(() => json(chatResponse()))

test('request records wait in memory, are readable there, and are written once the storage is available again', async () => {
  const { clock, storage, state } = flaky()
  const { lines, logger } = openRecorded()
  const world = await openWorld({ usage: true, clock, storage, logger, fetch: respond() })
  state.isUnavailable = true
  for (let times = 0; times < 5; times++) {
    assert.is((await world.chat({})).status, 200)
    await clock.advance(2_000)
  }
  assert.is((await world.api.usage.summary()).totals.requests, 5)
  assert.is((await storage.list('usage/')).length, 0)
  assert.equal(lines.filter((line) => /Usage cannot be written/.test(line)).length, 1)
  state.isUnavailable = false
  await clock.advance(40_000)
  assert.ok((await storage.list('usage/journal/')).length > 0)
  assert.is((await world.api.usage.requests()).requests.length, 5)
  assert.is((await world.api.usage.summary()).totals.requests, 5)
  await world.gateway.close()
  assert.is((await world.api.usage.summary()).totals.requests, 5)
})

test('retries back off while the storage is unavailable', async () => {
  const { clock, storage, state } = flaky()
  const world = await openWorld({ usage: true, clock, storage, logger: false, fetch: respond() })
  state.isUnavailable = true
  await world.chat({})
  await clock.advance(300_000)
  assert.ok(state.writes >= 5 && state.writes < 20, `${state.writes}`)
})

test('records that arrive faster than the storage can write are all stored, in larger batches', async () => {
  const { clock, storage: inner } = flaky()
  let writes = 0
  let isSlow = true
  const waiting: (() => void)[] = []
  const storage: Storage = {
    ...inner,
    async set(key, ...rest) {
      if (key.startsWith('usage/journal/')) {
        writes++
        if (isSlow) await new Promise<void>((resolve) => waiting.push(resolve))
      }
      return inner.set(key, ...rest)
    },
  }
  const finishWrites = () => {
    for (const finish of waiting.splice(0)) finish()
  }
  const { lines, logger } = openRecorded()
  const world = await openWorld({ usage: true, clock, storage, logger })
  for (let times = 1; times <= 120; times++) {
    await Promise.all(Array.from({ length: 100 }, () => world.chat({ model: 'nobody/x' })))
    if (times % 4 === 0) finishWrites()
    await new Promise((resolve) => setImmediate(resolve))
  }
  isSlow = false
  finishWrites()
  await world.gateway.close()
  assert.equal(lines, [])
  assert.is((await world.api.usage.summary()).totals.requests, 12_000)
  assert.ok(writes > 0 && writes < 100, `${writes} writes`)
})

test('during a long outage, 10,000 requests get records, and the number of missing records is reported', async () => {
  const { clock, storage, state } = flaky()
  const { lines, logger } = openRecorded()
  const world = await openWorld({ usage: true, clock, storage, logger })
  const { id: keyId, key } = await world.api.keys.create({ name: 'a' })
  const { id: other } = await world.api.keys.create({ name: 'b' })
  await clock.advance(90_000)
  const from = new Date(Math.floor(clock.now() / 60_000) * 60_000).toISOString() // totals without records have a resolution of one minute
  state.isUnavailable = true
  for (let times = 0; times < 10_050; times++)
    await world.chat({ model: 'nobody/x' }, { headers: { authorization: `Bearer ${key}` } })
  const look = async () => {
    const { requests, missing } = await world.api.usage.requests({ from, keyId })
    const sorted = await world.api.usage.requests({ keyId, sort: 'duration' })
    const page = await world.api.usage.requests({ before: requests.at(-1)?.id ?? '' })
    return {
      total: (await world.api.usage.summary({ keyId })).totals.requests,
      refused: (await world.api.usage.summary({ by: 'hour' })).totals.refused,
      partOfAnHour: (await world.api.usage.summary({ from })).totals.requests,
      missing: [missing, sorted.missing, page.missing],
      others: (await world.api.usage.requests({ keyId: other })).missing,
      before: (await world.api.usage.requests({ to: from })).missing,
    }
  }
  const expected = {
    ...{ total: 10_050, refused: 10_050, partOfAnHour: 10_050 },
    ...{ missing: [50, 50, 50], others: undefined, before: undefined },
  }
  assert.equal(await look(), expected, 'while waiting')
  assert.ok(
    lines.some((line) =>
      /^10000 usage records are waiting to be written because the storage is unavailable\./.test(line),
    ),
    lines.join('\n'),
  )
  state.isUnavailable = false
  await clock.advance(60_000)
  assert.equal(await look(), expected, 'once written')
  assert.equal(
    lines.filter((line) => /has been written|were not kept|lost/.test(line)),
    ['Usage has been written. 50 requests are counted in the totals but have no individual record.'],
  )
  const headers = { authorization: `Bearer ${token}` }
  const get = async (path: string) => world.gateway.fetch(`http://gateway/api/usage/requests?${path}`, { headers })
  assert.is((await (await get('limit=1')).json()).missing, 50)
  for (const format of ['csv', 'jsonl'])
    for (const limit of ['', '&limit=5'])
      assert.is((await get(`format=${format}${limit}`)).headers.get('x-signalbox-missing'), '50')
  await world.gateway.close()
  assert.is((await storage.list('usage/journal/')).length, 0)
  assert.equal(await look(), expected, 'once folded')
})

test("a storage that can't keep up isn't reported as unavailable, and totals are written in the meantime", async () => {
  const { clock, storage: inner } = flaky()
  const waiting: (() => void)[] = []
  let isSlow = true
  const storage: Storage = {
    ...inner,
    async set(key, ...rest) {
      if (isSlow && key.startsWith('usage/journal/')) await new Promise<void>((resolve) => waiting.push(resolve))
      return inner.set(key, ...rest)
    },
  }
  const { lines, logger } = openRecorded()
  const usage = openInstance(storage, clock, undefined, logger)
  const api = createUsageOperations({ usage, clock, store: noNames, accounts: noAccounts })
  const finishWrites = async () => {
    for (const finish of waiting.splice(0)) finish()
    await clock.advance(0)
  }
  let requestCount = 0
  const send = (times: number) => {
    for (let index = 0; index < times; index++)
      usage.storeRequest(getRequest(clock.now(), { keyId: `k${requestCount++ % 40}` }))
  }
  send(12_000)
  await clock.advance(1_000)
  for (let times = 0; times < 40; times++) {
    send(400)
    await finishWrites()
  }
  const successor = createUsageOperations({
    usage: openInstance(inner, clock),
    clock,
    store: noNames,
    accounts: noAccounts,
  })
  const early = (await successor.requests({ limit: 1 })).missing ?? 0
  assert.ok(early > 0, 'totals without records are written while other records still wait')
  assert.is((await api.summary()).totals.requests, requestCount)
  isSlow = false
  await finishWrites()
  await clock.advance(5_000)
  await usage.close()
  for (const reader of [api, successor]) {
    const { rows, totals } = await reader.summary({ by: 'key' })
    assert.equal([totals.requests, totals.tokens.input], [requestCount, requestCount])
    assert.equal(
      rows.map(({ requests }) => requests),
      rows.map(() => requestCount / 40),
    )
  }
  const { missing = 0 } = await successor.requests({ limit: 1 })
  let listed = 0
  for (let before: string | undefined; ; ) {
    const page = await successor.requests({ limit: 1_000, ...(before !== undefined && { before }) })
    listed += page.requests.length
    before = page.before
    if (before === undefined) break
  }
  assert.is(listed + missing, requestCount)
  assert.ok(
    lines.some((line) => /because the storage is too slow/.test(line)),
    lines.join('\n'),
  )
  assert.not.ok(lines.some((line) => /away/.test(line)))
})

/** Loads the code for totals without records ahead of time, because this test's requests all end in the same turn. */
const untilLoaded = () => import('../../src/features/usage/unlisted.ts')

test('another instance folds the totals of a killed instance', async () => {
  const { clock, storage } = flaky()
  let isSlow = true
  let finish = () => {}
  const slow: Storage = {
    ...storage,
    async set(key, ...rest) {
      if (isSlow && key.startsWith('usage/journal/')) await new Promise<void>((resolve) => (finish = resolve))
      return storage.set(key, ...rest)
    },
    delete: () => new Promise(() => {}), // killed before it deletes what it folded
  }
  const killed = openInstance(slow, clock)
  for (let index = 0; index < 10_700; index++) {
    killed.storeRequest(getRequest(clock.now() - (index % 3) * 3_600_000))
    if (index === 6_000) await untilLoaded()
  }
  await clock.advance(1_000)
  isSlow = false
  finish()
  await clock.advance(1_000)
  const successor = openInstance(storage, clock)
  const api = createUsageOperations({ usage: successor, clock, store: noNames, accounts: noAccounts })
  const readTotals = async () => [(await api.summary()).totals.requests, (await api.requests()).missing]
  assert.equal(await readTotals(), [10_700, 700])
  for (let turn = 0; turn < 3; turn++) {
    await clock.advance(11 * 60_000)
    successor.storeRequest(getRequest(clock.now(), { keyId: 'heir' }))
  }
  await clock.advance(2_000)
  await successor.close()
  assert.is((await storage.list('usage/journal/')).length, 0)
  assert.equal(await readTotals(), [10_703, 700])
})

test('totals in memory stay small, regardless of the number of requests, users, and hours', () => {
  const sums = new UnlistedTotals()
  const days = 3
  for (let index = 0; index < 60_000; index++) {
    const timestamp = Date.UTC(2026, 0, 1) + Math.floor((index / 60_000) * days * 86_400_000)
    sums.add(getRequest(timestamp, { keyId: `k${index % 50}`, user: `u${index}`, model: `m${index % 500}` }))
  }
  assert.is(sums.count, 60_000)
  const rows = [...sums.byTime.values()].flatMap((totals) => [...totals.rows()])
  assert.ok(rows.length <= 2_010, `${rows.length} rows`)
  const parts = sums.drain(20_000)
  assert.ok(parts.length > 1)
  assert.equal([sums.count, sums.byTime.size], [0, 0])
  assert.is(
    parts.reduce((sum, { count }) => sum + count, 0),
    60_000,
  )
  for (const { unlisted } of parts) assert.ok(encodeBatch([], unlisted, 0).length < 20_000)
})

for (const [mode, hangs] of [
  ['rejects calls', false],
  ['never responds', true],
] as const) {
  test(`a gateway that closes while the storage ${mode} stops all calls within 5 s and reports lost requests`, async () => {
    const { clock, storage, state } = flaky()
    const { lines, logger } = openRecorded()
    const hanging: Storage = {
      ...storage,
      set: (key, ...rest) =>
        hangs && state.isUnavailable && key.startsWith('usage/') ? new Promise(() => {}) : storage.set(key, ...rest),
    }
    const world = await openWorld({ usage: true, clock, storage: hanging, logger, fetch: respond() })
    state.isUnavailable = true
    for (let times = 0; times < 3; times++) await world.chat({})
    let isClosed = false
    const closing = world.gateway.close().then(() => {
      isClosed = true
    })
    await clock.advance(5_000)
    assert.ok(isClosed)
    await closing
    const { writes } = state
    await clock.advance(600_000)
    assert.is(state.writes, writes)
    assert.equal(
      lines.filter((line) => /was lost/.test(line)),
      ['Usage was lost because the gateway closed while the storage was unavailable: 3.'],
    )
  })
}

test('a killed gateway loses at most its last batch, and another gateway reads and folds its other batches', async () => {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const first = await openWorld({ usage: true, clock, storage, fetch: respond() })
  for (let times = 0; times < 3; times++) await first.chat({})
  await clock.advance(1_000)
  await first.chat({}) // still unwritten when the process ends
  const second = await openWorld({ usage: true, clock, storage, connections: [], fetch: respond() })
  assert.is((await second.api.usage.summary()).totals.requests, 3)
  await second.chat({ model: 'nobody/x' })
  assert.is((await second.api.usage.summary()).totals.requests, 4)
})

test('every gateway on a store reads the usage of all gateways', async () => {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const worlds = [
    await openWorld({ usage: true, clock, storage, fetch: respond() }),
    await openWorld({ usage: true, clock, storage, connections: [], fetch: respond() }),
  ]
  const [first, second] = worlds
  if (!first || !second) throw new Error('there are two')
  for (const { chat } of worlds) for (let times = 0; times < 4; times++) await chat({})
  await clock.advance(1_000)
  for (const { api } of worlds) assert.is((await api.usage.summary()).totals.requests, 8)
  await Promise.all(worlds.map(({ gateway }) => gateway.close()))
  for (const { api } of worlds) {
    assert.is((await api.usage.summary()).totals.requests, 8)
    assert.is((await api.usage.requests()).requests.length, 8)
  }
})

test('a storage that opts out of usage stores none unless your app enables it', async () => {
  const clock = fakeClock()
  for (const [usage, kept] of [
    [undefined, false],
    [true, true],
  ] as const) {
    const storage: Storage = { ...memoryStorage({ clock }), keepsUsage: false }
    const gateway = createGateway({ storage, clock, logger: false, ...(usage !== undefined && { usage }) })
    const body = JSON.stringify({ model: 'nobody/x', messages: [] })
    await gateway.fetch(new Request('http://gateway/v1/chat/completions', { method: 'POST', body }))
    const found = await gateway.api.usage.summary().then(
      ({ totals }) => totals.requests === 1,
      (error: { code?: string }) => error.code !== 'USAGE_NOT_KEPT',
    )
    assert.is(found, kept)
    await gateway.close()
    assert.is((await storage.list('usage/')).length > 0, kept)
  }
})
