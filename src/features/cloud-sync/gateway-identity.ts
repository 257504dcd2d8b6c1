import { gatewayError } from '../../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { getIdentityContext } from '../../records/keyring.ts'
import { CLOUD_IDENTITIES_KEY } from '../../records/record-collections.ts'
import { handleStorageError, retryOnConflict } from '../../records/storage-access.ts'
import type { Store } from '../../records/store.ts'
import { createIdentity, type GatewayIdentity, importIdentity } from './cryptography.ts'

const MAX_IDENTITIES = 10

/**
 * Returns this gateway's identity for a proxy URL, creating it on first use. Each URL has a separate identity, so no proxy can impersonate this
 * gateway to another proxy. An identity that can't be decrypted is replaced, and the gateway must then enroll again. Rejects with `STORAGE_FAILED`.
 */
export async function getIdentity(
  cloudUrl: string,
  { storage, keyring }: Pick<Store, 'storage' | 'keyring'>,
): Promise<GatewayIdentity> {
  const openedKeyring = await keyring()
  return retryOnConflict(async () => {
    const stored = await storage.get(CLOUD_IDENTITIES_KEY).catch(handleStorageError('read', CLOUD_IDENTITIES_KEY))
    const storedIdentities = parseIdentities(stored?.value)
    const encryptedIdentity = storedIdentities[cloudUrl]
    if (typeof encryptedIdentity === 'string') {
      const keyPair = await openedKeyring
        .decrypt(getIdentityContext(cloudUrl), encryptedIdentity)
        .then(parseKeyPair, () => undefined)
      if (keyPair) return importIdentity(keyPair)
    }
    const createdIdentity = await createIdentity()
    const otherIdentities = Object.entries(storedIdentities).filter(([url]) => url !== cloudUrl)
    const identities = [
      ...otherIdentities.slice(1 - MAX_IDENTITIES),
      [cloudUrl, await openedKeyring.encrypt(getIdentityContext(cloudUrl), JSON.stringify(createdIdentity))],
    ]
    const value = JSON.stringify(Object.fromEntries(identities))
    const version = await storage
      .set(CLOUD_IDENTITIES_KEY, value, { ifVersion: stored?.version ?? null })
      .catch(handleStorageError('write', CLOUD_IDENTITIES_KEY))
    return version !== false && importIdentity(createdIdentity)
  })
}

function parseIdentities(text: string | undefined): JsonObject {
  const identities = text === undefined ? {} : tryParseJson(text)
  return isObject(identities) ? identities : {}
}

function parseKeyPair(text: string): { publicKey: string; privateKey: string } {
  const keyPair = tryParseJson(text)
  if (!isObject(keyPair) || typeof keyPair.publicKey !== 'string' || typeof keyPair.privateKey !== 'string')
    throw gatewayError('STORAGE_FAILED', { message: `The stored record ${CLOUD_IDENTITIES_KEY} is damaged.` })
  return { publicKey: keyPair.publicKey, privateKey: keyPair.privateKey }
}
