import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Storage } from '../../src/types.ts'
import { chatAnswer } from '../pipeline/support/answers.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('usage while the storage is away')

/** A storage that refuses writes of usage while `isAway`. */
function flaky(clock = fakeClock()) {
  const inner = memoryStorage({ clock })
  const state = { isAway: false, writes: 0 }
  const storage: Storage = {
    ...inner,
    async set(key, value, options) {
      if (key.startsWith('usage/')) {
        state.writes++
        if (state.isAway) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      }
      return inner.set(key, value, options)
    },
  }
  return { clock, storage, state }
}

function told() {
  const lines: string[] = []
  const add = (message: string) => void lines.push(message)
  return { lines, logger: { warn: add, error: add } }
}

const answering = () => fakeUpstream(() => json(chatAnswer()))

test('requests go on, wait in memory, are read from there, and are written once the storage is back', async () => {
  const { clock, storage, state } = flaky()
  const { lines, logger } = told()
  const world = await openWorld({ usage: true, clock, storage, logger, fetch: answering() })
  state.isAway = true
  for (let times = 0; times < 5; times++) {
    assert.is((await world.chat({})).status, 200)
    await clock.advance(2_000)
  }
  assert.is((await world.api.usage.summary()).totals.requests, 5)
  assert.is((await storage.list('usage/')).length, 0)
  assert.equal(lines.filter((line) => /Usage cannot be written/.test(line)).length, 1)
  state.isAway = false
  await clock.advance(40_000)
  assert.ok((await storage.list('usage/journal/')).length > 0)
  assert.is((await world.api.usage.requests()).requests.length, 5)
  assert.is((await world.api.usage.summary()).totals.requests, 5)
  await world.gateway.close()
  assert.is((await world.api.usage.summary()).totals.requests, 5)
})

test('the longer the storage is away, the less often it is asked', async () => {
  const { clock, storage, state } = flaky()
  const world = await openWorld({ usage: true, clock, storage, logger: false, fetch: answering() })
  state.isAway = true
  await world.chat({})
  await clock.advance(300_000)
  assert.ok(state.writes >= 5 && state.writes < 20, `${state.writes}`)
})

test('requests that end faster than the storage writes are all kept, in larger batches', async () => {
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
  const { lines, logger } = told()
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

test('no more than 10,000 requests wait, and the logger says how many were not kept', async () => {
  const { clock, storage, state } = flaky()
  const { lines, logger } = told()
  const world = await openWorld({ usage: true, clock, storage, logger })
  state.isAway = true
  for (let times = 0; times < 10_050; times++) await world.chat({ model: 'nobody/x' })
  assert.ok(
    lines.some((line) => /10000 requests wait to be kept/.test(line)),
    lines.join('\n'),
  )
  state.isAway = false
  await clock.advance(60_000)
  await world.gateway.close()
  assert.ok(lines.includes('50 requests were not kept while the storage was away.'), lines.join('\n'))
  assert.is((await world.api.usage.summary()).totals.requests, 10_000)
})

for (const [how, hangs] of [
  ['refuses', false],
  ['never answers', true],
] as const) {
  test(`a gateway that closes while the storage ${how} ends in 5 s, asks no more and says how many requests are lost`, async () => {
    const { clock, storage, state } = flaky()
    const { lines, logger } = told()
    const hanging: Storage = {
      ...storage,
      set: (key, ...rest) =>
        hangs && state.isAway && key.startsWith('usage/') ? new Promise(() => {}) : storage.set(key, ...rest),
    }
    const world = await openWorld({ usage: true, clock, storage: hanging, logger, fetch: answering() })
    state.isAway = true
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
      lines.filter((line) => /is lost/.test(line)),
      ['The usage of requests is lost, as the gateway closed while the storage was away: 3.'],
    )
  })
}

test('a gateway that is killed loses no more than its last batch; another one reads and folds the rest', async () => {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const first = await openWorld({ usage: true, clock, storage, fetch: answering() })
  for (let times = 0; times < 3; times++) await first.chat({})
  await clock.advance(1_000)
  await first.chat({}) // not written when the process ends
  const second = await openWorld({ usage: true, clock, storage, connections: [], fetch: answering() })
  assert.is((await second.api.usage.summary()).totals.requests, 3)
  await second.chat({ model: 'nobody/x' })
  assert.is((await second.api.usage.summary()).totals.requests, 4)
})

test('gateways on one store read what all of them have used', async () => {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const worlds = [
    await openWorld({ usage: true, clock, storage, fetch: answering() }),
    await openWorld({ usage: true, clock, storage, connections: [], fetch: answering() }),
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

test('a storage that says that it does not carry usage keeps none unless the host asks for it', async () => {
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
