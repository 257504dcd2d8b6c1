import type { Catalog, ComboModel, Strategy } from '../../src/types.ts'
import { chatResponse, type ErrorAnswer } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld, type WorldOptions } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('strategies with real requests')

const price = (input?: number, output?: number) => ({
  ...(input !== undefined && { input }),
  ...(output !== undefined && { output }),
})
const catalog: Catalog = {
  one: {
    baseUrl: 'http://one.test/v1',
    models: [
      { id: 'm', price: price(5, 15) },
      { id: 'tie', price: price(6, 4) },
      { id: 'bare' },
      { id: 'half', price: price(0) },
    ],
  },
  two: { baseUrl: 'http://two.test/v1', models: [{ id: 'm', price: price(1, 2) }] },
  three: { baseUrl: 'http://three.test/v1', models: [{ id: 'm', price: price(0, 10) }] },
  free: { baseUrl: 'http://free.test/v1', models: [{ id: 'm', price: price(0, 0) }] },
}

const combo = (strategy: Strategy, ...models: ComboModel[]) => ({ strategy, models })

async function open(options: WorldOptions, status = 200) {
  const upstream = fakeUpstream(() =>
    status === 200 ? json(chatResponse()) : json({ error: { message: 'no' } }, status),
  )
  const connections = ['one', 'two', 'three', 'free']
  const world = await openWorld({ catalog, connections, limits: { maxAttempts: 20 }, ...options, fetch: upstream })
  /** Sends a request. Returns its provider calls as `<provider>/<model>`. */
  async function getCalls(model = 'pool') {
    const before = upstream.calls.length
    await world.chat({ model })
    return upstream.calls.slice(before).map(({ provider, body }) => `${provider}/${JSON.parse(body).model}`)
  }
  return { world, calls: getCalls }
}

/** Returns the targets that a request to `pool` tries, in order, when all of them fail. */
async function order(combos: WorldOptions['combos'], extra: WorldOptions = {}) {
  const { calls } = await open({ combos: combos ?? {}, ...extra }, 503)
  return (await calls()).join(' ')
}

test('"weighted" uses an entry with weight 0 only if all others have failed', async () => {
  const off = (model: string) => ({ model, weight: 0 })
  const pool = combo('weighted', off('one/m'), { model: 'two/m', weight: 0.001 }, off('three/m'))
  assert.is(await order({ pool }), 'two/m one/m three/m')
})

test('"weighted" and "random" eventually put each entry first', async () => {
  for (const strategy of ['weighted', 'random'] as const) {
    const { calls } = await open({ combos: { pool: combo(strategy, 'one/m', 'two/m', { model: 'three/m' }) } })
    const first = new Set<string | undefined>()
    for (let turn = 0; turn < 200; turn++) first.add((await calls())[0])
    assert.equal([...first].sort(), ['one/m', 'three/m', 'two/m'], strategy)
  }
})

test('"random" tries each entry once', async () => {
  const { calls } = await open({ combos: { pool: combo('random', 'one/m', 'two/m', 'three/m') } }, 503)
  assert.equal((await calls()).sort(), ['one/m', 'three/m', 'two/m'])
})

test('"least-cost" orders entries by input plus output price, with ties in listed order', async () => {
  const pool = combo('least-cost', 'one/m', { model: 'three/m' }, 'one/tie', 'two/m', 'free/m')
  assert.is(await order({ pool }), 'free/m two/m three/m one/tie one/m')
})

test('"least-cost" puts entries without a complete price last, in listed order, instead of treating them as free', async () => {
  const pool = combo('least-cost', 'one/half', 'one/unheard-of', 'one/bare', 'nothing', 'one/m', 'two/m')
  assert.is(await order({ pool }), 'two/m one/m one/half one/unheard-of one/bare')
})

test('"least-cost" prices a combo or an alias by its first target', async () => {
  const combos = {
    dear: ['one/m', 'free/m'],
    cheap: combo('least-cost', 'one/tie', 'free/m'),
    lost: ['nothing', 'two/m'],
    shared: combo('weighted', { model: 'one/bare', weight: 0 }, 'three/m'),
    pool: combo('least-cost', 'short', 'shared', 'lost', 'cheap'),
  }
  const aliases = { short: 'shorter', shorter: 'dear' }
  const tried = await order(combos, { aliases })
  assert.is(tried, 'free/m one/tie two/m three/m one/bare one/m')
  const hidden = { inner: ['one/bare', 'free/m'], pool: combo('least-cost', 'inner', 'two/m') }
  assert.is(await order(hidden), 'two/m one/bare free/m')
})

test('"least-cost" uses the new price after an alias has changed', async () => {
  const { world, calls } = await open({
    combos: { pool: combo('least-cost', 'short', 'two/m') },
    aliases: { short: 'one/m' },
  })
  assert.equal(await calls(), ['two/m'])
  await world.api.aliases.set({ alias: 'short', model: 'free/m' })
  assert.equal(await calls(), ['free/m'])
})

test('"least-cost" reads a round-robin combo\'s price without advancing its position', async () => {
  const inner = combo('round-robin', 'one/m', 'three/m')
  const { calls } = await open({ combos: { inner, pool: combo('least-cost', 'inner', 'two/m') } })
  for (let turn = 0; turn < 3; turn++) assert.equal(await calls(), ['two/m'])
  assert.equal([await calls('inner'), await calls('inner')], [['one/m'], ['three/m']])
})

test('a combo that is listed twice is only tried once, whether listed by name or as an object', async () => {
  const pool = combo('fallback', { model: 'inner', weight: 3 }, 'inner', { model: 'alias' }, 'two/m')
  const inner = combo('least-cost', { model: 'one/m' }, { model: 'free/m' })
  assert.is(await order({ inner, pool }, { aliases: { alias: 'inner' } }), 'free/m one/m two/m')
})

test("changing a combo's strategy takes effect immediately", async () => {
  const { world, calls } = await open({ combos: { pool: combo('fallback', 'one/m', { model: 'two/m', weight: 0 }) } })
  const id = (await world.api.combos.list()).combos[0]?.id ?? ''
  const firsts: string[] = []
  for (const strategy of ['fallback', 'least-cost', 'weighted', 'round-robin', 'round-robin'] as const) {
    if (firsts.length < 4) await world.api.combos.update(id, { strategy })
    firsts.push(...(await calls()))
  }
  assert.equal(firsts, ['one/m', 'two/m', 'one/m', 'one/m', 'two/m'])
})

test('a combo with object entries is suggested for a misspelled name', async () => {
  const { world } = await open({ combos: { 'my-combo': combo('weighted', { model: 'one/m', weight: 2 }) } })
  const { error }: ErrorAnswer = await (await world.chat({ model: 'my-comb' })).json()
  assert.match(error.message, /Did you mean "my-combo"\?/)
})
