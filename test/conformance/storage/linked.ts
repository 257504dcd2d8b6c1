import type { Storage } from '../../../src/index.ts'
import { assert } from '../../support/suite.ts'
import type { StorageTest } from '../storage.ts'

/** Tests `getLinked`. */
export function storageLinked(test: StorageTest): void {
  test('getLinked reads an entry and the entries that it names, each with its latest version', async ({
    storage,
    other,
  }) => {
    const keys = ['keys/1f', 'limits/key/a%20b', "groups/it's_(a)*~!"]
    await storage.set('keys/1f0', 'other')
    await storage.set('links', [...keys, 'missing'].join('\n'))
    for (const key of keys) await storage.set(key, 'old')
    const versions = await Promise.all(keys.map((key) => storage.set(key, `value of ${key}`)))
    for (const reader of [storage, await other()]) {
      const { links, ...linked } = await readLinked(reader, 'links')
      assert.equal(links, await storage.get('links'))
      assert.equal(
        linked,
        Object.fromEntries(keys.map((key, index) => [key, { value: `value of ${key}`, version: versions[index] }])),
      )
    }
  })

  test('getLinked omits deleted and expired entries', async ({ storage, passTime }) => {
    await storage.set('links', 'a\nb\nc')
    for (const key of ['a', 'b', 'c']) await storage.set(key, key, key === 'b' ? { ttlMs: 50 } : {})
    await storage.delete('a')
    await passTime(60)
    assert.equal(Object.keys(await readLinked(storage, 'links')).sort(), ['c', 'links'])
  })

  test('getLinked omits the first entry if it no longer exists', async ({ storage, passTime }) => {
    await storage.set('a', 'value')
    assert.equal(await readLinked(storage, 'links'), {})
    await storage.set('links', 'a', { ttlMs: 50 })
    await passTime(60)
    assert.is((await readLinked(storage, 'links')).links, undefined)
    await storage.set('links', 'a')
    await storage.delete('links')
    assert.is((await readLinked(storage, 'links')).links, undefined)
  })

  test('getLinked reads at least 32 linked entries, and survives more', async ({ storage }) => {
    const keys = Array.from({ length: 32 }, (_, index) => `key/${index}`)
    await Promise.all(keys.map((key) => storage.set(key, 'value')))
    await storage.set('links', keys.join('\n'))
    assert.is(Object.keys(await readLinked(storage, 'links')).length, 33)
    await storage.set('links', [...keys, ...Array.from({ length: 20_000 }, (_, index) => `${index}`)].join('\n'))
    assert.is(Object.keys(await readLinked(storage, 'links')).length, 33)
  })

  test('getLinked reads entries that are empty, name themselves, or name an entry twice', async ({ storage }) => {
    await storage.set('a', 'value')
    for (const [value, expected] of [
      ['', ['links']],
      ['links', ['links']],
      ['a\na', ['a', 'links']],
    ] as const) {
      await storage.set('links', value)
      assert.equal(Object.keys(await readLinked(storage, 'links')).sort(), expected)
    }
  })
}

async function readLinked({ getLinked }: Storage, key: string) {
  const entries = (await getLinked?.(key)) ?? []
  return Object.fromEntries(entries.map(({ key, value, version }) => [key, { value, version }]))
}
