import { type GatewayError, gatewayError } from '../errors.ts'
import { evictOldest, rememberByObject } from '../lib/maps.ts'
import { settledPromise, settledValue } from '../lib/promises.ts'
import type { ApiKey, Clock } from '../types.ts'
import type { Freshness } from './cached.ts'
import { isClientKey } from './key-format.ts'
import { isSignedFormerKey, isSignedKey, type Keyring } from './keyring.ts'
import { type ClientGroup, type GroupCache, missingGroupError, pausedGroupError } from './known-groups.ts'
import { FORMER_KEYS, type FormerKeyRecord, KEYS, type KeyRecord } from './record-collections.ts'
import type { Records } from './records.ts'
import { isStorageUnavailable, type PendingRead, RETRY_AFTER_MS, type StaleFallback } from './storage-access.ts'

/** The fields of a client key that a request needs. */
export interface ClientKey extends KeyParts {
  group?: ClientGroup
}

type KeyParts = Pick<
  ApiKey,
  'id' | 'name' | 'isActive' | 'expiresAt' | 'models' | 'kinds' | 'limits' | 'metadata' | 'account' | 'actsFor'
> & {
  digest: string
}

interface CachedKey extends KeyParts {
  groupId?: string
}

/** Looks up client keys. */
export interface KeyLookup {
  /** The key of a credential; `undefined` if there is none. Rejects with `STORAGE_FAILED`, also if its record is unsigned (keyring.ts). */
  find(credential: string): Promise<ClientKey | undefined>
  /** Reads the key with this digest from the storage. Rejects as `find` does. */
  read(digest: string): Promise<ClientKey | undefined>
  /** Reads from the storage why the key with this digest is rejected; `undefined` if it isn't. Rejects with `STORAGE_FAILED`. */
  findRejection(digest: string): Promise<GatewayError | undefined>
  /** Calls `listener` with the digest of each key that changes, here or elsewhere. */
  onChange(listener: (digest: string) => void): void
  /** Calls `listener` with the id of each group that changes, here or elsewhere. */
  onGroupChange(listener: (id: string) => void): void
}

/** Notifies the lookup of this gateway's changes. */
export interface KeyChanges {
  /** The key was created or removed, or its record was repaired. */
  forget(digest: string): void
  /** Sets the key's record, even while the storage is unavailable. */
  update(digest: string, record: KeyRecord): void
  /** A change failed but may have been written anyway. */
  expire(digest: string): void
  /** The record of a previous value with this digest changed. */
  forgetFormer(digest: string): void
}

/** A pending lookup. It is removed from the set if its result is outdated. */
interface PendingLookup {
  digest: string
  /** The digest of the credential, if it is a previous value of the key. */
  former?: string
  /** Whether another writer has changed the key since. */
  isExpired: boolean
}

interface CacheEntry {
  digest: string
  key: CachedKey
  /** Epoch ms. */
  readAt: number
  /** Whether it may have changed. */
  isExpired: boolean
  /** Whether another writer is known to have changed it. */
  isChanged?: boolean
  /** When this gateway changed it; epoch ms. */
  changedAt?: number
  /** When to read again from a storage that was unavailable; epoch ms. */
  retryAt: number
  /** Set if the credential is a previous value. */
  former?: FormerValue | undefined
  rereading?: PendingRead<CachedKey | undefined> | undefined
}

interface FormerValue {
  digest: string
  /** Epoch ms. */
  until: number
}

/**
 * Looks up keys by digest, with one storage read for a new key, two for an unknown one, and none for a cached one, however many keys there are.
 * A change made here applies to the next request, one made elsewhere as soon as `freshness` reports it. While the storage is unavailable,
 * cached keys stay as they are.
 */
