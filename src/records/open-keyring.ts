import { gatewayError } from '../errors.ts'
import type { Logger, Storage } from '../types.ts'
import { createKeyring, type Keyring, type SyncCrypto } from './keyring.ts'
import { NOT_WRAPPED, parseKeyringRecord, unwrapKeys, type VersionedSecret } from './keyring-record.ts'
import { KEYRING_KEY } from './record-collections.ts'
import { handleStorageError, retryOnConflict } from './storage-access.ts'

/** A secret of at least 32 characters, or several with versions. The first secret encrypts; the others only decrypt older data. */
export type Secret = string | ReadonlyArray<{ version: string | number; value: string }>

interface KeyringDependencies {
  storage: Storage
  secret?: Secret | undefined
  logger: Logger
  syncCrypto?: SyncCrypto | undefined
  /** See `KeyringOptions`. It must stay the same for a store that has keys. */
  digestsSha256?: boolean | undefined
}

/**
 * Opens a store's keyring, or creates it on first use: a random data key and a random lookup key, wrapped by a key that HKDF derives from the secret.
 * Rotating the secret re-wraps these two and changes no other record. Without a secret, they are stored unencrypted, with a warning; the first
 * gateway with a secret replaces the data key, because others may know it. Rejects with `SECRET_MISMATCH` if none of the given secrets matches, or
 * with `STORAGE_FAILED`.
 */
export async function openKeyring(options: KeyringDependencies): Promise<Keyring> {
  const { storage, secret, logger, syncCrypto, digestsSha256 } = options
  const secrets = await readSecrets(secret, storage)
  const currentSecret = secrets[0]
  if (!currentSecret) {
    logger.warn('No secret is set, so API keys and credentials are stored unencrypted. Set the `secret` option.')
  }
  const create = (keys: Uint8Array<ArrayBuffer>) => createKeyring(keys, { syncCrypto, digestsSha256 })
  return retryOnConflict(async () => {
    const stored = await storage.get(KEYRING_KEY).catch(handleStorageError('read', KEYRING_KEY))
    const record = stored && parseKeyringRecord(stored.value)
    if (record?.wrappedBy === NOT_WRAPPED && storage.ownSecret) throw createReplacedError()
    if (record?.isTakenOver && record.wrappedBy === (currentSecret?.version ?? NOT_WRAPPED))
      return create(await unwrapKeys(record, secrets))
    const { setUpKeyring } = await import('./set-up-keyring.ts')
    return setUpKeyring(stored && record && { stored, record }, { storage, secrets, create })
  })
}

/** The minimum length of a secret that encrypts or signs. No key stretching slows down brute-force attacks against encrypted or signed data. */
export const MIN_SECRET_LENGTH = 32

/** Returns a gateway's secrets, the one in use first: the given ones, or else the storage's own. Rejects if the storage's own can't be read. */
export async function readSecrets(
  secret: Secret | undefined,
  storage: Pick<Storage, 'ownSecret'>,
): Promise<VersionedSecret[]> {
  return listSecrets(secret ?? (await storage.ownSecret?.().catch(handleStorageError('read', 'secret'))))
}

function listSecrets(secret: Secret | CryptoKey | undefined): VersionedSecret[] {
  if (secret === undefined) return []
  const list = isSecretList(secret) ? secret : [{ version: 'default', value: secret }]
  return list.map(({ version, value }) => ({ version: String(version), value }))
}

const isSecretList = (secret: Secret | CryptoKey): secret is Exclude<Secret, string> => Array.isArray(secret)

/** Creates the error for a replaced record. The program that wrote it would know its keys and could decrypt everything encrypted from now on. */
const createReplacedError = () =>
  gatewayError('STORAGE_FAILED', {
    message:
      'The vault record in the storage is not encrypted, although this storage has its own secret, so something replaced it. Restore it from a backup.',
  })
