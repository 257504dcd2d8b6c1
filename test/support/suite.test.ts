import { throws } from 'node:assert/strict'
import fc from 'fast-check'
import { assert, suite } from './suite.ts'

const test = suite('assertions')

test('assertions can compare objects with inherited property names as keys', () => {
  const parse = () => JSON.parse('{"constructor":{"type":"object"},"toString":[1]}')
  assert.equal(parse(), parse())
})

test('assertions distinguish objects that only differ in a key named like an inherited property', () => {
  throws(() => assert.equal({ constructor: { a: 1 } }, { constructor: { a: 2 } }))
})

test('a property test tries the same cases in every run', () => {
  if (process.env.SEED === undefined) assert.is(fc.readConfigureGlobal()?.seed, 1)
})
