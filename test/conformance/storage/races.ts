import type { Storage } from '../../../src/index.ts'
import { assert } from '../../support/suite.ts'
import type { StorageTest } from '../storage.ts'

/** Tests `ifVersion` with concurrent writers, as promised by `atomic: true`. */
export function storageRaces(test: StorageTest): void {
  test('only one of many concurrent writers can create a key', async ({ storage, other }) => {
    const second = await other()
    const tries = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? storage : second).set('key', `writer ${index}`, { ifVersion: null }),
    )
    const results = await Promise.all(tries)
    assert.is(results.filter((result) => result !== false).length, 1)
    const winner = results.findIndex((result) => result !== false)
    assert.equal(await storage.get('key'), { value: `writer ${winner}`, version: results[winner] })
  })

  test('only one of many concurrent writers can change a version', async ({ storage, other }) => {
    const second = await other()
    const version = await storage.set('key', 'start')
    assert.ok(typeof version === 'string')
    const tries = Array.from({ length: 20 }, (_, index) => {
      const by = index % 2 ? storage : second
      return index % 5 === 0
        ? by.delete('key', { ifVersion: version })
        : by.set('key', `${index}`, { ifVersion: version })
    })
    assert.is((await Promise.all(tries)).filter((result) => result !== false).length, 1)
  })

  test('concurrent read-modify-write cycles lose no update', async ({ storage, other }) => {
    const second = await other()
    await storage.set('sum', '0')
    await Promise.all(Array.from({ length: 20 }, (_, index) => addOne(index % 2 ? storage : second, 'sum')))
    assert.is((await storage.get('sum'))?.value, '20')
  })

  test('concurrent writes to different keys are all kept', async ({ storage, other }) => {
    const second = await other()
    const keys = Array.from({ length: 100 }, (_, index) => `key/${index}`)
    await Promise.all(keys.map((key, index) => (index % 2 ? storage : second).set(key, key)))
    for (const view of [storage, second]) {
      const listed = (await view.list('key/')).map(({ key, value }) => (key === value ? key : `${key}: ${value}`))
      assert.equal(listed, keys.toSorted())
    }
  })

  test('a write is visible to other instances once it is acknowledged', async ({ storage, other }) => {
    const second = await other()
    for (let round = 0; round < 10; round++) {
      const [from, to] = round % 2 ? [storage, second] : [second, storage]
      const version = await from.set('key', `${round}`)
      assert.equal(await to.get('key'), { value: `${round}`, version })
    }
  })
}

async function addOne(storage: Storage, key: string): Promise<void> {
  for (;;) {
    const stored = await storage.get(key)
    if (!stored) throw new Error(`${key} is gone`)
    if ((await storage.set(key, String(Number(stored.value) + 1), { ifVersion: stored.version })) !== false) return
  }
}
