import { memoryStorage } from '../../adapters/storage/memory.ts'
import { busyMs } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld, token, type World, type WorldOptions } from './support/world.ts'

const test = suite('combos')

const round = (...models: string[]) => ({ models, strategy: 'round-robin' as const })

/** Creates a combo. `turns` sends this many requests and returns the called targets, with `,` between requests and `>` within a request. */
async function openRotating(options: WorldOptions, down: string[] = []) {
  const upstream = fakeUpstream(({ provider }) => (down.includes(provider) ? json({}, 503) : json(chatResponse())))
  const world = await openWorld({ fetch: upstream, ...options })
  const sendTurns = async (count: number, model = 'turn') => {
    const seen: string[] = []
    for (let turn = 0; turn < count; turn++) {
      const before = upstream.calls.length
      await world.chat({ model })
      seen.push(
        upstream.calls
          .slice(before)
          .map(({ provider }) => provider)
          .join('>'),
      )
    }
    return seen.join(',')
  }
  return { world, turns: sendTurns, upstream }
}

test('a fallback combo starts with its first model each time', async () => {
  const { turns } = await openRotating({ combos: { turn: ['one/m', 'two/m'] } })
  assert.is(await turns(3), 'one,one,one')
  const { turns: limping } = await openRotating({ combos: { turn: ['one/m', 'two/m'] } }, ['one'])
  assert.is(await limping(3), 'one>two,one>two,one>two')
})

test('round-robin continues after the entry that responded, and falls back to the others in turn', async () => {
  const combos = { turn: round('one/m', 'two/m', 'three/m') }
  assert.is(await (await openRotating({ combos })).turns(7), 'one,two,three,one,two,three,one')
  assert.is(await (await openRotating({ combos }, ['two'])).turns(4), 'one,two>three,one,two>three')
})

test('round-robin distributes many requests evenly, even concurrent ones', async () => {
  const { world, upstream } = await openRotating({ combos: { turn: round('one/m', 'two/m', 'three/m') } })
  await Promise.all(Array.from({ length: 300 }, () => world.chat({ model: 'turn' })))
  for (const name of ['one', 'two', 'three'])
    assert.is(upstream.providers.filter((provider) => provider === name).length, 100)
})

test('each combo has its own round-robin position, which only changes when a request uses the combo', async () => {
  const combos = { inner: round('two/m', 'three/m'), turn: round('one/m', 'inner'), other: round('one/m', 'two/m') }
  const { turns } = await openRotating({ combos })
  assert.is(await turns(4), 'one,two,one,three')
  assert.is(await turns(2, 'other'), 'one,two')
})

test('combos can contain combos and aliases, and skip names without a target', async () => {
  const { turns } = await openRotating(
    { combos: { inner: ['gone/m', 'two/m'], turn: ['nothing', 'way', 'three/m'] }, aliases: { way: 'inner' } },
    ['two'],
  )
  assert.is(await turns(1), 'two>three')
})

test("an invalid or rejected request doesn't advance the round-robin position", async () => {
  const { world, turns } = await openRotating({ combos: { turn: round('one/m', 'two/m') } })
  await world.post('/v1/chat/completions', '{"model":"turn"')
  await world.gateway.fetch(new Request('http://gateway/v1/chat/completions'))
  assert.is(await turns(1), 'one')
})

