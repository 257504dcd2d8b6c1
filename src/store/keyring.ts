import { type GatewayError, gatewayError } from '../errors.ts'
import { type CancelDeadline, startDeadline } from '../lib/deadline.ts'
import type { InFlight } from '../lib/in-flight.ts'
import { evictOldest } from '../lib/maps.ts'
import type { ApiKey, Clock } from '../types.ts'
import type { Freshness } from './cached.ts'
import { isClientKey } from './client-key.ts'
import { FORMER_KEYS, type FormerKeyRecord, KEYS, type KeyRecord } from './collections.ts'
import { type KnownGroups, type PresentedGroup, pausedGroup, withoutGroup } from './known-groups.ts'
import type { Records } from './records.ts'
import { isAway, type Patience, RETRY_AFTER_MS, type Rereading } from './storage-access.ts'
import { isProvenFormerKey, isProvenKey, type Vault } from './vault.ts'

/** The parts of a client key that a request sees. */
export interface PresentedKey extends OwnParts {
  /** The group that it belongs to. */
  group?: PresentedGroup
}

type OwnParts = Pick<ApiKey, 'id' | 'name' | 'isActive' | 'expiresAt' | 'models' | 'kinds' | 'limits' | 'metadata'> & {
  digest: string
}

/** A key as its own record has it. */
interface ReadKey extends OwnParts {
  groupId?: string
}

/** Finds the client key of a credential. */
export interface Keyring {
  /**
   * The key; `undefined` when the credential is no key of this gateway. Rejects with `STORAGE_FAILED`, also when its record is not as a
   * gateway wrote it (vault.ts).
   */
  find(credential: string): Promise<PresentedKey | undefined>
  /** The key that is filed under a digest, as the storage has it now. Rejects as `find` does. */
  read(digest: string): Promise<PresentedKey | undefined>
  /** Why the key with this digest may not be used as the storage has it now; `undefined` when it may. Rejects with `STORAGE_FAILED`. */
  refusalOf(digest: string): Promise<GatewayError | undefined>
  /** Calls back with the digest of each key that has changed, here or elsewhere. */
  onChange(listener: (digest: string) => void): void
  /** Calls back with the id of each group of keys that has changed, here or elsewhere. */
  onGroupChange(listener: (id: string) => void): void
}

/** How a keyring learns of the changes that this gateway makes. */
export interface KeyChanges {
  /** The key under a digest was removed or made, or its record replaced by hand. */
  forget(digest: string): void
  /** Its record is this one now, also while the storage is away. */
  changed(digest: string, record: KeyRecord): void
  /** A change has failed, and may have been made all the same. */
  mayHaveChanged(digest: string): void
  /** Called when the record of a replaced value, filed under its digest, has changed. */
  formerChanged(digest: string): void
}

/** A look-up under way; it is taken out when what it finds is no longer true. */
interface KeyLookUp {
  digest: string
  /** The digest of the credential, where that is a value of the key that was replaced. */
  former?: string
  /** Has another writer changed the key since? */
  isExpired: boolean
}

/** A key that was looked up, by its credential. */
interface KnownKey {
  digest: string
  key: ReadKey
  /** Epoch ms. */
  readAt: number
  /** May it have changed? */
  isExpired: boolean
  /** Has another writer changed it for certain? */
  isChanged?: boolean
  /** When this gateway has changed it; epoch ms. */
  changedAt?: number
  /** Until then a storage that was away is not asked again; epoch ms. */
  retryAt: number
  /** Where the credential is a value that was replaced: its digest, and until when it opens the key; epoch ms. */
  former?: FormerValue | undefined
  rereading?: Rereading<ReadKey | undefined> | undefined
}

interface FormerValue {
  digest: string
  until: number
}

/**
 * Looks up keys by digest: one storage read for a key that was not seen before, two for what is none, none for others, however many keys there are. A change made
 * here holds for the next request, one made elsewhere as soon as `freshness` reports it. While the storage is away, a key that was read stays
 * as it was.
 */
