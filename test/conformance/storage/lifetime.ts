import { assert } from '../../support/suite.ts'
import type { StorageConformance, StorageTest } from '../storage.ts'

/** Tests the claimed features of an adapter, `ownSecret`, and `close`. */
export function storageLifetime(test: StorageTest, claims: Required<Pick<StorageConformance, 'atomic' | 'has'>>): void {
  test('the adapter supports exactly the features that it claims', async ({ storage }) => {
    assert.is(storage.atomic, claims.atomic)
    for (const name of ['increment', 'watch', 'ownSecret', 'getLinked'] as const) {
      assert.is(typeof storage[name], claims.has.includes(name) ? 'function' : 'undefined', name)
    }
  })

  test('methods can be destructured', async ({ storage: { get, set, list } }) => {
    await set('key', 'value')
    assert.is((await get('key'))?.value, 'value')
    assert.is((await list('')).length, 1)
  })

  test('close waits for pending operations, and can be called twice', async ({ storage, other }) => {
    const second = await other()
    const writes = Array.from({ length: 10 }, (_, index) => storage.set(`key/${index}`, 'value'))
    await storage.close?.()
    assert.is((await second.list('key/')).length, 10)
    await Promise.all(writes)
    await storage.close?.()
  })

  if (!claims.has.includes('ownSecret')) return

  test('each store has one secret', async ({ storage, other }) => {
    const secrets = await Promise.all([storage.ownSecret?.(), storage.ownSecret?.(), (await other()).ownSecret?.()])
    assert.ok(isSecret(secrets[0]))
    assert.is(new Set(await Promise.all(secrets.map(sealWith))).size, 1)
    await storage.set('key', 'value')
    assert.is(await sealWith(await (await other()).ownSecret?.()), await sealWith(secrets[0]))
    assert.is((await storage.list('')).length, 1, "the secret isn't stored under a key")
  })
}

type Secret = string | CryptoKey | undefined

/** Returns whether a secret is an unguessable string or a key to derive others from. */
const isSecret = (secret: Secret) =>
  typeof secret === 'object'
    ? secret.algorithm.name === 'HKDF' && secret.usages.includes('deriveKey')
    : (secret ?? '').length >= 32

/** Returns a value encrypted with a secret. Equal results mean equal secrets. A `CryptoKey` can't be compared directly, because it can't be read. */
async function sealWith(secret: Secret): Promise<string> {
  if (typeof secret !== 'object') return String(secret)
  const bytes = new Uint8Array(16)
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: bytes, info: bytes }
  const key = await crypto.subtle.deriveKey(hkdf, secret, { name: 'AES-CTR', length: 256 }, false, ['encrypt'])
  return String(
    new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-CTR', counter: bytes, length: 64 }, key, bytes)),
  )
}
