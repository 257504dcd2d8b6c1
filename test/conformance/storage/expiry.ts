import { assert } from '../../support/suite.ts'
import type { StorageTest } from '../storage.ts'

/** Invalid values of `ttlMs`. */
export const ODD_TTLS = [0, -1, 0.5, 1e13, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

/** Tests `ttlMs`. */
export function storageExpiry(test: StorageTest): void {
  test('a value is returned until it expires, and then counts as absent', async ({ storage, passTime, other }) => {
    await storage.set('brief', 'value', { ttlMs: 10_000 })
    await storage.set('long', 'value', { ttlMs: 600_000 })
    await passTime(5_000)
    assert.is((await storage.get('brief'))?.value, 'value')
    assert.is((await storage.list('')).length, 2)
    await passTime(6_000)
    for (const view of [storage, await other()]) {
      assert.is(await view.get('brief'), undefined)
      for (const limit of [1, 10]) {
        const listed = await view.list('', { limit })
        assert.equal(
          listed.map(({ key }) => key),
          ['long'],
        )
      }
    }
    assert.is(await storage.delete('brief'), false)
    assert.is((await storage.get('long'))?.value, 'value')
  })

  test('a value can be created again once the old one has expired', async ({ storage, passTime }) => {
    const old = await storage.set('key', 'old', { ttlMs: 1_000, ifVersion: null })
    assert.ok(typeof old === 'string')
    assert.is(await storage.set('key', 'new', { ifVersion: null }), false)
    await passTime(1_100)
    assert.is(await storage.set('key', 'new', { ifVersion: old }), false)
    assert.is(await storage.delete('key', { ifVersion: old }), false)
    const version = await storage.set('key', 'new', { ifVersion: null })
    assert.equal(await storage.get('key'), { value: 'new', version })
    assert.is.not(version, old)
  })

  test('the TTL starts at the last write, and a value without `ttlMs` never expires', async ({ storage, passTime }) => {
    await storage.set('renewed', 'value', { ttlMs: 10_000 })
    await storage.set('kept', 'value', { ttlMs: 10_000 })
    await passTime(7_000)
    await storage.set('renewed', 'value', { ttlMs: 10_000 })
    await storage.set('kept', 'value')
    await passTime(7_000)
    assert.is((await storage.get('renewed'))?.value, 'value')
    await passTime(4_000)
    assert.is(await storage.get('renewed'), undefined)
    await passTime(100_000)
    assert.is((await storage.get('kept'))?.value, 'value')
  })

  test('set rejects a `ttlMs` outside 1 to 1e12 without changing anything', async ({ storage }) => {
    const version = await storage.set('key', 'value')
    assert.ok(typeof version === 'string')
    for (const ttlMs of ODD_TTLS)
      for (const condition of [{}, { ifVersion: null }, { ifVersion: version }, { ifVersion: 'another' }]) {
        const reason = await storage.set('key', 'new', { ...condition, ttlMs }).catch((error: unknown) => error)
        assert.ok(reason instanceof RangeError && reason.message.includes('ttlMs'), `${ttlMs}: ${reason}`)
      }
    assert.equal(await storage.list(''), [{ key: 'key', value: 'value', version }])
    for (const ttlMs of [60_000.5, 1e12]) {
      await storage.set('key', String(ttlMs), { ttlMs })
      assert.is((await storage.get('key'))?.value, String(ttlMs))
    }
  })

  test("a conditional write with a stale version doesn't change the value's TTL", async ({ storage, passTime }) => {
    await storage.set('key', 'value', { ttlMs: 1_000 })
    assert.is(await storage.set('key', 'other', { ifVersion: 'another', ttlMs: 100_000 }), false)
    await passTime(1_100)
    assert.is(await storage.get('key'), undefined)
  })
}