export function createKeyring(deps: {
  records: Records<KeyRecord>
  /** By the digests of values that were replaced. */
  formerKeys: Records<FormerKeyRecord>
  groups: KnownGroups
  vault: () => Promise<Vault>
  freshness: Freshness
  patience: Patience
  clock: Clock
}): Keyring & KeyChanges {
  const { records, formerKeys, groups, vault, freshness, patience, clock } = deps
  const known = new Map<string, KnownKey>()
  const credentials = new Map<string, string>() // credential by digest
  const formerCredentials = new Map<string, string>() // the same for values that were replaced
  const listeners: Array<(digest: string) => void> = []
  const movedTo = new Map<string, string>() // the digest of a key by that of a value that was replaced, where it was asked for
  const lookUps = new Set<KeyLookUp>()
  const withGroups = new WeakMap<ReadKey, PresentedKey>() // the latest that was made of each key and its group

  freshness.onChange((storageKey) => {
    if (storageKey.startsWith(KEYS)) changedElsewhere(storageKey.slice(KEYS.length))
    else if (storageKey.startsWith(FORMER_KEYS)) formerChanged(storageKey.slice(FORMER_KEYS.length))
  })

  freshness.onGap(() => {
    for (const lookUp of lookUps) lookUp.isExpired = true
    for (const entry of known.values()) entry.isExpired = true
    for (const { digest } of known.values()) tell(digest)
  })

  function forget(digest: string) {
    for (const lookUp of lookUps) if (lookUp.digest === digest) lookUps.delete(lookUp)
    for (const credential of credentialsOf(digest)) known.delete(credential)
    credentials.delete(digest)
    tell(digest)
  }

  /** Tells of a change of the key under a digest, which requests under way may have come with as another one. */
  function tell(digest: string) {
    const others = movedTo.size === 0 ? [] : [...movedTo].flatMap(([from, to]) => (to === digest ? from : []))
    for (const changed of [digest, ...others]) for (const listener of listeners) listener(changed)
  }

  /** The credentials that are known to open the key under a digest. */
  function credentialsOf(digest: string): string[] {
    const own = credentials.get(digest) ?? []
    if (formerCredentials.size === 0) return [own].flat()
    return [own, ...formerCredentials.values()].flat().filter((one) => known.get(one)?.digest === digest)
  }

  function formerChanged(digest: string) {
    for (const lookUp of lookUps) if (lookUp.former === digest) lookUps.delete(lookUp)
    const credential = formerCredentials.get(digest)
    formerCredentials.delete(digest)
    if (credential !== undefined) known.delete(credential)
    if (movedTo.delete(digest)) tell(digest)
  }

  /** Has a key that is known read again; until then `change` holds. */
  function expire(digest: string, change: Partial<KnownKey> = {}) {
    for (const lookUp of lookUps) {
      if (lookUp.digest !== digest) continue
      lookUp.isExpired = true
      if (change.key) lookUps.delete(lookUp)
    }
    for (const credential of credentialsOf(digest)) {
      const entry = known.get(credential)
      if (entry) known.set(credential, { ...entry, ...change, isExpired: true, retryAt: 0, rereading: undefined })
    }
    tell(digest)
  }

  function changed(digest: string, record: KeyRecord) {
    expire(digest, { key: presented(digest, record), isChanged: false, changedAt: clock.now() })
  }

  function changedElsewhere(digest: string) {
    const { changedAt = Number.NEGATIVE_INFINITY } = known.get(credentials.get(digest) ?? '') ?? {}
    expire(digest, clock.now() - changedAt < ECHO_MS ? {} : { isChanged: true })
  }

  function lookAgain(credential: string, entry: KnownKey): Rereading<ReadKey | undefined> {
    const work = lookUp(credential, entry.former ? entry.former.digest : entry.digest)
    work
      .catch((error: unknown) => {
        if (isAway(error)) entry.retryAt = clock.now() + RETRY_AFTER_MS
        else if (entry.former) formerChanged(entry.former.digest)
        else forget(entry.digest) // what was read before is no longer true
      })
      .finally(() => {
        entry.rereading = undefined
      })
    return { work, startedAt: clock.now(), isChanged: entry.isChanged }
  }

  async function lookUp(credential: string, knownDigest?: string) {
    const readAt = clock.now()
    const opened = await vault()
    const digest = knownDigest ?? (await opened.digest(credential))
    const begun: KeyLookUp = { digest, isExpired: false }
    lookUps.add(begun)
    try {
      let record = await records.get(digest)
      const former = record ? undefined : await formerOf(digest)
      if (former) {
        begun.digest = former.to
        begun.former = digest
        record = await records.get(former.to)
      }
      if (!record || (former && (former.until <= clock.now() || former.id !== record.id))) {
        if (former) formerChanged(digest)
        else forget(digest)
        return undefined
      }
      const filed = begun.digest
      if (!(await isProvenKey(opened, filed, record))) throw unproven(record)
      const key = presented(filed, record)
      const { isExpired } = begun
      const entry = { digest: filed, key, readAt, isExpired, isChanged: isExpired, retryAt: 0 }
      if (lookUps.has(begun))
        remember(credential, former ? { ...entry, former: { digest, until: former.until } } : entry)
      return key
    } finally {
      lookUps.delete(begun)
    }
  }

  function remember(credential: string, entry: KnownKey) {
    const oldest = known.has(credential) ? undefined : evictOldest(known, MAX_KNOWN)
    if (oldest?.former) formerCredentials.delete(oldest.former.digest)
    else if (oldest) credentials.delete(oldest.digest)
    known.set(credential, entry)
    if (entry.former) formerCredentials.set(entry.former.digest, credential)
    else credentials.set(entry.digest, credential)
  }

  /** The known key of a credential, unless the credential is a replaced value that no longer opens its key. */
  function knownAs(credential: string): KnownKey | undefined {
    const entry = known.get(credential)
    if (!entry?.former || clock.now() < entry.former.until) return entry
    formerChanged(entry.former.digest)
    return undefined
  }

  /** The record of a replaced value. Throws `STORAGE_FAILED` when its record is not as a gateway wrote it. */
  async function formerOf(digest: string): Promise<{ id: string; to: string; until: number } | undefined> {
    const record = await formerKeys.get(digest)
    if (!record) return undefined
    if (!(await isProvenFormerKey(await vault(), digest, record))) throw unprovenFormer()
    return { id: record.id, to: record.to, until: Date.parse(record.until) }
  }

  /** The key with its group. Throws `STORAGE_FAILED` when that does not exist. */
  async function inGroup(key: ReadKey, groupId: string): Promise<PresentedKey> {
    const group = await groups.find(groupId)
    if (!group) throw withoutGroup(key, groupId)
    const made = withGroups.get(key)
    if (made?.group === group) return made
    const { groupId: _, ...own } = key
    const next = { ...own, group }
    withGroups.set(key, next)
    return next
  }

  /** A key that is not in memory, or may have changed. */
  async function readAgain(credential: string, entry: KnownKey | undefined): Promise<ReadKey | undefined> {
    if (!entry) return isClientKey(credential) ? lookUp(credential) : undefined
    entry.rereading ??= lookAgain(credential, entry)
    return patience.readOrKept(entry.rereading, entry.key)
  }

  return {
    forget,
    changed,
    mayHaveChanged: (digest) => expire(digest),
    formerChanged,
    onChange: (listener) => void listeners.push(listener),
    onGroupChange: (listener) => groups.onChange(listener),
    async read(digest) {
      const record = await records.get(digest)
      if (record && !(await isProvenKey(await vault(), digest, record))) throw unproven(record)
      const key = record && presented(digest, record)
      return key?.groupId === undefined ? key : inGroup(key, key.groupId)
    },
    async refusalOf(digest) {
      const found = await records.get(digest)
      const former = found ? undefined : await formerOf(digest) // requests under way go on when their key gets another value
      if (former) {
        evictOldest(movedTo, MAX_KNOWN)
        movedTo.set(digest, former.to)
      }
      const record = former ? await records.get(former.to) : found
      if (!record) return gatewayError('KEY_UNKNOWN', { message: 'This API key has been deleted.' })
      if (!(await isProvenKey(await vault(), former?.to ?? digest, record))) return unproven(record)
      if (record.isActive === false) return gatewayError('KEY_PAUSED')
      if (record.group === undefined) return undefined
      const group = await groups.read(record.group)
      if (!group) return withoutGroup(record, record.group)
      return group.isActive === false ? pausedGroup() : undefined
    },
    async find(credential) {
      const entry = knownAs(credential)
      const isUsable = entry && ((!entry.isExpired && freshness.isFresh(entry.readAt)) || clock.now() < entry.retryAt)
      const key = isUsable ? entry.key : await readAgain(credential, entry)
      return key?.groupId === undefined ? key : inGroup(key, key.groupId)
    },
  }
}

