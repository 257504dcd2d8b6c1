import { assert, suite } from '../support/suite.ts'
import { getCount, openPool } from './support/pool.ts'

const test = suite('round-robin')

const turns = { models: ['one/m', 'two/m', 'three/m'], strategy: 'round-robin' as const }

test('if the first of three targets fails, the other two get equal shares', async () => {
  const { upstream, down, sendAll } = await openPool(turns)
  down.set('one', 401)
  assert.is(await sendAll(1), 'one>two')
  await sendAll(60)
  assert.equal(getCount(upstream.providers), { one: 1, two: 31, three: 30 })
})

test('the two healthy targets get equal shares even before the failing target is in cooldown', async () => {
  const { down, sendAll } = await openPool(turns)
  down.set('one', 500)
  assert.is(await sendAll(11), 'one>two three one>two three one>two three one>two three one>two three two')
})

test("the round-robin position doesn't advance if no target succeeds", async () => {
  const { down, sendAll } = await openPool(turns)
  assert.is(await sendAll(1), 'one')
  for (const provider of ['one', 'two', 'three']) down.set(provider, 500)
  assert.is(await sendAll(1), 'two>three>one')
  down.clear()
  assert.is(await sendAll(2), 'two three')
})

test("an inner combo's round-robin position doesn't advance if the outer combo's next entry serves the request", async () => {
  const { down, sendAll } = await openPool(
    { models: ['inner', 'three/m'] },
    { combos: { inner: { models: ['one/m', 'two/m'], strategy: 'round-robin' } } },
  )
  assert.is(await sendAll(1), 'one')
  down.set('one', 500).set('two', 500)
  assert.is(await sendAll(1), 'two>one>three')
  down.clear()
  assert.is(await sendAll(2), 'two one')
})

test('a client error advances the round-robin position, just like a success', async () => {
  const { down, sendAll } = await openPool(turns)
  down.set('one', 500).set('two', 400)
  assert.is(await sendAll(2), 'one>two three')
})

test('if attempts run out, the round-robin continues with the next untried entry', async () => {
  const { down, sendAll } = await openPool(turns, { limits: { maxAttempts: 2 } })
  down.set('one', 500).set('two', 500)
  assert.is(await sendAll(2), 'one>two two>three')
})

test('a recovered target gets its turns again, in its old position', async () => {
  const { world, down, sendAll } = await openPool(turns)
  down.set('two', 401)
  assert.is(await sendAll(4), 'one two>three one three')
  down.clear()
  await world.clock.advance(70_000)
  assert.is(await sendAll(4), 'one two three one')
})

test('"stickyLimit" is the number of consecutive requests that each entry gets', async () => {
  const { sendAll } = await openPool({ ...turns, stickyLimit: 3 })
  assert.is(await sendAll(10), 'one one one two two two three three three one')
})

test('"stickyLimit" starts over for an entry that served a request for a failed one', async () => {
  const { down, sendAll } = await openPool({ ...turns, stickyLimit: 3 })
  assert.is(await sendAll(1), 'one')
  down.set('one', 401)
  assert.is(await sendAll(6), 'one>two two two three three three')
  assert.is(await sendAll(1), 'two')
})

test('"stickyLimit" applies to concurrent requests', async () => {
  const { world, upstream } = await openPool({ ...turns, stickyLimit: 10 })
  await Promise.all(Array.from({ length: 30 }, () => world.chat({ model: 'pool' })))
  assert.equal(getCount(upstream.providers), { one: 10, two: 10, three: 10 })
})

test('300 simultaneous requests are spread evenly, even if one target fails', async () => {
  const { world, upstream, down } = await openPool(turns)
  const many = (count: number) => Promise.all(Array.from({ length: count }, () => world.chat({ model: 'pool' })))
  await many(300)
  assert.equal(getCount(upstream.providers), { one: 100, two: 100, three: 100 })
  down.set('three', 401)
  await world.chat({ model: 'three/m' })
  upstream.calls.length = 0
  await many(300)
  assert.equal(getCount(upstream.providers), { one: 150, two: 150 })
})

for (const stays of ['all', 'no'])
  test(`a failed request gives back ${stays === 'all' ? 'both of its turns if it tried all targets' : 'neither of its two turns if it ran out of attempts'}`, async () => {
    const keys = ['a', 'b', 'c']
    const { world, upstream, down } = await openPool(
      { models: ['one/m', 'one/other'], connectionStrategy: 'round-robin' },
      {
        connections: keys.map((apiKey) => ({ provider: 'one', name: apiKey, apiKey })),
        limits: { maxAttempts: stays === 'all' ? 6 : 4 },
      },
    )
    const next = async () => {
      await world.chat({ model: 'pool' })
      return upstream.calls.at(-1)?.headers.get('authorization')
    }
    assert.is(await next(), 'Bearer a')
    down.set('one', 500)
    await world.chat({ model: 'pool' })
    down.clear()
    await world.clock.advance(60_000)
    assert.is(await next(), stays === 'all' ? 'Bearer b' : 'Bearer a')
  })
