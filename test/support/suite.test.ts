import { throws } from 'node:assert/strict'
import fc from 'fast-check'
import { assert, suite } from './suite.ts'

const test = suite('the assertions')

test('the assertions compare objects with inherited property names as keys', () => {
  const parse = () => JSON.parse('{"constructor":{"type":"object"},"toString":[1]}')
  assert.equal(parse(), parse())
})

test('the assertions distinguish objects that differ only in a key named like an inherited property', () => {
  throws(() => assert.equal({ constructor: { a: 1 } }, { constructor: { a: 2 } }))
})

test('every run of a property test has the same cases', () => {
  if (process.env.SEED === undefined) assert.is(fc.readConfigureGlobal()?.seed, 1)
})
