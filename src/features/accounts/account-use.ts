import { createExpiringMap, type ExpiringMap } from '../../lib/maps.ts'
import { getSettledValue } from '../../lib/promises.ts'
import {
  type AccountProfile,
  type AccountRecord,
  decryptProfile,
  encryptProfile,
  isSignedAccount,
  readAccount,
  signAccount,
  writeAccount,
} from '../../records/account-records.ts'
import type { Keyring } from '../../records/keyring.ts'
import type { Identity } from '../../request/identity.ts'
import type { Clock, Storage } from '../../types.ts'
import { type AccountCache, type KnownAccount, toKnownAccount } from './known-accounts.ts'

interface AccountUseRecorderDependencies {
  storage: Storage
  keyring(): Promise<Keyring>
  clock: Clock
  cache: AccountCache
  /** Days without requests after which an account is forgotten. */
  idleDays: number
  onError(error: unknown): void
}

/** Records when accounts were last used. Writes an account's record at most once a day, unless its plan changes. */
export class AccountUseRecorder {
  readonly #deps: AccountUseRecorderDependencies
  /** The current day in UTC, as of the latest request. */
  #today = { dayNumber: 0, date: '' }
  readonly #recentWrites: ExpiringMap<true>

  constructor(deps: AccountUseRecorderDependencies) {
    this.#deps = deps
    this.#recentWrites = createExpiringMap<true>({
      clock: deps.clock,
      ttlMs: MIN_WRITE_INTERVAL_MS,
      maxSize: MAX_RECENT_WRITES,
    })
  }

  /** Never rejects. */
  async record(ref: string, identity: Identity): Promise<void> {
    if (this.#recentWrites.get(ref)) return
    const { storage, keyring, clock, cache, idleDays, onError } = this.#deps
    const day = this.#getDate()
    const cachedAccount = getSettledValue(cache.find(ref))
    if (cachedAccount?.seenOn === day && !hasNewPlan(cachedAccount, identity)) return
    this.#recentWrites.set(ref, true)
    try {
      const recordedAccount = await recordAccountUse(
        { storage, keyring: await keyring(), clock },
        { ref, identity, day, idleDays },
      )
      if (recordedAccount) cache.update(ref, recordedAccount)
      else cache.expire(ref)
    } catch (error) {
      cache.expire(ref)
      onError(error)
    }
  }

  /** Lets an account's next use write its record, even right after another write. */
  forget(ref: string): void {
    this.#recentWrites.delete(ref)
  }

  #getDate(): string {
    const now = this.#deps.clock.now()
    const dayNumber = Math.floor(now / DAY_MS)
    if (dayNumber !== this.#today.dayNumber) this.#today = { dayNumber, date: new Date(now).toISOString().slice(0, 10) }
    return this.#today.date
  }
}

interface AccountUse {
  ref: string
  identity: Identity
  /** The day of the request, in UTC. */
  day: string
  idleDays: number
}

/**
 * Stores an account that your app has named, or renews its record, which otherwise expires. Keeps fields that the management API has set. Resolves to
 * the stored account, or to `undefined` if another write came first or if the record is unsigned and therefore left unchanged.
 */
async function recordAccountUse(
  { storage, keyring, clock }: { storage: Storage; keyring: Keyring; clock: Clock },
  { ref, identity, day, idleDays }: AccountUse,
): Promise<KnownAccount | undefined> {
  const { record: storedRecord, version = null } = (await readAccount(storage, ref)) ?? {}
  if (storedRecord && !(await isSignedAccount(keyring, ref, storedRecord))) return undefined
  const existingRecord = storedRecord?.deletedAt === undefined ? storedRecord : undefined
  const storedProfile = existingRecord && (await decryptProfile(keyring, existingRecord))
  const profile = toProfile(identity, storedProfile, existingRecord?.isManaged === true)
  const plan = existingRecord?.isManaged ? existingRecord.plan : (identity.plan ?? existingRecord?.plan)
  const isSameProfile = storedProfile && JSON.stringify(storedProfile) === JSON.stringify(profile)
  const { plan: _, ...otherFields } = existingRecord ?? { ref, createdAt: new Date(clock.now()).toISOString() }
  const record: AccountRecord = {
    ...otherFields,
    ...(plan !== undefined && { plan }),
    seenOn: day,
    sealedProfile:
      isSameProfile && existingRecord ? existingRecord.sealedProfile : await encryptProfile(keyring, ref, profile),
  }
  const ttlMs = record.isManaged ? undefined : idleDays * DAY_MS
  const signedRecord = await signAccount(keyring, record)
  return (await writeAccount(storage, signedRecord, { ifVersion: version, ttlMs }))
    ? toKnownAccount(signedRecord, profile)
    : undefined
}

/** Prefers the name and metadata from `identify`, unless the account is managed through the management API. */
function toProfile(
  { account, name, metadata }: Identity,
  storedProfile: AccountProfile | undefined,
  isManaged: boolean,
): AccountProfile {
  const [preferred, fallback] = isManaged ? [storedProfile, { name, metadata }] : [{ name, metadata }, storedProfile]
  const profile: AccountProfile = { id: account }
  const chosenName = preferred?.name ?? fallback?.name
  const chosenMetadata = preferred?.metadata ?? fallback?.metadata
  if (chosenName !== undefined) profile.name = chosenName
  if (chosenMetadata !== undefined) profile.metadata = { ...chosenMetadata }
  return profile
}

const DAY_MS = 24 * 60 * 60 * 1_000
/** Minimum time between attempts to write an account's record, in ms. */
const MIN_WRITE_INTERVAL_MS = 5_000
const MAX_RECENT_WRITES = 20_000

/** Returns whether your app names a plan other than the one in the record, which the account's API keys use. */
const hasNewPlan = ({ plan, isManaged }: Pick<KnownAccount, 'plan' | 'isManaged'>, identity: Identity): boolean =>
  !isManaged && identity.plan !== undefined && identity.plan !== plan
