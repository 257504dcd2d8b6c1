import type { NewCombo } from '../../src/admin/combos.ts'
import type { Strategy } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { type Call, fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld, type WorldOptions } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { getCount } from './support/pool.ts'

const test = suite("a provider's connections")

const getKey = ({ headers }: Call) => headers.get('authorization')?.replace('Bearer key-', '') ?? ''

/** Opens a provider `one` with the connections `a`, `b`, and `c`, and a provider `two` with one connection. */
async function openOne(options: WorldOptions = {}) {
  /** Failure statuses, by `<connection>` or `<connection>/<model>`. */
  const down = new Map<string, number>()
  const upstream = fakeUpstream((call) => {
    const key = getKey(call)
    const status = down.get(key) ?? down.get(`${key}/${JSON.parse(call.body).model}`)
    const error = { message: 'no', ...(status === 404 && { code: 'model_not_found' }) }
    return status === undefined ? json(chatResponse()) : json({ error }, status)
  })
  const connections = ['a', 'b', 'c'].map((name) => ({ provider: 'one', name, apiKey: `key-${name}` }))
  const two = { provider: 'two', apiKey: 'key-two' }
  const world = await openWorld({ fetch: upstream, connections: [...connections, two], ...options })
  /** Sends this many requests sequentially. Resolves to the connections that each one called. */
  async function sendAll(times: number, body: object = {}) {
    const seen: string[] = []
    for (let time = 0; time < times; time++) {
      const before = upstream.calls.length
      await world.chat({ model: 'one/m', ...body })
      seen.push(upstream.calls.slice(before).map(getKey).join('>'))
    }
    return seen.join(' ')
  }
  return { world, upstream, down, sendAll }
}

const pool = (connectionStrategy?: Strategy, extra: Partial<NewCombo> = {}) => ({
  pool: { models: ['one/m', 'two/m'], ...(connectionStrategy && { connectionStrategy }), ...extra },
})
const fromPool = { model: 'pool' }

test("a provider's connections are used by priority, unless the provider has a strategy", async () => {
  const { world, sendAll } = await openOne()
  assert.is(await sendAll(3), 'a a a')
  await world.api.providers.update('one', { strategy: 'round-robin' })
  assert.is(await sendAll(5), 'a b c a b')
  await world.api.providers.update('one', { strategy: 'round-robin', stickyLimit: 2 })
  assert.is(await sendAll(6), 'b c c a a b')
  await world.api.providers.update('one', { strategy: 'fallback' })
  assert.is(await sendAll(3), 'a a a')
})

test("all of a provider's connections have the same weight and cost", async () => {
  const { world, upstream, sendAll } = await openOne({ combos: pool('least-cost') })
  assert.is(await sendAll(3, fromPool), 'a a a')
  await world.api.providers.update('one', { strategy: 'least-cost' })
  assert.is(await sendAll(3), 'a a a')
  await world.api.providers.update('one', { strategy: 'weighted' })
  upstream.calls.length = 0
  await sendAll(300)
  for (const [key, calls] of Object.entries(getCount(upstream.calls.map(getKey))))
    assert.ok(calls > 30, `${key}: ${calls}`)
  assert.is(Object.keys(getCount(upstream.calls.map(getKey))).length, 3)
})

test("a provider's connections also use the provider's strategy in a combo, unless the combo sets one", async () => {
  const { world, sendAll } = await openOne({
    combos: { ...pool(), calm: pool('fallback').pool, busy: pool('round-robin').pool },
  })
  await world.api.providers.update('one', { strategy: 'round-robin' })
  assert.is(await sendAll(4, fromPool), 'a b c a')
  assert.is(await sendAll(3, { model: 'calm' }), 'a a a')
  assert.is(await sendAll(2, { model: 'busy' }), 'a b', 'its own round-robin position')
  assert.is(await sendAll(1, fromPool), 'b')
  await world.api.providers.update('one', { strategy: 'fallback' })
  assert.is(await sendAll(2, { model: 'busy' }), 'c a')
})

test("changing the combo resets the round-robin position of a provider's connections", async () => {
  const { world, sendAll } = await openOne({ combos: pool('round-robin', { strategy: 'round-robin' }) })
  assert.is(await sendAll(3, fromPool), 'a two b')
  const [combo] = (await world.api.combos.list()).combos
  await world.api.combos.update(combo?.id ?? '', {})
  assert.is(await sendAll(3, fromPool), 'a two b')
  await world.api.combos.delete(combo?.id ?? '')
  await world.api.combos.create({ name: 'pool', ...pool('round-robin').pool })
  assert.is(await sendAll(2, fromPool), 'a b')
})

