import { assert } from '../../support/suite.ts'
import type { StorageTest } from '../storage.ts'

/** Each character is special in some pattern language. */
const SPECIAL = [
  'a%b/',
  'a_b/',
  'a*b/',
  'a?b/',
  'a[b]/',
  'a\\b/',
  "a'b/",
  'a"b/',
  'a.b/',
  'a^b/',
  'a{b}/',
  'a b/',
  'a:b/',
  'aéb/',
  'a😀b/',
]

/** Tests `list`. */
export function storageListing(test: StorageTest): void {
  test('list returns the keys that start with the prefix, with values and versions', async ({ storage }) => {
    const version = await storage.set('keys/1', 'one')
    for (const key of ['key', 'keys', 'keyss/1', 'Keys/1', 'kez', '/keys/1']) await storage.set(key, 'other')
    const empty = await storage.set('keys/', '')
    assert.equal(await storage.list('keys/'), [
      { key: 'keys/', value: '', version: empty },
      { key: 'keys/1', value: 'one', version },
    ])
    assert.equal(await storage.list('nobody/'), [])
    assert.is((await storage.list('')).length, 8)
  })

  test('list orders keys by code unit, regardless of insertion order', async ({ storage }) => {
    const keys = ['a', 'Z', 'a/', 'a0', 'a-', 'a_', 'é', 'z', '10', '9', '\uFF5E', '😀', 'ab', 'aB', 'a b', '~']
    for (const key of keys) await storage.set(`k/${key}`, 'value')
    const listed = (await storage.list('k/')).map(({ key }) => key)
    assert.equal(listed, keys.map((key) => `k/${key}`).sort())
  })

  test('list treats a prefix literally, not as a pattern', async ({ storage }) => {
    for (const prefix of [...SPECIAL, 'aXb/', 'ab/', 'aXXb/']) await storage.set(`${prefix}1`, prefix)
    for (const prefix of SPECIAL) {
      const listed = await storage.list(prefix)
      assert.equal(
        listed.map(({ key }) => key),
        [`${prefix}1`],
      )
    }
  })

  test('list starts after the key `after`, whether or not it exists', async ({ storage }) => {
    for (const key of ['b', 'k/a', 'k/b', 'k/b/1', 'k/c', 'l/a']) await storage.set(key, 'value')
    const behind = async (after: string) => (await storage.list('k/', { after })).map(({ key }) => key)
    assert.equal(await behind('k/b'), ['k/b/1', 'k/c'])
    assert.equal(await behind('k/b/'), ['k/b/1', 'k/c'])
    assert.equal(await behind('k/bb'), ['k/c'])
    assert.equal(await behind('k/c'), [])
    assert.equal(await behind('k/'), ['k/a', 'k/b', 'k/b/1', 'k/c'])
    assert.equal(await behind('a'), ['k/a', 'k/b', 'k/b/1', 'k/c'])
    assert.equal(await behind('z'), [])
  })

  test('list returns at most `limit` keys, and its pages add up to the full list', async ({ storage }) => {
    const keys = Array.from({ length: 25 }, (_, index) => `page/${String(index).padStart(3, '0')}`)
    await Promise.all(keys.toReversed().map((key) => storage.set(key, key)))
    await storage.set('pagf', 'behind')
    for (const limit of [1, 7, 25, 100]) {
      const walked: string[] = []
      for (;;) {
        const after = walked.at(-1)
        const page = await storage.list('page/', after === undefined ? { limit } : { limit, after })
        assert.ok(page.length <= limit)
        walked.push(...page.map(({ key }) => key))
        if (page.length < limit) break
      }
      assert.equal(walked, keys)
    }
  })

  test('list reflects each change immediately', async ({ storage }) => {
    const listEntries = async () => (await storage.list('k/')).map(({ key, value }) => `${key}=${value}`)
    await storage.set('k/b', '1')
    assert.equal(await listEntries(), ['k/b=1'])
    await storage.set('k/a', '1')
    await storage.set('k/b', '2')
    assert.equal(await listEntries(), ['k/a=1', 'k/b=2'])
    await storage.delete('k/a')
    assert.equal(await listEntries(), ['k/b=2'])
    await storage.set('k/a', '3')
    await storage.delete('k/b')
    await storage.set('k/b', '4')
    await storage.delete('k/a')
    assert.equal(await listEntries(), ['k/b=4'])
  })

  test('list stays correct while hundreds of keys are added and removed', async ({ storage }) => {
    const expected = new Set<string>()
    for (let round = 0; round < 6; round++) {
      const keys = Array.from({ length: 80 }, (_, index) => `k/${(index * 37 + round * 53) % 200}`)
      const distinct = [...new Set(keys)]
      await Promise.all(
        distinct.map((key, index) => (index % 3 === round % 3 ? storage.delete(key) : storage.set(key, key))),
      )
      for (const [index, key] of distinct.entries()) index % 3 === round % 3 ? expected.delete(key) : expected.add(key)
      const listed = (await storage.list('k/')).map(({ key }) => key)
      assert.equal(listed, [...expected].sort())
    }
  })
}
