import fc from 'fast-check'
import type { GroupEntry, StrategyInputs } from '../../src/request/routing/group.ts'
import { strategies } from '../../src/request/routing/strategies.ts'
import type { Strategy } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('strategies')

const never = (label: string) => () => {
  throw new Error(`took ${label}`)
}
const nothing: StrategyInputs = {
  random: never('a random number'),
  turnIndex: 0,
  label: 'pool',
  session: '',
  pinnedEntryName: undefined,
  getCost: never('a price'),
  getLatency: never('a latency'),
  getLoad: never('a load'),
}

/** Creates a seeded random number generator, so failures can be reproduced. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Creates entries from these names, in order. `b:6` means a weight of 6. */
const createEntries = (...names: string[]): GroupEntry[] =>
  names.map((text, index) => {
    const [name = '', weight = '1'] = text.split(':')
    return { index, name, weight: Number(weight) }
  })

const getNames = (entries: readonly GroupEntry[]) => entries.map(({ name }) => name).join('')

/** Counts how often each order of entries occurs. */
function tally(
  strategy: Strategy,
  entries: GroupEntry[],
  { runs = 40_000, ...inputs }: { runs?: number } & Partial<StrategyInputs> = {},
) {
  const random = generator(7)
  const counts = new Map<string, number>()
  for (let run = 0; run < runs; run++) {
    const order = getNames(strategies[strategy].order(entries, { ...nothing, random, session: `s${run}`, ...inputs }))
    counts.set(order, (counts.get(order) ?? 0) + 1)
  }
  return counts
}

const assertNear = (actual: number, wanted: number, tolerance = 0.02) =>
  assert.ok(Math.abs(actual - wanted) < tolerance, `${actual} instead of ${wanted}`)

const weight = fc.oneof(fc.constant(0), fc.constant(1), fc.double({ min: 0, max: 1_000, noNaN: true }))
const entriesOf = fc
  .array(fc.record({ name: fc.string({ maxLength: 3 }), weight }, { noNullPrototype: true }), { maxLength: 12 })
  .map((entries): GroupEntry[] => entries.map((entry, index) => ({ ...entry, index })))
const figure = fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined })
const inputsOf = fc
  .record({
    seed: fc.integer(),
    turn: fc.nat(),
    session: fc.string({ maxLength: 4 }),
    pin: fc.option(fc.string({ maxLength: 3 })),
    figures: fc.func(figure),
  })
  .map(
    ({ seed, turn, session, pin, figures }) =>
      (entries: readonly GroupEntry[]): StrategyInputs => ({
        random: generator(seed),
        turnIndex: turn % Math.max(1, entries.length),
        label: 'pool',
        session,
        pinnedEntryName: pin ?? undefined,
        getCost: ({ index }) => figures(index),
        getLatency: ({ index }) => figures(index),
        getLoad: ({ index }) => figures(index) ?? 0,
      }),
  )

for (const strategy of Object.keys(strategies) as Strategy[]) {
  test(`"${strategy}" returns each entry once, for any inputs, and doesn't change the list`, () => {
    const property = fc.property(entriesOf, inputsOf, (entries, inputs) => {
      const before = structuredClone(entries)
      const order = strategies[strategy].order(entries, inputs(entries))
      assert.is(order.length, entries.length)
      assert.is(new Set(order).size, entries.length)
      for (const entry of entries) assert.ok(order.includes(entry))
      assert.equal(entries, before)
    })
    fc.assert(property)
  })

  test(`"${strategy}" accepts the smallest and the largest random numbers`, () => {
    const entries = createEntries('a', 'b:0.1', 'c:0.2', 'd:0')
    for (const number of [0, 1 - 2 ** -53]) {
      const inputs = { ...nothing, random: () => number, getCost: () => 1, getLatency: () => 1, getLoad: () => 1 }
      const order = strategies[strategy].order(entries, inputs)
      assert.equal(getNames(order).split('').sort(), ['a', 'b', 'c', 'd'])
    }
  })
}

for (const strategy of ['fallback', 'conditional'] as const) {
  test(`"${strategy}" keeps the listed order, and uses no inputs`, () => {
    fc.assert(fc.property(entriesOf, (entries) => assert.equal(strategies[strategy].order(entries, nothing), entries)))
  })
}

test('"round-robin" starts at its turn and wraps around', () => {
  for (const [turn, order] of ['abc', 'bca', 'cab'].entries())
    assert.is(
      getNames(strategies['round-robin'].order(createEntries('a', 'b', 'c'), { ...nothing, turnIndex: turn })),
      order,
    )
  assert.equal(strategies['round-robin'].order([], nothing), [])
})

test('"round-robin" with excluded entries starts at the next remaining one', () => {
  const entries = createEntries('a', 'b', 'c', 'd').filter(({ name }) => name !== 'b')
  assert.is(getNames(strategies['round-robin'].order(entries, { ...nothing, turnIndex: 1 })), 'cda')
  assert.is(getNames(strategies['round-robin'].order(entries, { ...nothing, turnIndex: 3 })), 'dac')
})

