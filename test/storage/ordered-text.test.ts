import fc from 'fast-check'
import { fromOrdered, getUpperBound, toOrdered } from '../../adapters/storage/lib/ordered-text.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('escaped keys')

const char = fc.oneof(
  fc.constantFrom(
    'a',
    '/',
    '~',
    '\uD7FF',
    '\uE000',
    '\uFF5E',
    '\uFFFF',
    '\u{10000}',
    '😀',
    '\u{10FFFD}',
    '\u{10FFFE}',
    '\u{10FFFF}',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
)
const text = fc
  .array(char, { maxLength: 6 })
  .map((chars) => chars.join(''))
  .filter((joined) => joined.isWellFormed())

const sign = (order: number) => Math.sign(order)
const byBytes = (value: string, other: string) => sign(Buffer.compare(Buffer.from(value), Buffer.from(other)))
const byUnits = (value: string, other: string) => (value === other ? 0 : value < other ? -1 : 1)

test('an escaped key is restored unchanged', () => {
  fc.assert(
    fc.property(text, (key) => fromOrdered(toOrdered(key)) === key),
    { numRuns: 2_000 },
  )
})

test('escaped keys have the same order in bytes as the original keys have in UTF-16 code units', () => {
  fc.assert(
    fc.property(text, text, (value, other) => byBytes(toOrdered(value), toOrdered(other)) === byUnits(value, other)),
    { numRuns: 5_000 },
  )
})

test('the key range for a prefix contains exactly the keys that start with it', () => {
  fc.assert(
    fc.property(text, text, (prefix, key) => {
      const [from, at, to] = [toOrdered(prefix), toOrdered(key), getUpperBound(toOrdered(prefix))]
      const isIn = byBytes(at, from) >= 0 && byBytes(at, to) < 0
      assert.is(isIn, key.startsWith(prefix))
      assert.is(byBytes(toOrdered(prefix + key), to), -1)
    }),
    { numRuns: 5_000 },
  )
})