export function createKeyLookup(deps: {
  records: Records<KeyRecord>
  formerKeys: Records<FormerKeyRecord>
  groups: GroupCache
  keyring: () => Promise<Keyring>
  freshness: Freshness
  staleFallback: StaleFallback
  clock: Clock
}): KeyLookup & KeyChanges {
  const { records, formerKeys, groups, keyring, freshness, staleFallback, clock } = deps
  const cache = new Map<string, CacheEntry>()
  const credentials = new Map<string, string>() // credential by digest
  const formerCredentials = new Map<string, string>() // previous values by digest
  const listeners: Array<(digest: string) => void> = []
  const movedTo = new Map<string, string>() // a key's digest by the digest of a previous value that requests used
  const lookUps = new Set<PendingLookup>()
  const withGroups = new WeakMap<CachedKey, ClientKey>() // the latest combination of each key and its group
  const toPromise = rememberByObject((key: ClientKey) => settledPromise(key)) // the promise that `find` returns for a cached key

  freshness.onChange((storageKey) => {
    if (storageKey.startsWith(KEYS)) changedElsewhere(storageKey.slice(KEYS.length))
    else if (storageKey.startsWith(FORMER_KEYS)) forgetFormer(storageKey.slice(FORMER_KEYS.length))
  })

  freshness.onGap(() => {
    for (const lookUp of lookUps) lookUp.isExpired = true
    for (const entry of cache.values()) entry.isExpired = true
    for (const { digest } of cache.values()) notify(digest)
  })

  function forget(digest: string) {
    for (const lookUp of lookUps) if (lookUp.digest === digest) lookUps.delete(lookUp)
    for (const credential of listCredentials(digest)) cache.delete(credential)
    credentials.delete(digest)
    notify(digest)
  }

  /** Notifies listeners of a changed key. In-flight requests may know it by the digest of a previous value. */
  function notify(digest: string) {
    const others = movedTo.size === 0 ? [] : [...movedTo].flatMap(([from, to]) => (to === digest ? from : []))
    for (const changed of [digest, ...others]) for (const listener of listeners) listener(changed)
  }

  /** The cached credentials of the key with this digest. */
  function listCredentials(digest: string): string[] {
    const own = credentials.get(digest) ?? []
    if (formerCredentials.size === 0) return [own].flat()
    return [own, ...formerCredentials.values()].flat().filter((one) => cache.get(one)?.digest === digest)
  }

  function forgetFormer(digest: string) {
    for (const lookUp of lookUps) if (lookUp.former === digest) lookUps.delete(lookUp)
    const credential = formerCredentials.get(digest)
    formerCredentials.delete(digest)
    if (credential !== undefined) cache.delete(credential)
    if (movedTo.delete(digest)) notify(digest)
  }

  /** Applies `change` to a cached key, and has the key reread before it is used as fresh. */
  function expire(digest: string, change: Partial<CacheEntry> = {}) {
    for (const lookUp of lookUps) {
      if (lookUp.digest !== digest) continue
      lookUp.isExpired = true
      if (change.key) lookUps.delete(lookUp)
    }
    for (const credential of listCredentials(digest)) {
      const entry = cache.get(credential)
      if (entry) cache.set(credential, { ...entry, ...change, isExpired: true, retryAt: 0, rereading: undefined })
    }
    notify(digest)
  }

  /** Makes sure that a rejected key isn't accepted from memory. `key`: the key as it was read; absent if it doesn't exist. */
  function forgetRejected(digest: string, key?: CachedKey) {
    for (const lookUp of lookUps) if (lookUp.digest === digest || lookUp.former === digest) lookUps.delete(lookUp)
    for (const credential of listCredentials(digest)) {
      const entry = cache.get(credential)
      if (entry && key) cache.set(credential, { ...entry, key, rereading: undefined })
      else cache.delete(credential)
    }
  }

  function update(digest: string, record: KeyRecord) {
    expire(digest, { key: toCachedKey(digest, record), isChanged: false, changedAt: clock.now() })
  }

  function changedElsewhere(digest: string) {
    const { changedAt = Number.NEGATIVE_INFINITY } = cache.get(credentials.get(digest) ?? '') ?? {}
    expire(digest, clock.now() - changedAt < ECHO_MS ? {} : { isChanged: true })
  }

  function rereadEntry(credential: string, entry: CacheEntry): PendingRead<CachedKey | undefined> {
    const work = lookUp(credential, entry.former ? entry.former.digest : entry.digest)
    work
      .catch((error: unknown) => {
        if (isStorageUnavailable(error)) entry.retryAt = clock.now() + RETRY_AFTER_MS
        else if (entry.former) forgetFormer(entry.former.digest)
        else forget(entry.digest) // the cached key is outdated
      })
      .finally(() => {
        entry.rereading = undefined
      })
    return { work, startedAt: clock.now(), isChanged: entry.isChanged }
  }

  async function lookUp(credential: string, knownDigest?: string) {
    const readAt = clock.now()
    const opened = await keyring()
    const digest = knownDigest ?? (await opened.digest(credential))
    const begun: PendingLookup = { digest, isExpired: false }
    lookUps.add(begun)
    try {
      let record = await records.get(digest)
      const former = record ? undefined : await findFormer(digest)
      if (former) {
        begun.digest = former.to
        begun.former = digest
        record = await records.get(former.to)
      }
      if (!record || (former && (former.until <= clock.now() || former.id !== record.id))) {
        if (former) forgetFormer(digest)
        else forget(digest)
        return undefined
      }
      const filed = begun.digest
      if (!(await isSignedKey(opened, filed, record))) throw unsignedKeyError(record)
      const key = toCachedKey(filed, record)
      const { isExpired } = begun
      const entry = { digest: filed, key, readAt, isExpired, isChanged: isExpired, retryAt: 0 }
      if (lookUps.has(begun))
        remember(credential, former ? { ...entry, former: { digest, until: former.until } } : entry)
      return key
    } finally {
      lookUps.delete(begun)
    }
  }

  function remember(credential: string, entry: CacheEntry) {
    const oldest = cache.has(credential) ? undefined : evictOldest(cache, MAX_CACHED)
    if (oldest?.former) formerCredentials.delete(oldest.former.digest)
    else if (oldest) credentials.delete(oldest.digest)
    cache.set(credential, entry)
    if (entry.former) formerCredentials.set(entry.former.digest, credential)
    else credentials.set(entry.digest, credential)
  }

  /** The cached key of a credential, unless the credential is a previous value that has expired. */
  function getEntry(credential: string): CacheEntry | undefined {
    const entry = cache.get(credential)
    if (!entry?.former || clock.now() < entry.former.until) return entry
    forgetFormer(entry.former.digest)
    return undefined
  }

  /** Finds the previous value with this digest. Throws `STORAGE_FAILED` if its record is unsigned. */
  async function findFormer(digest: string): Promise<{ id: string; to: string; until: number } | undefined> {
    const record = await formerKeys.get(digest)
    if (!record) return undefined
    if (!(await isSignedFormerKey(await keyring(), digest, record))) throw unsignedFormerKeyError()
    return { id: record.id, to: record.to, until: Date.parse(record.until) }
  }

  /** Adds the group to a key. Throws `STORAGE_FAILED` if the group doesn't exist. */
  async function addGroup(key: CachedKey, groupId: string, finding = groups.find(groupId)): Promise<ClientKey> {
    const group = await finding
    if (!group) throw missingGroupError(key, groupId)
    const made = withGroups.get(key)
    if (made?.group === group) return made
    const { groupId: _, ...own } = key
    const next = { ...own, group }
    withGroups.set(key, next)
    return next
  }

  /** Returns the promise for a cached key; the same one until the key or its group changes. */
  function findInMemory(key: CachedKey): Promise<ClientKey> {
    const { groupId } = key
    if (groupId === undefined) return toPromise(key)
    const finding = groups.find(groupId)
    const group = settledValue(finding)
    const made = withGroups.get(key)
    return group && made?.group === group ? toPromise(made) : addGroup(key, groupId, finding)
  }

  async function findInStorage(credential: string, entry: CacheEntry | undefined): Promise<ClientKey | undefined> {
    const key = await readKey(credential, entry)
    return key?.groupId === undefined ? key : addGroup(key, key.groupId)
  }

  async function readKey(credential: string, entry: CacheEntry | undefined): Promise<CachedKey | undefined> {
    if (!entry) return isClientKey(credential) ? lookUp(credential) : undefined
    entry.rereading ??= rereadEntry(credential, entry)
    return staleFallback.readOrUseStale(entry.rereading, entry.key)
  }

  return {
    forget,
    update,
    expire: (digest) => expire(digest),
    forgetFormer,
    onChange: (listener) => void listeners.push(listener),
    onGroupChange: (listener) => groups.onChange(listener),
    async read(digest) {
      const record = await records.get(digest)
      if (record && !(await isSignedKey(await keyring(), digest, record))) throw unsignedKeyError(record)
      const key = record && toCachedKey(digest, record)
      return key?.groupId === undefined ? key : addGroup(key, key.groupId)
    },
    async findRejection(digest) {
      const found = await records.get(digest)
      const former = found ? undefined : await findFormer(digest) // in-flight requests continue when their key is rotated
      if (former) {
        evictOldest(movedTo, MAX_CACHED)
        movedTo.set(digest, former.to)
      }
      const filed = former?.to ?? digest
      const record = former ? await records.get(filed) : found
      if (!record) {
        forgetRejected(filed)
        return gatewayError('KEY_UNKNOWN', {
          message: 'This API key has been deleted. Ask the operator of this gateway for a new one.',
        })
      }
      if (!(await isSignedKey(await keyring(), filed, record))) {
        forgetRejected(filed)
        return unsignedKeyError(record)
      }
      if (record.isActive === false) {
        forgetRejected(filed, toCachedKey(filed, record))
        return gatewayError('KEY_PAUSED')
      }
      if (record.group === undefined) return undefined
      const group = await groups.reread(record.group)
      if (!group) return missingGroupError(record, record.group)
      return group.isActive === false ? pausedGroupError() : undefined
    },
    find(credential) {
      const entry = getEntry(credential)
      const isUsable = entry && ((!entry.isExpired && freshness.isFresh(entry.readAt)) || clock.now() < entry.retryAt)
      return isUsable ? findInMemory(entry.key) : findInStorage(credential, entry)
    },
  }
}