function presented(digest: string, record: KeyRecord): ReadKey {
  const { id, name, isActive, expiresAt, models, kinds, limits, metadata, group } = record
  const key: ReadKey = { id, name, digest }
  if (isActive !== undefined) key.isActive = isActive
  if (expiresAt !== undefined) key.expiresAt = expiresAt
  if (models !== undefined) key.models = models
  if (kinds !== undefined) key.kinds = kinds
  if (limits !== undefined) key.limits = limits
  if (metadata !== undefined) key.metadata = metadata
  if (group !== undefined) key.groupId = group
  return key
}

const unproven = ({ id, name }: KeyRecord) =>
  gatewayError('STORAGE_FAILED', {
    message: `The record of the API key "${name}" was not written by a gateway with this secret. ${CONFIRM_KEY}`,
    data: { key: id },
  })

const unprovenFormer = () =>
  gatewayError('STORAGE_FAILED', {
    message:
      'The record of a former value of this API key was not written by a gateway with this secret. Use its new value.',
  })

/** How a key is made usable again whose record is not as a gateway wrote it. */
export const CONFIRM_KEY = 'Pause, resume or delete it: PUT /api/keys/{id} with "isActive", or DELETE.'

/** Some storages report the gateway's own changes, too, so soon after them. */
const ECHO_MS = 1_000