test('"weighted" draws by weight without replacement', () => {
  const counts = tally('weighted', createEntries('a:6', 'b:3', 'c'))
  const share = (order: string) => (counts.get(order) ?? 0) / 40_000
  assertNear(share('abc'), (6 / 10) * (3 / 4))
  assertNear(share('acb'), (6 / 10) * (1 / 4))
  assertNear(share('bac'), (3 / 10) * (6 / 7))
  assertNear(share('bca'), (3 / 10) * (1 / 7))
  assertNear(share('cab'), (1 / 10) * (6 / 9))
  assertNear(share('cba'), (1 / 10) * (3 / 9))
})

test('"weighted" puts entries with weight 0 last, in listed order', () => {
  const property = fc.property(entriesOf, fc.integer(), (entries, seed) => {
    const order = strategies.weighted.order(entries, { ...nothing, random: generator(seed) })
    const last = entries.filter(({ weight }) => weight === 0)
    assert.equal(order.slice(order.length - last.length), last)
  })
  fc.assert(property)
})

test('"random" makes every order equally likely, regardless of the weights', () => {
  const counts = tally('random', createEntries('a', 'b:0', 'c:9'))
  assert.equal([...counts.keys()].sort(), ['abc', 'acb', 'bac', 'bca', 'cab', 'cba'])
  for (const count of counts.values()) assertNear(count / 40_000, 1 / 6)
})

const figures: Array<[Strategy, (figureOf: (entry: GroupEntry) => number | undefined) => Partial<StrategyInputs>]> = [
  ['least-cost', (getCost) => ({ getCost })],
  ['least-busy', (getFigure) => ({ getLoad: (entry) => getFigure(entry) ?? Number.POSITIVE_INFINITY })],
]
for (const [strategy, inputs] of figures) {
  test(`"${strategy}" sorts in ascending order, with ties in listed order and entries without a value last`, () => {
    const property = fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 4 }))), (input) => {
      const entries = input.map((_, index) => ({ index, name: String(index), weight: 1 }))
      const getFigure = ({ index }: GroupEntry) => input[index] ?? undefined
      const order = strategies[strategy].order(entries, { ...nothing, ...inputs(getFigure) })
      const wanted = [...entries].sort((a, b) => (getFigure(a) ?? 9) - (getFigure(b) ?? 9) || a.index - b.index)
      assert.equal(order, wanted)
    })
    fc.assert(property)
  })
}

test('"least-latency" puts unmeasured entries first, and then sorts by speed', () => {
  const latencies: Record<string, number> = { a: 30, b: 10, d: 20 }
  const inputs = { ...nothing, random: () => 0.9, getLatency: ({ name }: GroupEntry) => latencies[name] }
  assert.is(getNames(strategies['least-latency'].order(createEntries('a', 'b', 'c', 'd', 'e'), inputs)), 'cebda')
})

test('"least-latency" tries another entry first in one of twenty requests', () => {
  const getLatency = ({ index }: GroupEntry) => index
  const counts = tally('least-latency', createEntries('a', 'b', 'c'), { getLatency })
  assertNear((counts.get('abc') ?? 0) / 40_000, 0.95, 0.005)
  assertNear((counts.get('bac') ?? 0) / 40_000, 0.025, 0.005)
  assertNear((counts.get('cab') ?? 0) / 40_000, 0.025, 0.005)
})

test('"sticky" always sends a session to the same entry, and spreads sessions over all entries by weight', () => {
  const entries = createEntries('a:3', 'b', 'c:0')
  assert.equal(
    strategies.sticky.order(entries, { ...nothing, session: 'x' }),
    strategies.sticky.order(entries, { ...nothing, session: 'x' }),
  )
  const counts = tally('sticky', entries)
  assertNear((counts.get('abc') ?? 0) / 40_000, 3 / 4)
  assertNear((counts.get('bac') ?? 0) / 40_000, 1 / 4)
})

test('"sticky" spreads sessions differently in each group', () => {
  const entries = createEntries('a', 'b')
  const getFirst = (label: string, session: string) =>
    strategies.sticky.order(entries, { ...nothing, label, session })[0]
  const sessions = Array.from({ length: 1_000 }, (_, index) => `s${index}`)
  assertNear(sessions.filter((session) => getFirst('x', session) === getFirst('y', session)).length / 1_000, 0.5, 0.06)
})

test('"sticky" moves only the sessions of a removed entry', () => {
  const five = createEntries('a', 'b', 'c', 'd', 'e')
  const four = five.filter(({ name }) => name !== 'c')
  let moved = 0
  for (let index = 0; index < 2_000; index++) {
    const inputs = { ...nothing, session: `s${index}` }
    const [before] = strategies.sticky.order(five, inputs)
    const [after] = strategies.sticky.order(four, inputs)
    if (before?.name === 'c') moved++
    else assert.is(after, before)
  }
  assertNear(moved / 2_000, 1 / 5, 0.03)
})

test('"sticky" follows the pin, and uses the listed order without a session', () => {
  const entries = createEntries('a', 'b', 'c')
  for (const pin of ['a', 'b', 'c'])
    assert.is(strategies.sticky.order(entries, { ...nothing, session: 'x', pinnedEntryName: pin })[0]?.name, pin)
  assert.is(getNames(strategies.sticky.order(entries, nothing)), 'abc')
})
