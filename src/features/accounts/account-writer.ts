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
  async change(
    ref: string,
    { name, metadata, ...others }: AccountInput & { tokensFrom?: string },
    id?: string,
  ): Promise<AccountRecord> {
    const { storage } = this.#store
    const keyring = await this.#store.keyring()
    return retryOnConflict(async () => {
      const { record: found, version = null } = (await readAccount(storage, ref)) ?? {}
      const existing = found?.deletedAt === undefined ? found : undefined
      if (!existing && id === undefined) throw gatewayError('NOT_FOUND', { message: 'Account not found' })
      if (existing && others.isActive === undefined && !(await isSignedAccount(keyring, ref, existing)))
        throw createInputError(UNSIGNED_ACCOUNT_MESSAGE)
      const storedProfile = existing ? await decryptProfile(keyring, existing) : { id: id ?? '' }
      const profile = withChange(storedProfile, {
        ...(name !== undefined && { name }),
        ...(metadata !== undefined && { metadata }),
      })
      const start = existing ?? { ref, isActive: true, createdAt: getTimestamp(this.#clock), sealedProfile: '' }
      const next: AccountRecord = { ...withChange(start, others), isManaged: true }
      if (existing && isSameJson(storedProfile, profile) && isSameJson(existing, next)) return existing
      const sealedProfile = await encryptProfile(keyring, ref, profile)
      const signed = await signAccount(keyring, { ...next, sealedProfile })
      return (await writeAccount(storage, signed, { ifVersion: version, ttlMs: undefined })) && signed
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
      const opened = await keyring()
      const { id } = await decryptProfile(opened, record)
      const sealedProfile = await encryptProfile(opened, ref, { id })
      const deletedAt = getTimestamp(this.#clock)
      const tombstone = await signAccount(opened, { ref, createdAt, deletedAt, sealedProfile })
      return writeAccount(storage, tombstone, { ifVersion: version, ttlMs: USAGE_MS })
    })
  }
}

/** How long usage totals are retained by default, in ms. */
const USAGE_MS = 400 * 24 * 60 * 60 * 1_000
