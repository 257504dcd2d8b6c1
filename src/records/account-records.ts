import { isObject, tryParseJson } from '../lib/json.ts'
import { accountFields } from '../types/records/account-fields.ts'
import type { StoredOf } from '../types/records/record-fields.ts'
import type { Storage } from '../types.ts'
import type { Keyring } from './keyring.ts'
import { createSignedReader } from './readings.ts'
import { ACCOUNTS_PREFIX } from './record-collections.ts'
import { createSignatures } from './signatures.ts'
import { handleStorageError, retryOnConflict } from './storage-access.ts'
import { decodeId, parseRecord, type RecordKind } from './stored-records.ts'

/**
 * The records of accounts, stored under their refs. There can be millions, so they are never all loaded at once, and records of unused accounts
 * expire.
 */

/** An account, with its ID, name, and metadata encrypted. */
export interface AccountRecord extends StoredOf<typeof accountFields> {}

/** The encrypted part of a record. */
export interface AccountProfile {
  id: string
  name?: string
  metadata?: Record<string, string>
}

/** A record, with the version that was read. */
export interface StoredAccount {
  record: AccountRecord
  version: string
}

/** Looks up accounts for features that show them or filter by them. */
export interface AccountNames {
  /** Finds the ref of the account with this ID or ref. */
  findRef(idOrRef: string): Promise<string>
  /** Returns the names of accounts by ref, or their IDs if they have no name. Omits accounts that aren't stored. */
  findNames(refs: readonly string[]): Promise<ReadonlyMap<string, string>>
}

const kind: RecordKind<AccountRecord> = {
  prefix: ACCOUNTS_PREFIX,
  read: createSignedReader<AccountRecord>(accountFields),
}
const signatures = createSignatures<AccountRecord>(accountFields)

/** Returns the storage key of an account's record. */
export const getAccountKey = (ref: string): string => ACCOUNTS_PREFIX + encodeURIComponent(ref)

/** Signs the signed fields of an account's record. */
export async function signAccount(keyring: Keyring, record: AccountRecord): Promise<AccountRecord> {
  return { ...record, mac: await signatures.sign(keyring, `accounts/${record.ref}`, record) }
}

export const isSignedAccount = (keyring: Keyring, ref: string, record: AccountRecord): Promise<boolean> =>
  signatures.verify(keyring, `accounts/${ref}`, record, record.mac)

export const encryptProfile = (keyring: Keyring, ref: string, profile: AccountProfile): Promise<string> =>
  keyring.encrypt(getProfileContext(ref), JSON.stringify(profile))

/** Decrypts an account's profile. Rejects with `STORAGE_FAILED` if the record was changed or moved. */
export async function decryptProfile(
  keyring: Keyring,
  { ref, sealedProfile }: Pick<AccountRecord, 'ref' | 'sealedProfile'>,
): Promise<AccountProfile> {
  const profile = tryParseJson(await keyring.decrypt(getProfileContext(ref), sealedProfile))
  if (!isObject(profile) || typeof profile.id !== 'string') throw new TypeError(`The profile of ${ref} has no id.`)
  return profile as unknown as AccountProfile // it was encrypted from an `AccountProfile`
}

const getProfileContext = (ref: string) => `accounts/${ref}/profile`

/** Reads an account. Resolves to `undefined` if there is no readable account. Rejects with `STORAGE_FAILED`. */
export async function readAccount(storage: Storage, ref: string): Promise<StoredAccount | undefined> {
  const key = getAccountKey(ref)
  const stored = await storage.get(key).catch(handleStorageError('read', key))
  return stored && parseAccount(key, stored)
}

/** Writes an account if the stored version still matches `ifVersion` (`null` for a new account). Resolves to `false` if another write came first. */
export async function writeAccount(
  storage: Storage,
  record: AccountRecord,
  { ifVersion, ttlMs }: { ifVersion: string | null; ttlMs: number | undefined },
): Promise<boolean> {
  const key = getAccountKey(record.ref)
  const text = JSON.stringify({ order: 0, record })
  const options = { ifVersion, durability: 'relaxed', ...(ttlMs !== undefined && { ttlMs }) } as const
  return (await storage.set(key, text, options).catch(handleStorageError('write', key))) !== false
}

/** Removes an account if the stored version still matches `ifVersion`. Resolves to `false` if another write came first. */
export async function removeAccount(storage: Storage, ref: string, ifVersion: string): Promise<boolean> {
  const key = getAccountKey(ref)
  return storage.delete(key, { ifVersion }).catch(handleStorageError('write', key))
}

/** Lists up to `limit` accounts after a ref, in the order of their refs. `nextAfter` is the ref after which the next page starts. */
export async function listAccounts(
  storage: Storage,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<{ accounts: StoredAccount[]; nextAfter: string | undefined }> {
  const options = { limit, ...(after !== undefined && { after: getAccountKey(after) }) }
  const page = await storage.list(ACCOUNTS_PREFIX, options).catch(handleStorageError('list', ACCOUNTS_PREFIX))
  const key = page.length < limit ? undefined : page.at(-1)?.key
  const nextAfter = key === undefined ? undefined : decodeId(key.slice(ACCOUNTS_PREFIX.length))
  return { accounts: page.flatMap((stored) => parseAccount(stored.key, stored) ?? []), nextAfter }
}

function parseAccount(key: string, { value, version }: { value: string; version: string }): StoredAccount | undefined {
  const { record } = parseRecord(key, value, kind).entry ?? {}
  return record && { record, version }
}

/** Encrypts and signs with `keyring` all accounts that `previousKeyring` can decrypt or verify. */
export async function reencryptAccounts(storage: Storage, previousKeyring: Keyring, keyring: Keyring): Promise<void> {
  const reencrypt = (ref: string) =>
    retryOnConflict(async () => {
      const storedAccount = await readAccount(storage, ref)
      if (!storedAccount) return true
      const { record, version } = storedAccount
      const profile = await decryptProfile(previousKeyring, record).catch(() => undefined)
      if (!profile) return true
      const reencrypted = { ...record, sealedProfile: await encryptProfile(keyring, ref, profile) }
      const signedRecord = (await isSignedAccount(previousKeyring, ref, record))
        ? await signAccount(keyring, reencrypted)
        : reencrypted
      return writeAccount(storage, signedRecord, {
        ifVersion: version,
        ttlMs: record.isManaged ? undefined : REENCRYPTED_TTL_MS,
      })
    })
  for (let after: string | undefined; ; ) {
    const { accounts, nextAfter } = await listAccounts(storage, { after, limit: PAGE_SIZE })
    await Promise.all(accounts.map(({ record }) => reencrypt(record.ref)))
    if (nextAfter === undefined) return
    after = nextAfter
  }
}

const PAGE_SIZE = 1_000
/** How long a record is kept after it is re-encrypted, in ms, unless it is renewed earlier. The storage doesn't report the remaining lifetime. */
const REENCRYPTED_TTL_MS = 90 * 24 * 60 * 60 * 1_000
