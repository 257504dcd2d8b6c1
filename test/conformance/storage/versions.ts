import { assert } from '../../support/suite.ts'
import type { StorageTest } from '../storage.ts'

/** Tests `ifVersion` with one writer at a time. */
export function storageVersions(test: StorageTest): void {
  test("each write gets a new version, even if the value doesn't change", async ({ storage }) => {
    const versions = []
    for (let count = 0; count < 5; count++) versions.push(await storage.set('key', 'same'))
    assert.ok(versions.every((version) => typeof version === 'string' && version !== ''))
    assert.is(new Set(versions).size, 5)
  })

  test('set writes only if `ifVersion` is the current version', async ({ storage }) => {
    const first = await storage.set('key', 'first')
    assert.ok(typeof first === 'string')
    const second = await storage.set('key', 'second', { ifVersion: first })
    assert.equal(await storage.get('key'), { value: 'second', version: second })
    assert.is(await storage.set('key', 'third', { ifVersion: first }), false)
    assert.is(await storage.set('key', 'third', { ifVersion: 'never given' }), false)
    assert.is(await storage.set('key', 'third', { ifVersion: '' }), false)
    assert.equal(await storage.get('key'), { value: 'second', version: second })
  })

  test('set with `ifVersion: null` creates a key, and never overwrites one', async ({ storage }) => {
    const version = await storage.set('key', 'first', { ifVersion: null })
    assert.equal(await storage.get('key'), { value: 'first', version })
    assert.is(await storage.set('key', 'second', { ifVersion: null }), false)
    assert.equal(await storage.get('key'), { value: 'first', version })
    await storage.delete('key')
    assert.type(await storage.set('key', 'third', { ifVersion: null }), 'string')
  })

  test('set with a version creates nothing if the key is missing', async ({ storage }) => {
    const version = await storage.set('other', 'value')
    assert.ok(typeof version === 'string')
    assert.is(await storage.set('key', 'value', { ifVersion: version }), false)
    assert.is(await storage.get('key'), undefined)
  })

  test('delete removes a key only if `ifVersion` is the current version', async ({ storage }) => {
    const first = await storage.set('key', 'first')
    const second = await storage.set('key', 'second')
    assert.ok(typeof first === 'string' && typeof second === 'string')
    assert.is(await storage.delete('key', { ifVersion: first }), false)
    assert.is((await storage.get('key'))?.value, 'second')
    assert.is(await storage.delete('key', { ifVersion: second }), true)
    assert.is(await storage.delete('key', { ifVersion: second }), false)
    assert.is(await storage.get('key'), undefined)
  })

  test('a version is never reused, even after the key was deleted', async ({ storage, other }) => {
    const seen: string[] = []
    for (let round = 0; round < 3; round++) {
      const version = await storage.set('key', 'same', { ifVersion: null })
      assert.ok(typeof version === 'string' && !seen.includes(version))
      for (const old of seen) assert.is(await storage.set('key', 'stale', { ifVersion: old }), false)
      for (const old of seen) assert.is(await storage.delete('key', { ifVersion: old }), false)
      seen.push(version)
      await storage.delete('key')
    }
    const later = await (await other()).set('key', 'same')
    assert.ok(typeof later === 'string' && !seen.includes(later))
  })
}