const resets: Array<[what: string, change: (world: World, id: string) => Promise<unknown>]> = [
  ['a PUT with its models', (world, id) => world.api.combos.update(id, { models: ['one/m', 'two/m', 'three/m'] })],
  ['a PUT that changes nothing', (world, id) => world.api.combos.update(id, {})],
  ['a PUT with its own name', (world, id) => world.api.combos.update(id, { name: 'turn' })],
  [
    'a rename back and forth',
    async (world, id) => {
      await world.api.combos.update(id, { name: 'moved' })
      await world.api.combos.update(id, { name: 'turn' })
    },
  ],
  [
    'a DELETE and a new combo with the same name',
    async (world, id) => {
      await world.api.combos.delete(id)
      await world.api.combos.create({ name: 'turn', ...round('one/m', 'two/m', 'three/m') })
    },
  ],
  [
    'another combo that takes over the name',
    async (world, id) => {
      const { id: other } = await world.api.combos.create({ name: 'other', ...round('one/m', 'two/m', 'three/m') })
      await world.chat({ model: 'other' })
      await world.api.combos.delete(id)
      await world.api.combos.update(other, { name: 'turn' })
    },
  ],
  [
    'a PUT over HTTP',
    (world, id) =>
      world.gateway.fetch(
        new Request(`http://gateway/api/combos/${id}`, {
          method: 'PUT',
          body: '{}',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        }),
      ),
  ],
]
for (const [label, change] of resets) {
  test(`round-robin starts again at the first model after ${label}`, async () => {
    const { world, turns } = await openRotating({ combos: { turn: round('one/m', 'two/m', 'three/m') } })
    assert.is(await turns(2), 'one,two')
    const { combos } = await world.api.combos.list()
    await change(world, combos.find(({ name }) => name === 'turn')?.id ?? '')
    assert.is(await turns(2), 'one,two')
  })
}

test("a rejected combo update doesn't reset the round-robin position", async () => {
  const { world, turns } = await openRotating({ combos: { turn: round('one/m', 'two/m', 'three/m') } })
  await turns(2)
  const id = (await world.api.combos.list()).combos[0]?.id ?? ''
  await world.api.combos.update(id, { name: 'not allowed' }).catch(() => {})
  await world.api.combos.update(id, { models: ['turn'] }).catch(() => {})
  assert.is(await turns(1), 'three')
})

/** Writes records that no management operation would write, but that two concurrent writers can leave behind. */
async function writeCombos(combos: Record<string, string[]>, aliases: Record<string, string> = {}) {
  const storage = memoryStorage()
  const at = new Date(0).toISOString()
  for (const [order, [name, models]] of Object.entries(combos).entries()) {
    const record = { id: name, name, models, strategy: 'fallback', createdAt: at, updatedAt: at }
    await storage.set(`combos/${name}`, JSON.stringify({ order, record }))
  }
  for (const [order, [alias, model]] of Object.entries(aliases).entries())
    await storage.set(`aliases/${alias}`, JSON.stringify({ order, record: { alias, model } }))
  return openRotating({ storage })
}

test('resolving terminates even if concurrent writers created a cycle of combos or aliases', async () => {
  const { world, turns } = await writeCombos(
    { a: ['b', 'one/m'], b: ['a', 'c', 'two/m'], c: ['a', 'x'], lonely: ['lonely'] },
    { x: 'y', y: 'x', z: 'a', self: 'self' },
  )
  assert.is(await turns(1, 'a'), 'two')
  assert.is(await turns(1, 'z'), 'two')
  assert.is(await turns(1, 'c'), 'two')
  for (const model of ['lonely', 'x', 'y', 'self']) assert.is((await world.chat({ model })).status, 404, model)
})

test('resolving combos of a hundred combos, nested twelve deep, takes less than five seconds', async () => {
  const level = (depth: number) => Array.from({ length: 100 }, () => `level${depth + 1}`)
  const combos = Object.fromEntries(Array.from({ length: 12 }, (_, depth) => [`level${depth}`, level(depth)]))
  const { world } = await writeCombos(combos)
  const before = busyMs()
  assert.is((await world.chat({ model: 'level0' })).status, 404)
  assert.ok(busyMs() - before < 5_000)
})

test('a chain of twenty aliases and combos resolves to its final model', async () => {
  const combos = Object.fromEntries(Array.from({ length: 20 }, (_, depth) => [`c${depth}`, [`a${depth}`]]))
  const aliases = Object.fromEntries(
    Array.from({ length: 20 }, (_, depth) => [`a${depth}`, depth < 19 ? `c${depth + 1}` : 'one/m']),
  )
  const { turns } = await writeCombos(combos, aliases)
  assert.is(await turns(1, 'c0'), 'one')
  const hops = Object.fromEntries(
    Array.from({ length: 20 }, (_, hop) => [`h${hop}`, hop < 19 ? `h${hop + 1}` : 'two/m']),
  )
  assert.is(await (await writeCombos({}, hops)).turns(1, 'h0'), 'two')
})
