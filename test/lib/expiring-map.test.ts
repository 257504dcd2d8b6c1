import { createExpiringMap } from '../../src/lib/maps.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('createExpiringMap')

test('a value is kept until its TTL ends, counted from when it was last set', () => {
  let now = 0
  const map = createExpiringMap<number>({ clock: { now: () => now }, ttlMs: 10, maxSize: 2 })
  map.set('a', 1)
  now = 9
  assert.is(map.get('a'), 1)
  map.set('a', 2)
  now = 18
  assert.is(map.get('a'), 2)
  now = 19
  assert.is(map.get('a'), undefined)
})

test('a new value evicts the least recently set one, and updating a value evicts none', () => {
  const map = createExpiringMap<number>({ clock: { now: () => 0 }, ttlMs: 10, maxSize: 2 })
  map.set('a', 1)
  map.set('b', 1)
  map.set('a', 2)
  map.set('c', 1)
  assert.equal([map.get('a'), map.get('b'), map.get('c')], [2, undefined, 1])
})