test('a provider\'s connections take "stickyLimit" from the combo that sets their strategy', async () => {
  const { sendAll } = await openOne({ combos: pool('round-robin', { stickyLimit: 2 }) })
  assert.is(await sendAll(5, fromPool), 'a a b b c')
})

test("random, least-busy, and sticky spread requests over a provider's connections", async () => {
  for (const strategy of ['random', 'least-busy', 'sticky'] as const) {
    const { world, upstream } = await openOne()
    await world.api.providers.update('one', { strategy })
    const chats = Array.from({ length: 90 }, (_, index) => world.chat({ model: 'one/m', user: `u${index}` }))
    await Promise.all(chats)
    const counts = getCount(upstream.calls.map(getKey))
    assert.equal(Object.keys(counts).sort(), ['a', 'b', 'c'], strategy)
    if (strategy === 'least-busy') assert.equal(counts, { a: 30, b: 30, c: 30 })
  }
})

test('"sticky" keeps a session on one of a provider\'s connections, and moves the session if that connection fails', async () => {
  const { world, down, sendAll } = await openOne()
  await world.api.providers.update('one', { strategy: 'sticky' })
  const home = await sendAll(1, { user: 'somebody' })
  assert.is(await sendAll(2, { user: 'somebody' }), `${home} ${home}`)
  down.set(home, 401)
  const [, other] = (await sendAll(1, { user: 'somebody' })).split('>')
  down.clear()
  await world.clock.advance(10 * 60_000)
  assert.is(await sendAll(2, { user: 'somebody' }), `${other} ${other}`)
})

test("a rejected provider key doesn't disable its provider", async () => {
  for (const strategy of ['fallback', 'round-robin', 'least-busy', 'least-latency', 'random', 'sticky'] as const) {
    const { world, upstream, down, sendAll } = await openOne()
    await world.api.providers.update('one', { strategy })
    down.set('a', 401)
    await sendAll(30, { user: 'somebody' })
    for (const { status } of world.recorded.requests) assert.is(status, 200, strategy)
    assert.ok(upstream.calls.filter((call) => getKey(call) === 'a').length <= 1, strategy)
  }
})

test("a failing model doesn't disable its provider key", async () => {
  const { world, upstream, down, sendAll } = await openOne()
  down.set('a/m', 404)
  assert.is(await sendAll(3), 'a>b b b')
  assert.is(await sendAll(2, { model: 'one/other' }), 'a a')
  await world.api.providers.update('one', { strategy: 'round-robin' })
  upstream.calls.length = 0
  await sendAll(10)
  await sendAll(9, { model: 'one/other' })
  const calls = upstream.calls.map((call) => `${getKey(call)}/${JSON.parse(call.body).model}`)
  assert.equal(getCount(calls), { 'b/m': 5, 'c/m': 5, 'a/other': 3, 'b/other': 3, 'c/other': 3 })
})

test('a combo falls back to its next provider after three rejected provider keys', async () => {
  const { world, down, sendAll } = await openOne({ combos: pool('round-robin'), limits: { maxAttempts: 4 } })
  for (const key of ['a', 'b', 'c']) down.set(key, 401)
  assert.is(await sendAll(3, fromPool), 'a>b>c>two two two')
  for (const { status } of world.recorded.requests) assert.is(status, 200)
})

test("a provider's connections use the outer combo's strategy if the inner one sets none", async () => {
  const inner = { models: ['one/m', 'two/m'] }
  const { world, sendAll } = await openOne({
    combos: { inner, calm: pool('fallback').pool, pool: pool('round-robin', { models: ['inner', 'calm'] }).pool },
  })
  assert.is(await sendAll(4, fromPool), 'a b c a')
  assert.is(await sendAll(2, { model: 'inner' }), 'a a')
  const { combos } = await world.api.combos.list()
  await world.api.combos.update(combos.find(({ name }) => name === 'pool')?.id ?? '', { models: ['calm', 'inner'] })
  assert.is(await sendAll(2, fromPool), 'a a', "the inner combo's own strategy wins")
})
