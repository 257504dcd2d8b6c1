import { gatewayError } from '../../errors.ts'
import {
  type AccountProfile,
  type AccountRecord,
  decryptProfile,
  isSignedAccount,
  readAccount,
} from '../../records/account-records.ts'
import { RecordCache } from '../../records/record-cache.ts'
import { ACCOUNTS_PREFIX } from '../../records/record-collections.ts'
import { createStaleFallback } from '../../records/storage-access.ts'
import type { Store } from '../../records/store.ts'
import type { Clock } from '../../types.ts'

/** The account fields that a request needs. */
export interface KnownAccount
  extends AccountProfile,
    Pick<
      AccountRecord,
      'ref' | 'plan' | 'isActive' | 'limits' | 'models' | 'kinds' | 'require' | 'promptCaching' | 'seenOn' | 'isManaged'
    > {}

/** The 20,000 most recently used accounts. The value is `undefined` for an account that isn't in storage. */
export type AccountCache = RecordCache<KnownAccount | undefined>

export const createAccountCache = ({
  storage,
  keyring,
  freshness,
  clock,
}: Pick<Store, 'storage' | 'keyring' | 'freshness'> & { clock: Clock }): AccountCache =>
  new RecordCache<KnownAccount | undefined>({
    prefix: ACCOUNTS_PREFIX,
    freshness,
    clock,
    staleFallback: createStaleFallback(clock),
    async read(ref) {
      const openedKeyring = await keyring()
      const { record } = (await readAccount(storage, ref)) ?? {}
      if (!record || record.deletedAt !== undefined) return undefined
      if (!(await isSignedAccount(openedKeyring, ref, record)))
        throw gatewayError('CALLER_UNUSABLE', { message: UNSIGNED_ACCOUNT_MESSAGE, data: { account: ref } })
      return toKnownAccount(record, await decryptProfile(openedKeyring, record))
    },
  })

/** Returns the part of an account's record that requests need. */
export function toKnownAccount(record: AccountRecord, profile: AccountProfile): KnownAccount {
  const { mac, sealedProfile, createdAt, deletedAt, tokensFrom, ...fields } = record
  return { ...fields, ...profile }
}

/** The problem with an account whose record is unsigned. */
export const UNSIGNED_ACCOUNT_MESSAGE =
  "This account's record was not written by a gateway with this secret, so its requests are rejected. Pause, resume, or delete it: POST /api/accounts/{id}/resume, or DELETE."
