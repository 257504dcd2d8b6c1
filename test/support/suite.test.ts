import { throws } from 'node:assert/strict'
import fc from 'fast-check'
import { assert, suite } from './suite.ts'

const test = suite('the assertions')

test('the assertions take objects for equal whose keys have the names of members', () => {
  const parsed = () => JSON.parse('{"constructor":{"type":"object"},"toString":[1]}')
  assert.equal(parsed(), parsed())
})

test('distinguish objects that differ under such a key', () => {
  throws(() => assert.equal({ constructor: { a: 1 } }, { constructor: { a: 2 } }))
})

test('meet the same cases in every run of a property', () => {
  if (process.env.SEED === undefined) assert.is(fc.readConfigureGlobal()?.seed, 1)
})
