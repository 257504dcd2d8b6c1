import { type GatewayError, gatewayError } from '../errors.ts'
import { memoizeByObject } from '../lib/maps.ts'
import { createResolvedPromise, getSettledValue } from '../lib/promises.ts'
import type { Clock } from '../types.ts'
import type { FreshnessTracker } from './cached.ts'
import { type CachedKey, type CacheEntry, type KeyCache, type KeyFields, toCachedKey } from './key-cache.ts'
import { createPausedGroupError, isClientKey } from './key-format.ts'
import { isSignedKey, isSignedPreviousKey, type Keyring } from './keyring.ts'
import { type ClientGroup, type GroupCache, loadRejections } from './known-groups.ts'
import type { KeyRecord, PreviousKeyRecord } from './record-collections.ts'
import type { Records } from './records.ts'
import { isStorageUnavailable, type PendingRead, RETRY_AFTER_MS, type StaleFallback } from './storage-access.ts'

/** The fields of a client key that a request needs. */
export interface ClientKey extends KeyFields {
  group?: ClientGroup
}

export interface KeyLookupDependencies {
  records: Records<KeyRecord>
  previousKeys: Records<PreviousKeyRecord>
  groups: GroupCache
  keyring(): Promise<Keyring>
  cache: KeyCache
  freshness: FreshnessTracker
  staleFallback: StaleFallback
  clock: Clock
}

/**
 * Looks up keys by digest. Takes one storage read for a new key, two for an unknown key, and none for a cached key, regardless of how many keys there
 * are. A change made here applies to the next request. A change made elsewhere applies as soon as `freshness` reports it. While the storage is
 * unavailable, cached keys remain in use.
 */
export class KeyLookup {
  readonly #deps: KeyLookupDependencies
  /** For each cached key, the last `ClientKey` that was created from it and its group. */
  readonly #withGroups = new WeakMap<CachedKey, ClientKey>()
  /** Returns the promise that `find` returns for a cached key. */
  readonly #toPromise = memoizeByObject((key: ClientKey) => createResolvedPromise(key))

  constructor(deps: KeyLookupDependencies) {
    this.#deps = deps
  }

  /**
   * Finds the key for a credential. Resolves to `undefined` if there is none. Rejects with `STORAGE_FAILED`, or with `CALLER_UNUSABLE` for an
   * unsigned record (keyring.ts).
   */
  find(credential: string): Promise<ClientKey | undefined> {
    const { cache, freshness, clock } = this.#deps
    const entry = cache.get(credential)
    const isUsable = entry && ((!entry.isExpired && freshness.isFresh(entry.readAt)) || clock.now() < entry.retryAt)
    return isUsable ? this.#findInMemory(entry.key) : this.#findInStorage(credential, entry)
  }

  /** Reads the key with this digest from the storage. Rejects with the same errors as `find`. */
  async read(digest: string): Promise<ClientKey | undefined> {
    const record = await this.#deps.records.get(digest)
    if (record) await this.#requireSigned(digest, record)
    return record && this.#addGroup(toCachedKey(digest, record))
  }

  /** Finds out from the storage why the key with this digest is rejected. Resolves to `undefined` if it isn't. Rejects with `STORAGE_FAILED`. */
  async findRejection(digest: string): Promise<GatewayError | undefined> {
    const { records, groups, keyring, cache } = this.#deps
    const keyRecord = await records.get(digest)
    const previous = keyRecord ? undefined : await this.#findPrevious(digest) // also looks up previous values, because in-flight requests continue after a key rotation
    if (previous) cache.addRotation(digest, previous.to)
    const currentDigest = previous?.to ?? digest
    const record = previous ? await records.get(currentDigest) : keyRecord
    if (!record) {
      cache.forgetRejected(currentDigest)
      return (await loadRejections()).createDeletedKeyError()
    }
    if (!(await isSignedKey(await keyring(), currentDigest, record))) {
      cache.forgetRejected(currentDigest)
      return (await loadRejections()).createUnsignedKeyError(record)
    }
    if (record.isActive === false) {
      cache.forgetRejected(currentDigest, toCachedKey(currentDigest, record))
      return gatewayError('KEY_PAUSED')
    }
    if (record.group === undefined) return undefined
    const group = await groups.reread(record.group)
    if (group && group.isActive !== false) return undefined
    return group ? createPausedGroupError() : (await loadRejections()).createMissingGroupError(record, record.group)
  }

  /** Calls `listener` with the digest of each key that changes, here or elsewhere. */
  onChange(listener: (digest: string) => void): void {
    this.#deps.cache.onChange(listener)
  }

