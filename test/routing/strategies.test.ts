import fc from 'fast-check'
import type { Inputs } from '../../src/routing/strategies/order.ts'
import { strategies } from '../../src/routing/strategies/strategies.ts'
import type { ComboModel, Strategy } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('strategies')

const never = (what: string) => () => {
  throw new Error(`took ${what}`)
}
const nothing: Inputs = { random: never('a random number'), turn: never('a turn'), costOf: never('a price') }

/** Small enough to see, seeded so that a failure comes again. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** How often each order came up, by the entries' names. */
function tally(strategy: Strategy, entries: ComboModel[], runs: number) {
  const random = generator(7)
  const counts = new Map<string, number>()
  for (let run = 0; run < runs; run++) {
    const order = strategies[strategy](entries, { ...nothing, random })
    const name = order.map((entry) => (typeof entry === 'string' ? entry : entry.model)).join('')
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

const isNear = (actual: number, wanted: number) =>
  assert.ok(Math.abs(actual - wanted) < 0.02, `${actual} instead of ${wanted}`)

const weight = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1_000, noNaN: true }))
const name = fc.string({ maxLength: 3 })
const plain = { noNullPrototype: true }
const entry: fc.Arbitrary<ComboModel> = fc.oneof(
  name,
  fc.record({ model: name }, plain),
  fc.record({ model: name, weight }, plain),
)
const entriesOf = fc.array(entry, { maxLength: 12 })
const costs = fc.func(fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }))

for (const strategy of Object.keys(strategies) as Strategy[]) {
  test(`"${strategy}" gives each entry once, whatever it is given, and leaves the list alone`, () => {
    const property = fc.property(entriesOf, fc.integer(), fc.nat(), costs, (entries, seed, turns, costOf) => {
      const before = structuredClone(entries)
      const wrapped = entries.map((one) => (typeof one === 'string' ? { model: one } : one))
      const turn = () => turns % Math.max(1, wrapped.length)
      const order = strategies[strategy](wrapped, { random: generator(seed), turn, costOf })
      assert.is(order.length, wrapped.length)
      assert.is(new Set(order).size, wrapped.length)
      for (const one of wrapped) assert.ok(order.includes(one))
      strategies[strategy](entries, { random: generator(seed), turn, costOf })
      assert.equal(entries, before)
    })
    fc.assert(property)
  })

  test(`"${strategy}" takes the edges of chance`, () => {
    const entries = ['a', { model: 'b', weight: 0.1 }, { model: 'c', weight: 0.2 }, { model: 'd', weight: 0 }]
    for (const number of [0, 1 - 2 ** -53]) {
      const order = strategies[strategy](entries, { random: () => number, turn: () => 0, costOf: () => 1 })
      assert.is(new Set(order).size, 4)
      assert.not(order.includes(undefined as unknown as ComboModel)) // what a wrong index gives
    }
  })
}

test('"fallback" is the list as it is, and asks for nothing', () => {
  const property = fc.property(entriesOf, (entries) => assert.equal(strategies.fallback(entries, nothing), entries))
  fc.assert(property)
})

test('"round-robin" begins at its turn, goes round, and takes one turn; an empty list takes none', () => {
  for (const [turn, order] of ['abc', 'bca', 'cab'].entries()) {
    const turns = [turn]
    const inputs = { ...nothing, turn: () => turns.pop() ?? Number.NaN }
    assert.is(strategies['round-robin'](['a', 'b', 'c'], inputs).join(''), order)
    assert.equal(turns, [])
  }
  assert.equal(strategies['round-robin']([], nothing), [])
})

test('"weighted" draws by weight without putting back', () => {
  const counts = tally('weighted', [{ model: 'a', weight: 6 }, { model: 'b', weight: 3 }, 'c'], 40_000)
  const share = (order: string) => (counts.get(order) ?? 0) / 40_000
  isNear(share('abc'), (6 / 10) * (3 / 4))
  isNear(share('acb'), (6 / 10) * (1 / 4))
  isNear(share('bac'), (3 / 10) * (6 / 7))
  isNear(share('bca'), (3 / 10) * (1 / 7))
  isNear(share('cab'), (1 / 10) * (6 / 9))
  isNear(share('cba'), (1 / 10) * (3 / 9))
})

test('"weighted" keeps weight 0 for the end, as listed', () => {
  const property = fc.property(entriesOf, fc.integer(), (entries, seed) => {
    const isLast = (one: ComboModel) => typeof one === 'object' && one.weight === 0
    const order = strategies.weighted(entries, { ...nothing, random: generator(seed) })
    const last = entries.filter(isLast)
    assert.equal(order.slice(order.length - last.length), last)
    assert.not.ok(order.slice(0, order.length - last.length).some(isLast))
  })
  fc.assert(property)
})

test('"random" makes each order as likely as any other, whatever the weights', () => {
  const counts = tally('random', ['a', { model: 'b', weight: 0 }, { model: 'c', weight: 9 }], 40_000)
  assert.equal([...counts.keys()].sort(), ['abc', 'acb', 'bac', 'bca', 'cab', 'cba'])
  for (const count of counts.values()) isNear(count / 40_000, 1 / 6)
})

test('"least-cost" goes up in price; equals and those without a price stay as listed, the latter at the end', () => {
  const property = fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 4 }))), (prices) => {
    const entries = prices.map((_, at) => String(at))
    const costOf = (model: string) => prices[Number(model)] ?? undefined
    const order = strategies['least-cost'](entries, { ...nothing, costOf })
    const places = order.map((model) => Number(model))
    for (const [at, place] of places.slice(1).entries()) {
      const before = prices[places[at] ?? -1] ?? Number.POSITIVE_INFINITY
      const after = prices[place] ?? Number.POSITIVE_INFINITY
      assert.ok(before < after || (before === after && (places[at] ?? -1) < place), `${places} of ${prices}`)
    }
  })
  fc.assert(property)
})
