import { throws } from 'node:assert/strict'
import fc from 'fast-check'
import { assert, suite } from './suite.ts'

const test = suite('the assertions')

test('the assertions compare objects whose keys are names of inherited properties', () => {
  const parsed = () => JSON.parse('{"constructor":{"type":"object"},"toString":[1]}')
  assert.equal(parsed(), parsed())
})

test('the assertions distinguish objects that differ in a key that is the name of an inherited property', () => {
  throws(() => assert.equal({ constructor: { a: 1 } }, { constructor: { a: 2 } }))
})

test('every run of a property test has the same cases', () => {
  if (process.env.SEED === undefined) assert.is(fc.readConfigureGlobal()?.seed, 1)
})