const MAX_KNOWN = 20_000

/** The watch over the keys of requests under way. */
export interface KeyWatch {
  /** Must be called when a request with a key begins. */
  begun(): void
  close(): void
}

/**
 * Ends the requests under way of a key that is paused or deleted, or whose group is, here or elsewhere: at once when a storage with `watch` reports the change;
 * with any other storage their keys are read again every `maxAgeMs`. While the storage cannot be read, the requests go on.
 */
export function createKeyWatch(deps: {
  keyring: Pick<Keyring, 'refusalOf' | 'onChange' | 'onGroupChange'>
  inFlight: InFlight
  clock: Clock
  maxAgeMs: number
  /** Does the storage report changes of others? */
  isWatched: boolean
}): KeyWatch {
  const { keyring, inFlight, clock, maxAgeMs, isWatched } = deps
  let isClosed = false
  let cancelLook: CancelDeadline | undefined

  const workOf = (digest: string) => inFlight.values().filter(({ keyDigest }) => keyDigest === digest)

  async function check(digest: string): Promise<void> {
    if (workOf(digest).length === 0) return
    const refusal = await keyring.refusalOf(digest).catch(() => undefined) // what was read stays in force while the storage is away
    if (refusal) for (const work of workOf(digest)) work.cancel(refusal)
  }

  function lookLater(): void {
    cancelLook ??= startDeadline(clock, maxAgeMs, () => {
      cancelLook = undefined
      const digests = new Set(inFlight.values().flatMap(({ keyDigest }) => keyDigest ?? []))
      void Promise.all([...digests].map(check))
      if (digests.size > 0 && !isClosed) lookLater()
    })
  }

  keyring.onChange((digest) => void check(digest))
  keyring.onGroupChange((id) => {
    const ofGroup = inFlight.values().filter(({ keyGroup }) => keyGroup === id)
    for (const digest of new Set(ofGroup.flatMap(({ keyDigest }) => keyDigest ?? []))) void check(digest)
  })

  return {
    begun() {
      if (!isWatched && !isClosed) lookLater()
    },
    close() {
      isClosed = true
      cancelLook?.()
    },
  }
}
