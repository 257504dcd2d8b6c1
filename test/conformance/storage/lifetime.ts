import { assert } from '../../support/suite.ts'
import type { StorageConformance, StorageTest } from '../storage.ts'

/** What an adapter claims to have, `ownSecret`, and `close`. */
export function storageLifetime(test: StorageTest, claims: Required<Pick<StorageConformance, 'atomic' | 'has'>>): void {
  test('has what it claims', async ({ storage }) => {
    assert.is(storage.atomic, claims.atomic)
    for (const name of ['increment', 'watch', 'ownSecret'] as const) {
      assert.is(typeof storage[name], claims.has.includes(name) ? 'function' : 'undefined', name)
    }
  })

  test('works with its functions taken off the object', async ({ storage: { get, set, list } }) => {
    await set('key', 'value')
    assert.is((await get('key'))?.value, 'value')
    assert.is((await list('')).length, 1)
  })

  test('settles what is under way before it is closed, and closes twice', async ({ storage, other }) => {
    const second = await other()
    const writes = Array.from({ length: 10 }, (_, index) => storage.set(`key/${index}`, 'value'))
    await storage.close?.()
    assert.is((await second.list('key/')).length, 10)
    await Promise.all(writes)
    await storage.close?.()
  })

  if (!claims.has.includes('ownSecret')) return

  test('keeps one secret of its own', async ({ storage, other }) => {
    const secrets = await Promise.all([storage.ownSecret?.(), storage.ownSecret?.(), (await other()).ownSecret?.()])
    assert.ok((secrets[0] ?? '').length >= 32)
    assert.is(new Set(secrets).size, 1)
    await storage.set('key', 'value')
    assert.is(await (await other()).ownSecret?.(), secrets[0])
    assert.is((await storage.list('')).length, 1, 'the secret is no key of the store')
  })
}
