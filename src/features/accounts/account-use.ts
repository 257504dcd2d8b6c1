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
import { type KnownAccount, toKnownAccount } from './known-accounts.ts'

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
export async function recordAccountUse(
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

/** Prefers your app's name and metadata, unless the management API has set them. */
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

export const DAY_MS = 24 * 60 * 60 * 1_000
