import { throws } from 'node:assert/strict'
import fc from 'fast-check'
import { assert, suite } from './suite.ts'

const test = suite('the assertions')

test('the assertions compare objects whose keys have the names of inherited members', () => {
  const parsed = () => JSON.parse('{"constructor":{"type":"object"},"toString":[1]}')
  assert.equal(parsed(), parsed())
})

test('the assertions distinguish objects that differ in such a key', () => {
  throws(() => assert.equal({ constructor: { a: 1 } }, { constructor: { a: 2 } }))
})

test('every run of a property has the same cases', () => {
  if (process.env.SEED === undefined) assert.is(fc.readConfigureGlobal()?.seed, 1)
})