  /** Calls `listener` with the ID of each group that changes, here or elsewhere. */
  onGroupChange(listener: (id: string) => void): void {
    this.#deps.groups.onChange(listener)
  }

  /** Returns the promise for a cached key; it stays the same until the key or its group changes. */
  #findInMemory(key: CachedKey): Promise<ClientKey> {
    const { groupId } = key
    if (groupId === undefined) return this.#toPromise(key)
    const pendingGroup = this.#deps.groups.find(groupId)
    const group = getSettledValue(pendingGroup)
    const memoizedKey = this.#withGroups.get(key)
    return group && memoizedKey?.group === group ? this.#toPromise(memoizedKey) : this.#addGroup(key, pendingGroup)
  }

  async #findInStorage(credential: string, entry: CacheEntry | undefined): Promise<ClientKey | undefined> {
    if (!entry && !isClientKey(credential)) return undefined
    if (entry) entry.pendingRead ??= this.#rereadEntry(credential, entry)
    const key = await (entry?.pendingRead
      ? this.#deps.staleFallback.readOrUseStale(entry.pendingRead, entry.key)
      : this.#lookUp(credential))
    return key && this.#addGroup(key)
  }

  #rereadEntry(credential: string, entry: CacheEntry): PendingRead<CachedKey | undefined> {
    const { cache, clock } = this.#deps
    const work = this.#lookUp(credential, entry.previous ? entry.previous.digest : entry.digest)
    work
      .catch((error: unknown) => {
        if (isStorageUnavailable(error)) entry.retryAt = clock.now() + RETRY_AFTER_MS
        else if (entry.previous) cache.forgetPrevious(entry.previous.digest)
        else cache.forget(entry.digest) // the credential's cached key is outdated
      })
      .finally(() => {
        entry.pendingRead = undefined
      })
    return { work, startedAt: clock.now(), isChanged: entry.isChanged }
  }

  async #lookUp(credential: string, knownDigest?: string): Promise<CachedKey | undefined> {
    const { records, keyring, cache, clock } = this.#deps
    const readAt = clock.now()
    const digest = knownDigest ?? (await (await keyring()).digest(credential))
    const lookup = cache.startLookup(digest)
    try {
      let record = await records.get(digest)
      const previous = record ? undefined : await this.#findPrevious(digest)
      if (previous) {
        lookup.digest = previous.to
        lookup.previousDigest = digest
        record = await records.get(previous.to)
      }
      if (!record || (previous && (previous.until <= clock.now() || previous.id !== record.id))) {
        if (previous) cache.forgetPrevious(digest)
        else cache.forget(digest)
        return undefined
      }
      await this.#requireSigned(lookup.digest, record)
      const key = toCachedKey(lookup.digest, record)
      cache.store(credential, {
        lookup,
        key,
        readAt,
        ...(previous && { previous: { digest, expiresAt: previous.until } }),
      })
      return key
    } finally {
      cache.endLookup(lookup)
    }
  }

  /** Throws `CALLER_UNUSABLE` if the record is unsigned. */
  async #requireSigned(digest: string, record: KeyRecord): Promise<void> {
    if (!(await isSignedKey(await this.#deps.keyring(), digest, record)))
      throw (await loadRejections()).createUnsignedKeyError(record)
  }

  /** Finds the previous value with this digest. Throws `CALLER_UNUSABLE` if its record is unsigned. */
  async #findPrevious(digest: string): Promise<{ id: string; to: string; until: number } | undefined> {
    const { previousKeys, keyring } = this.#deps
    const record = await previousKeys.get(digest)
    if (!record) return undefined
    if (!(await isSignedPreviousKey(await keyring(), digest, record)))
      throw (await loadRejections()).createUnsignedPreviousKeyError()
    return { id: record.id, to: record.to, until: Date.parse(record.until) }
  }

  /** Adds a key's group to the key, if it has one. Throws `CALLER_UNUSABLE` if the group doesn't exist. */
  async #addGroup(key: CachedKey, pendingGroup?: Promise<ClientGroup | undefined>): Promise<ClientKey> {
    const { groupId, ...keyFields } = key
    if (groupId === undefined) return key
    const group = await (pendingGroup ?? this.#deps.groups.find(groupId))
    if (!group) throw (await loadRejections()).createMissingGroupError(key, groupId)
    const memoizedKey = this.#withGroups.get(key)
    if (memoizedKey?.group === group) return memoizedKey
    const keyWithGroup = { ...keyFields, group }
    this.#withGroups.set(key, keyWithGroup)
    return keyWithGroup
  }
}
