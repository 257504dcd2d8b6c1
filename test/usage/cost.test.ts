import {
  addSpending,
  addUsages,
  type CostSource,
  calculateCost,
  calculateSpending,
  type Spending,
} from '../../src/pricing/cost.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('response costs')

const tokens = { inputTokens: 1_000_000, outputTokens: 2_000_000 }

test('cached tokens cost the same as other input unless they have their own price', () => {
  assert.is(calculateCost({ input: 2, output: 3 }, tokens), 8)
  const cached = { ...tokens, cacheReadTokens: 500_000 }
  assert.is(calculateCost({ input: 2, output: 3 }, cached), 8)
  assert.is(calculateCost({ input: 2, output: 3, cacheRead: 1 }, cached), 7.5)
})

test('other units have a price per unit, with or without tokens', () => {
  assert.is(calculateCost({ search: 0.005 }, { inputTokens: 0, outputTokens: 0, units: { search: 4 } }), 0.02)
  assert.is(calculateCost({ input: 2, output: 3, page: 0.5 }, { ...tokens, units: { page: 2 } }), 9)
})

test("audio is priced by tokens or by characters and seconds, depending on the model's price", () => {
  const spoken = { inputTokens: 10, outputTokens: 100, units: { character: 20 } }
  assert.is(calculateCost({ character: 0.5 }, spoken), 10)
  assert.is(calculateCost({ input: 100_000, output: 10_000 }, spoken), 2)
  assert.is(calculateCost({ input: 100_000, output: 10_000, character: 0.5 }, spoken), 2)
  assert.is(calculateCost({ input: 0, output: 0 }, spoken), 0)
  assert.is(calculateCost({ input: 1 }, spoken), undefined)
  assert.is(calculateCost({ minute: 0.6 }, { inputTokens: 0, outputTokens: 0, units: { second: 30 } }), 0.3)
  assert.is(calculateCost({ second: 0.5 }, { inputTokens: 10, outputTokens: 0, units: { second: 4 } }), 2)
  assert.is(calculateCost({ second: 0.5 }, { inputTokens: 0, outputTokens: 0, units: { second: 4 } }), 2)
})

test('a cost is unknown, not 0, if one of its units has no price', () => {
  assert.is(calculateCost(undefined, tokens), undefined)
  assert.is(calculateCost({ input: 2 }, tokens), undefined)
  assert.is(calculateCost({ input: 2, output: 3 }, { ...tokens, units: { search: 1 } }), undefined)
  assert.is(calculateCost({ input: 2 }, { inputTokens: 1_000_000, outputTokens: 0 }), 2)
})

test('tokens cached for an hour cost twice the input price, and shorter cache writes have their own price', () => {
  const written = {
    inputTokens: 1_000_000,
    outputTokens: 0,
    cacheWriteTokens: 1_000_000,
    cacheWriteLongTokens: 400_000,
  }
  assert.is(calculateCost({ input: 5, cacheWrite: 6.25 }, written), 0.6 * 6.25 + 0.4 * 10)
})

const catalog = { one: { models: [{ id: 'm', price: { input: 1, output: 10 } }] } }
const at = (model: string) => ({ catalog, target: { provider: 'one', model } })

test("the provider's reported cost takes precedence over the price, unless it is an estimate", () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 0, costUsd: 0.5 }
  assert.equal(calculateSpending(usage, at('m')), { usage, costSource: 'reported', costUsd: 0.5 })
  assert.equal(calculateSpending(usage, { ...at('m'), isEstimated: true }), {
    usage,
    costSource: 'estimated',
    costUsd: 1,
  })
  assert.equal(calculateSpending(usage, at('other')), { usage, costSource: 'reported', costUsd: 0.5 })
  const { costUsd: _, ...counted } = usage
  assert.equal(calculateSpending(counted, at('m')), { usage: counted, costSource: 'counted', costUsd: 1 })
  assert.equal(calculateSpending(counted, at('other')), { usage: counted, costSource: 'counted' })
})

