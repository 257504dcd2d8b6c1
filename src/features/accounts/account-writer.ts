import { createInputError } from '../../admin/input.ts'
import { getTimestamp, isSameJson, withChange } from '../../admin/record-operations.ts'
import { gatewayError } from '../../errors.ts'
import {
  type AccountRecord,
  decryptProfile,
  encryptProfile,
  isSignedAccount,
  readAccount,
  removeAccount,
  signAccount,
  writeAccount,
} from '../../records/account-records.ts'
import { retryOnConflict } from '../../records/storage-access.ts'
import type { Store } from '../../records/store.ts'
import type { AppAccountChange } from '../../types/records/account-fields.ts'
import type { Clock } from '../../types.ts'
import { UNSIGNED_ACCOUNT_MESSAGE } from './known-accounts.ts'

/** The fields that an input can change. */
export type AccountInput = Pick<
  AppAccountChange,
  'name' | 'plan' | 'isActive' | 'limits' | 'models' | 'kinds' | 'require' | 'promptCaching' | 'metadata'
>

/** Writes account records. Call `Accounts.changed` afterward. */
export class AccountWriter {
  readonly #store: Pick<Store, 'storage' | 'keyring'>
  readonly #clock: Clock

  constructor(store: Pick<Store, 'storage' | 'keyring'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Changes an account, or creates it if `id` is given. Rejects an unsigned record unless `isActive` is given. */
  async save(
    ref: string,
    { name, metadata, ...otherChanges }: AccountInput & { tokensFrom?: string },
    id?: string,
  ): Promise<AccountRecord> {
    const { storage } = this.#store
    const keyring = await this.#store.keyring()
    return retryOnConflict(async () => {
      const { record: storedRecord, version = null } = (await readAccount(storage, ref)) ?? {}
      const existingRecord = storedRecord?.deletedAt === undefined ? storedRecord : undefined
      if (!existingRecord && id === undefined) throw gatewayError('NOT_FOUND', { message: 'Account not found' })
      if (
        existingRecord &&
        otherChanges.isActive === undefined &&
        !(await isSignedAccount(keyring, ref, existingRecord))
      )
        throw createInputError(UNSIGNED_ACCOUNT_MESSAGE)
      const storedProfile = existingRecord ? await decryptProfile(keyring, existingRecord) : { id: id ?? '' }
      const profile = withChange(storedProfile, {
        ...(name !== undefined && { name }),
        ...(metadata !== undefined && { metadata }),
      })
      const baseRecord = existingRecord ?? {
        ref,
        isActive: true,
        createdAt: getTimestamp(this.#clock),
        sealedProfile: '',
      }
      const updatedRecord: AccountRecord = { ...withChange(baseRecord, otherChanges), isManaged: true }
      if (existingRecord && isSameJson(storedProfile, profile) && isSameJson(existingRecord, updatedRecord))
        return existingRecord
      const sealedProfile = await encryptProfile(keyring, ref, profile)
      const signedRecord = await signAccount(keyring, { ...updatedRecord, sealedProfile })
      return (await writeAccount(storage, signedRecord, { ifVersion: version, ttlMs: undefined })) && signedRecord
    })
  }

  /** Removes an account. With `keep`, retains its ID for the default retention period of usage totals, so they can still show it. */
  async remove(record: AccountRecord, usage: 'keep' | 'erase'): Promise<void> {
    const { storage, keyring } = this.#store
    const { ref, createdAt } = record
    await retryOnConflict(async () => {
      const { version } = (await readAccount(storage, ref)) ?? {}
      if (version === undefined) return true
      if (usage === 'erase') return removeAccount(storage, ref, version)
      const openedKeyring = await keyring()
      const { id } = await decryptProfile(openedKeyring, record)
      const sealedProfile = await encryptProfile(openedKeyring, ref, { id })
      const deletedAt = getTimestamp(this.#clock)
      const tombstone = await signAccount(openedKeyring, { ref, createdAt, deletedAt, sealedProfile })
      return writeAccount(storage, tombstone, { ifVersion: version, ttlMs: USAGE_RETENTION_MS })
    })
  }
}

/** How long usage totals are retained by default, in ms. */
const USAGE_RETENTION_MS = 400 * 24 * 60 * 60 * 1_000
