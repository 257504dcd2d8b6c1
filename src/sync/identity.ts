import { gatewayError } from '../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import { CLOUD_IDENTITIES } from '../store/collections.ts'
import { failedTo, retryLostRace } from '../store/storage-access.ts'
import type { Store } from '../store/store.ts'
import { placeOfIdentity } from '../store/vault.ts'
import { createIdentity, type Identity, importIdentity } from './cryptography.ts'

/** The most proxies whose identity is kept: the latest. */
const MAX_KEPT = 10

/**
 * The identity of this gateway at the proxy of an address, made on first use. Each address has its own, so that no proxy can pass for this
 * gateway at another. One that cannot be opened is replaced: the gateway then has to enrol again. Rejects with `STORAGE_FAILED`.
 */
export async function identityAt(
  cloudUrl: string,
  { storage, vault }: Pick<Store, 'storage' | 'vault'>,
): Promise<Identity> {
  const opened = await vault()
  return retryLostRace(async () => {
    const stored = await storage.get(CLOUD_IDENTITIES).catch(failedTo('read', CLOUD_IDENTITIES))
    const all = membersOf(stored?.value)
    const sealed = all[cloudUrl]
    if (typeof sealed === 'string') {
      const known = await opened.open(placeOfIdentity(cloudUrl), sealed).then(pairIn, () => undefined)
      if (known) return importIdentity(known)
    }
    const made = await createIdentity()
    const others = Object.entries(all).filter(([url]) => url !== cloudUrl)
    const kept = [
      ...others.slice(1 - MAX_KEPT),
      [cloudUrl, await opened.seal(placeOfIdentity(cloudUrl), JSON.stringify(made))],
    ]
    const value = JSON.stringify(Object.fromEntries(kept))
    const version = await storage
      .set(CLOUD_IDENTITIES, value, { ifVersion: stored?.version ?? null })
      .catch(failedTo('write', CLOUD_IDENTITIES))
    return version !== false && importIdentity(made)
  })
}

function membersOf(text: string | undefined): JsonObject {
  const members = text === undefined ? {} : tryParseJson(text)
  return isObject(members) ? members : {}
}

function pairIn(text: string): { publicKey: string; privateKey: string } {
  const pair = tryParseJson(text)
  if (!isObject(pair) || typeof pair.publicKey !== 'string' || typeof pair.privateKey !== 'string')
    throw gatewayError('STORAGE_FAILED', { message: `The record ${CLOUD_IDENTITIES} of the storage is damaged.` })
  return { publicKey: pair.publicKey, privateKey: pair.privateKey }
}