test('only images and audio without reported tokens have an estimated cost', () => {
  const costs = (units: NonNullable<Spending['usage']['units']>, tokens = 0) => {
    const { costUsd, costSource } = calculateSpending({ inputTokens: tokens, outputTokens: 0, units }, at('m'))
    return [costUsd, costSource]
  }
  assert.equal(costs({ character: 1_000 }), [(300 + 14_000) / 1_000_000, 'estimated'])
  assert.equal(costs({ second: 60 }), [(600 + 2_400) / 1_000_000, 'estimated'])
  assert.equal(costs({ image: 1 }), [0.042, 'estimated'])
  assert.equal(costs({ character: 1_000 }, 10), [0.00001, 'counted'])
  assert.equal(costs({ search: 1 }), [undefined, 'counted'])
  assert.equal(costs({ image: 0 }), [0, 'counted'])
})

test('the cost source of a total is that of its least certain part', () => {
  const of = (costSource: CostSource): Spending => ({
    usage: { inputTokens: 1, outputTokens: 2 },
    costSource,
    costUsd: 1,
  })
  const sources = ['reported', 'counted', 'estimated'] as const
  const totals = sources.map((source) => sources.map((other) => addSpending(of(source), of(other))?.costSource))
  assert.equal(totals, [
    ['reported', 'counted', 'estimated'],
    ['counted', 'counted', 'estimated'],
    ['estimated', 'estimated', 'estimated'],
  ])
  const unknown: Spending = { usage: { inputTokens: 1, outputTokens: 2 }, costSource: 'counted' }
  assert.not.ok('costUsd' in (addSpending(of('counted'), unknown) ?? {}))
  assert.is(addSpending(of('counted'), of('counted'))?.costUsd, 2)
  assert.equal(addSpending(undefined, unknown), unknown)
})

test('addSpending sums the tokens and units of two calls', () => {
  const getSum = (item: Spending['usage'], other: Spending['usage']) =>
    addSpending({ usage: item, costSource: 'counted' }, { usage: other, costSource: 'counted' })?.usage ?? {}
  const one = { inputTokens: 1, outputTokens: 0, cacheReadTokens: 1, units: { search: 1, page: 2 } }
  assert.equal(getSum(one, { inputTokens: 2, outputTokens: 1, reasoningTokens: 4, units: { search: 3 } }), {
    inputTokens: 3,
    outputTokens: 1,
    cacheReadTokens: 1,
    reasoningTokens: 4,
    units: { search: 4, page: 2 },
  })
  assert.equal(getSum(one, { inputTokens: 2, outputTokens: 1 }), { ...one, inputTokens: 3, outputTokens: 1 })
  assert.not.ok('units' in getSum({ inputTokens: 1, outputTokens: 1 }, { inputTokens: 2, outputTokens: 1 }))
  const guessed = { inputTokens: 1, outputTokens: 1, isEstimated: true } as const
  assert.is(addUsages(guessed, one).isEstimated, true)
  assert.is(addUsages(one, guessed).isEstimated, true)
})

for (const [member, source] of [
  [{}, 'counted'],
  [{ service_tier: 'default' }, 'counted'],
  [{ service_tier: 'priority' }, 'estimated'],
] as const) {
  test(`the cost of a request with ${JSON.stringify(member)} is ${source}`, async () => {
    const prices = { one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm', price: { input: 1, output: 10 } }] } }
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
    const fetch = fakeUpstream(() => json({ ...chatResponse(), usage }))
    const { chat, recorded } = await openWorld({ catalog: prices, connections: ['one'], fetch })
    await (await chat({ model: 'one/m', ...member })).text()
    assert.equal(
      recorded.usages.map(({ inputTokens, costUsd, costSource }) => [inputTokens, costUsd, costSource]),
      [[10, 0.00006, source]],
    )
  })
}
