import { gatewayError } from '../../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { getIdentityContext } from '../../records/keyring.ts'
import { CLOUD_IDENTITIES_KEY } from '../../records/record-collections.ts'
import { handleStorageError, retryOnConflict } from '../../records/storage-access.ts'
import type { Store } from '../../records/store.ts'
import { createIdentity, type Identity, importIdentity } from './cryptography.ts'

const MAX_KEPT = 10

/**
 * Returns this gateway's identity for a proxy URL, creating it on first use. Each URL has a separate identity, so no proxy can impersonate this
 * gateway to another proxy. An identity that can't be decrypted is replaced, and the gateway must then enroll again. Rejects with `STORAGE_FAILED`.
 */
export async function getIdentity(
  cloudUrl: string,
  { storage, keyring }: Pick<Store, 'storage' | 'keyring'>,
): Promise<Identity> {
  const opened = await keyring()
  return retryOnConflict(async () => {
    const stored = await storage.get(CLOUD_IDENTITIES_KEY).catch(handleStorageError('read', CLOUD_IDENTITIES_KEY))
    const all = parseIdentities(stored?.value)
    const encrypted = all[cloudUrl]
    if (typeof encrypted === 'string') {
      const keyPair = await opened.decrypt(getIdentityContext(cloudUrl), encrypted).then(parseKeyPair, () => undefined)
      if (keyPair) return importIdentity(keyPair)
    }
    const created = await createIdentity()
    const others = Object.entries(all).filter(([url]) => url !== cloudUrl)
    const identities = [
      ...others.slice(1 - MAX_KEPT),
      [cloudUrl, await opened.encrypt(getIdentityContext(cloudUrl), JSON.stringify(created))],
    ]
    const value = JSON.stringify(Object.fromEntries(identities))
    const version = await storage
      .set(CLOUD_IDENTITIES_KEY, value, { ifVersion: stored?.version ?? null })
      .catch(handleStorageError('write', CLOUD_IDENTITIES_KEY))
    return version !== false && importIdentity(created)
  })
}

function parseIdentities(text: string | undefined): JsonObject {
  const members = text === undefined ? {} : tryParseJson(text)
  return isObject(members) ? members : {}
}

function parseKeyPair(text: string): { publicKey: string; privateKey: string } {
  const pair = tryParseJson(text)
  if (!isObject(pair) || typeof pair.publicKey !== 'string' || typeof pair.privateKey !== 'string')
    throw gatewayError('STORAGE_FAILED', { message: `The stored record ${CLOUD_IDENTITIES_KEY} is damaged.` })
  return { publicKey: pair.publicKey, privateKey: pair.privateKey }
}