function toCachedKey(digest: string, record: KeyRecord): CachedKey {
  const { id, name, isActive, expiresAt, models, kinds, limits, metadata, account, actsFor, group } = record
  const key: CachedKey = { id, name, digest }
  if (isActive !== undefined) key.isActive = isActive
  if (expiresAt !== undefined) key.expiresAt = expiresAt
  if (models !== undefined) key.models = models
  if (kinds !== undefined) key.kinds = kinds
  if (limits !== undefined) key.limits = limits
  if (metadata !== undefined) key.metadata = metadata
  if (account !== undefined) key.account = account
  if (actsFor !== undefined) key.actsFor = actsFor
  if (group !== undefined) key.groupId = group
  return key
}

const unsignedKeyError = ({ id, name }: KeyRecord) =>
  gatewayError('STORAGE_FAILED', {
    message: `The record of the API key "${name}" was not written by a gateway with this secret, so the key is rejected. Ask the operator of this gateway to confirm it. ${CONFIRM_KEY}`,
    data: { key: id },
  })

const unsignedFormerKeyError = () =>
  gatewayError('STORAGE_FAILED', {
    message:
      "The record of this API key's previous value was not written by a gateway with this secret. Use the key's new value.",
  })

/** Advice for a key whose record is unsigned. */
export const CONFIRM_KEY = 'Pause, resume, or delete it: PUT /api/keys/{id} with "isActive", or DELETE.'

/** Some storages also report the gateway's own changes, within this time, in ms. */
const ECHO_MS = 1_000

const MAX_CACHED = 20_000
