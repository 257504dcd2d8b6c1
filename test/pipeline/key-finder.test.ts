import fc from 'fast-check'
import { createKeyFinder } from '../../src/request/codec/secrets.ts'
import { cpuMs, roundsUntil } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the key finder')

const text = (min: number, max: number) =>
  fc
    .array(fc.constantFrom('a', 'b', 'c', '-'), { minLength: min, maxLength: max })
    .map((characters) => characters.join(''))

test('the key finder finds text that contains one of the keys, and nothing else', () => {
  let found = 0
  fc.assert(
    fc.property(
      fc.array(text(8, 14), { maxLength: 4 }),
      text(0, 40),
      fc.nat(),
      fc.boolean(),
      (keys, around, place, isQuoted) => {
        const [key = ''] = keys
        const index = place % (around.length + 1)
        const output = isQuoted ? around.slice(0, index) + key + around.slice(index) : around
        const contains = keys.some((key) => output.includes(key))
        if (contains) found++
        assert.is(createKeyFinder(keys)(output), contains, JSON.stringify({ keys, output }))
      },
    ),
    { numRuns: 3_000 },
  )
  assert.ok(found > 500)
})

test('the key finder is fast even with a thousand keys in text full of key prefixes', async () => {
  const getKeys = (count: number) =>
    Array.from(
      { length: count },
      (_, index) => `sk-proj-${`${index}`.padStart(30, 'abcdefghijklmnopqrstuvwxyz0123456789')}`,
    )
  const output = 'sk-proj-abcdefghij'.repeat(5_000)
  for (const count of [1, 1_000]) {
    const find = createKeyFinder(getKeys(count))
    assert.not.ok(find(output))
    const times = await roundsUntil(30, () => cpuMs(() => find(output)))
    assert.ok(Math.min(...times) <= 30, `${count} keys: ${times} ms for ${output.length} characters`)
  }
})
