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

interface AccountUsesDependencies {
  storage: Storage
  keyring(): Promise<Keyring>
  clock: Clock
  cache: AccountCache
  /** Days without requests after which an account is forgotten. */
  idleDays: number
  onError(error: unknown): void
}

/** Records when accounts were last used. Writes an account's record at most once a day, unless its plan changes. */
export class AccountUses {
  readonly #deps: AccountUsesDependencies
  /** The current day in UTC, as of the latest request. */
  #day = { number: 0, text: '' }
  readonly #recentWrites: ExpiringMap<true>

  constructor(deps: AccountUsesDependencies) {
    this.#deps = deps
    this.#recentWrites = createExpiringMap<true>({ clock: deps.clock, ttlMs: RETRY_MS, maxSize: MAX_RECENT_WRITES })
  }

  /** Never rejects. */
  async record(ref: string, identity: Identity): Promise<void> {
    if (this.#recentWrites.get(ref)) return
    const { storage, keyring, clock, cache, idleDays, onError } = this.#deps
    const day = this.#getDay()
    const cachedAccount = getSettledValue(cache.find(ref))
    if (cachedAccount?.seenOn === day && !hasNewPlan(cachedAccount, identity)) return
    this.#recentWrites.set(ref, true)
    try {
      const seen = await recordAccountUse(
        { storage, keyring: await keyring(), clock },
        { ref, identity, day, idleDays },
      )
      if (seen) cache.update(ref, seen)
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

  #getDay(): string {
    const now = this.#deps.clock.now()
    const number = Math.floor(now / DAY_MS)
    if (number !== this.#day.number) this.#day = { number, text: new Date(now).toISOString().slice(0, 10) }
    return this.#day.text
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
  const { record: found, version = null } = (await readAccount(storage, ref)) ?? {}
  if (found && !(await isSignedAccount(keyring, ref, found))) return undefined
  const existing = found?.deletedAt === undefined ? found : undefined
  const storedProfile = existing && (await decryptProfile(keyring, existing))
  const profile = toProfile(identity, storedProfile, existing?.isManaged === true)
  const plan = existing?.isManaged ? existing.plan : (identity.plan ?? existing?.plan)
  const isSame = storedProfile && JSON.stringify(storedProfile) === JSON.stringify(profile)
  const { plan: _, ...rest } = existing ?? { ref, createdAt: new Date(clock.now()).toISOString() }
  const record: AccountRecord = {
    ...rest,
    ...(plan !== undefined && { plan }),
    seenOn: day,
    sealedProfile: isSame && existing ? existing.sealedProfile : await encryptProfile(keyring, ref, profile),
  }
  const ttlMs = record.isManaged ? undefined : idleDays * DAY_MS
  const signed = await signAccount(keyring, record)
  return (await writeAccount(storage, signed, { ifVersion: version, ttlMs }))
    ? toKnownAccount(signed, profile)
    : undefined
}

/** Prefers the name and metadata from `identify`, unless the account is managed through the management API. */
function toProfile(
  { account, name, metadata }: Identity,
  storedProfile: AccountProfile | undefined,
  isManaged: boolean,
): AccountProfile {
  const [first, second] = isManaged ? [storedProfile, { name, metadata }] : [{ name, metadata }, storedProfile]
  const profile: AccountProfile = { id: account }
  const chosenName = first?.name ?? second?.name
  const chosenMetadata = first?.metadata ?? second?.metadata
  if (chosenName !== undefined) profile.name = chosenName
  if (chosenMetadata !== undefined) profile.metadata = { ...chosenMetadata }
  return profile
}

const DAY_MS = 24 * 60 * 60 * 1_000
/** Minimum time between attempts to write an account's record, in ms. */
const RETRY_MS = 5_000
const MAX_RECENT_WRITES = 20_000

/** Returns whether your app names a plan other than the one in the record, which the account's API keys use. */
const hasNewPlan = ({ plan, isManaged }: Pick<KnownAccount, 'plan' | 'isManaged'>, identity: Identity): boolean =>
  !isManaged && identity.plan !== undefined && identity.plan !== plan
