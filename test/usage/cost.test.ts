import { sumOf } from '../../src/formats/canonical/answer.ts'
import type { Price } from '../../src/types.ts'
import { costOf } from '../../src/usage/record.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('what an answer costs')

const cost = (price: Price | undefined, usage: Parameters<typeof costOf>[2]) =>
  costOf({ one: { models: [{ id: 'm', ...(price && { price }) }] } }, { provider: 'one', model: 'm' }, usage)

const tokens = { inputTokens: 1_000_000, outputTokens: 2_000_000 }

test('tokens cost by the million, cached ones as much as others unless they have a price', () => {
  assert.is(cost({ input: 2, output: 3 }, tokens), 8)
  const cached = { ...tokens, cacheReadTokens: 500_000 }
  assert.is(cost({ input: 2, output: 3 }, cached), 8)
  assert.is(cost({ input: 2, output: 3, cacheRead: 1 }, cached), 7.5)
})

test('other units cost each, beside tokens or alone', () => {
  assert.is(cost({ search: 0.005 }, { inputTokens: 0, outputTokens: 0, units: { search: 4 } }), 0.02)
  assert.is(cost({ input: 2, output: 3, page: 0.5 }, { ...tokens, units: { page: 2 } }), 9)
})

test('a cost is unknown, not 0, if the price of something that was used is', () => {
  assert.is(cost(undefined, tokens), undefined)
  assert.is(cost({ input: 2 }, tokens), undefined)
  assert.is(cost({ input: 2, output: 3 }, { ...tokens, units: { search: 1 } }), undefined)
  assert.is(cost({ input: 2 }, { inputTokens: 1_000_000, outputTokens: 0 }), 2)
})

test('the units of two answers are added', () => {
  const one = { inputTokens: 1, outputTokens: 0, units: { search: 1, page: 2 } }
  assert.equal(sumOf(one, { inputTokens: 2, outputTokens: 1, units: { search: 3 } })?.units, { search: 4, page: 2 })
  assert.equal(sumOf(one, { inputTokens: 2, outputTokens: 1 })?.units, { search: 1, page: 2 })
  assert.not.ok('units' in (sumOf({ inputTokens: 1, outputTokens: 1 }, { inputTokens: 2, outputTokens: 1 }) ?? {}))
})
