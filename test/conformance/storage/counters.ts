import type { Storage } from '../../../src/index.ts'
import { assert } from '../../support/suite.ts'
import type { StorageTest } from '../storage.ts'
import { ODD_TTLS } from './expiry.ts'

/** Tests `increment`. */
export function storageCounters(test: StorageTest): void {
  test('increment counts up and down, starting at 0', async ({ storage }) => {
    assert.is(await add(storage, 'count', 5), 5)
    assert.is(await add(storage, 'count', -7), -2)
    assert.is(await add(storage, 'count', 0), -2)
    assert.is(await add(storage, 'other', 9_007_199_254_740_000), 9_007_199_254_740_000)
  })

  test('increment stores a decimal value, with a new version each time', async ({ storage }) => {
    const set = await storage.set('count', '41')
    assert.is(await add(storage, 'count', 1), 42)
    const stored = await storage.get('count')
    assert.is(stored?.value, '42')
    assert.ok(typeof set === 'string' && stored && stored.version !== set)
    assert.is(await storage.set('count', '0', { ifVersion: set }), false)
    assert.is((await storage.list('count'))[0]?.value, '42')
    assert.is(await storage.delete('count', { ifVersion: stored.version }), true)
    assert.is(await add(storage, 'count', 1), 1)
  })

  test('concurrent increments are never lost', async ({ storage, other }) => {
    const second = await other()
    const totals = await Promise.all(
      Array.from({ length: 60 }, (_, index) => add(index % 2 ? storage : second, 'count', 1)),
    )
    assert.equal(
      totals.toSorted((a, b) => a - b),
      Array.from({ length: 60 }, (_, index) => index + 1),
    )
    assert.is((await storage.get('count'))?.value, '60')
  })

  test("increment rejects a value that isn't an integer, and leaves it unchanged", async ({ storage }) => {
    for (const value of ['', 'many', '1.5', '1e3', ' 1', '0x10', 'NaN', '9007199254740991']) {
      const version = await storage.set('text', value)
      assert.ok(await isRejected(() => add(storage, 'text', 1)), `${JSON.stringify(value)} was incremented`)
      assert.equal(await storage.get('text'), { value, version })
    }
    await storage.set('text', '9007199254740993') // a `number` can't represent it exactly
    assert.ok(await isRejected(() => add(storage, 'text', -10)))
    for (const by of [0.5, Number.NaN, Number.POSITIVE_INFINITY])
      assert.ok(await isRejected(() => add(storage, 'count', by)))
    assert.is(await storage.get('count'), undefined)
  })

  test('increment rejects a `ttlMs` outside 1 to 1e12 without changing anything', async ({ storage }) => {
    await add(storage, 'count', 1)
    const stored = await storage.get('count')
    for (const ttlMs of ODD_TTLS)
      for (const key of ['count', 'other']) {
        const reason = await add(storage, key, 1, ttlMs).catch((error: unknown) => error)
        assert.ok(reason instanceof RangeError && reason.message.includes('ttlMs'), `${ttlMs}: ${reason}`)
      }
    assert.equal(await storage.get('count'), stored)
    assert.is(await storage.get('other'), undefined)
  })

  test("a counter's TTL starts at its first increment", async ({ storage, passTime }) => {
    await add(storage, 'window', 1, 10_000)
    await passTime(7_000)
    assert.is(await add(storage, 'window', 1, 10_000), 2)
    await passTime(4_000)
    assert.is(await storage.get('window'), undefined)
    assert.is(await add(storage, 'window', 1, 10_000), 1)
  })
}

async function add(storage: Storage, key: string, by: number, ttlMs?: number): Promise<number> {
  if (!storage.increment) throw new Error('the storage has no increment')
  return storage.increment(key, by, ttlMs === undefined ? undefined : { ttlMs })
}

async function isRejected(action: () => Promise<unknown>): Promise<boolean> {
  return action().then(
    () => false,
    () => true,
  )
}
