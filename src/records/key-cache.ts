import { evictOldest } from '../lib/maps.ts'
import type { ApiKey, Clock } from '../types.ts'
import type { FreshnessTracker } from './cached.ts'
import { KEYS_PREFIX, type KeyRecord, PREVIOUS_KEYS_PREFIX } from './record-collections.ts'
import type { PendingRead } from './storage-access.ts'

/** The fields of a client key that a request needs, without its group. */
export type KeyFields = Pick<
  ApiKey,
  | 'id'
  | 'name'
  | 'isActive'
  | 'expiresAt'
  | 'models'
  | 'kinds'
  | 'limits'
  | 'metadata'
  | 'account'
  | 'actsFor'
  | 'require'
  | 'guards'
  | 'guardsExcept'
  | 'promptCaching'
> & {
  digest: string
}

export interface CachedKey extends KeyFields {
  groupId?: string
}

/** A pending lookup in the storage. */
export interface PendingLookup {
  digest: string
  /** The digest of the credential, if it is a previous value of the key. */
  previousDigest?: string
  /** Whether another writer has changed the key since the lookup started. */
  isExpired: boolean
}

export interface CacheEntry {
  digest: string
  key: CachedKey
  /** Epoch ms. */
  readAt: number
  /** Whether the key may have changed. */
  isExpired: boolean
  /** Whether another writer is known to have changed the key. */
  isChanged?: boolean
  /** When this gateway changed the key, in epoch ms. */
  changedAt?: number
  /** When to read again from an unavailable store, in epoch ms. */
  retryAt: number
  /** Set if the credential is a previous value. */
  previous?: PreviousValue | undefined
  pendingRead?: PendingRead<CachedKey | undefined> | undefined
}

/** A key's previous value. */
export interface PreviousValue {
  digest: string
  /** Epoch ms. */
  expiresAt: number
}

/** Caches keys by credential, and tracks pending lookups. */
export class KeyCache {
  readonly #clock: Clock
  readonly #entries = new Map<string, CacheEntry>()
  /** Credentials by digest. */
  readonly #credentials = new Map<string, string>()
  /** Previous values by digest. */
  readonly #previousCredentials = new Map<string, string>()
  /** The current digest of each key whose previous value was used in requests, by the digest of that value. */
  readonly #rotatedTo = new Map<string, string>()
  /** Pending lookups. A lookup is removed early if its result is outdated. */
  readonly #lookups = new Set<PendingLookup>()
  readonly #listeners: Array<(digest: string) => void> = []

  constructor(freshness: FreshnessTracker, clock: Clock) {
    this.#clock = clock
    freshness.onChange((storageKey) => {
      if (storageKey.startsWith(KEYS_PREFIX)) this.#handleExternalChange(storageKey.slice(KEYS_PREFIX.length))
      else if (storageKey.startsWith(PREVIOUS_KEYS_PREFIX))
        this.forgetPrevious(storageKey.slice(PREVIOUS_KEYS_PREFIX.length))
    })
    freshness.onGap(() => {
      for (const lookup of this.#lookups) lookup.isExpired = true
      for (const entry of this.#entries.values()) entry.isExpired = true
      for (const { digest } of this.#entries.values()) this.#notify(digest)
    })
  }

  /** Calls `listener` with the digest of each key that changes. */
  onChange(listener: (digest: string) => void): void {
    this.#listeners.push(listener)
  }

  /** Returns the cached key for a credential, unless the credential is a previous value that has expired. */
  get(credential: string): CacheEntry | undefined {
    const entry = this.#entries.get(credential)
    if (!entry?.previous || this.#clock.now() < entry.previous.expiresAt) return entry
    this.forgetPrevious(entry.previous.digest)
    return undefined
  }

  startLookup(digest: string): PendingLookup {
    const lookup = { digest, isExpired: false }
    this.#lookups.add(lookup)
    return lookup
  }

  endLookup(lookup: PendingLookup): void {
    this.#lookups.delete(lookup)
  }

  /** Stores a lookup's result, unless the key has changed since. */
  store(
    credential: string,
    { lookup, ...found }: Pick<CacheEntry, 'key' | 'readAt' | 'previous'> & { lookup: PendingLookup },
  ): void {
    if (!this.#lookups.has(lookup)) return
    const { digest, isExpired } = lookup
    const entry = { ...found, digest, isExpired, isChanged: isExpired, retryAt: 0 }
    const oldest = this.#entries.has(credential) ? undefined : evictOldest(this.#entries, MAX_CACHED)
    if (oldest?.previous) this.#previousCredentials.delete(oldest.previous.digest)
    else if (oldest) this.#credentials.delete(oldest.digest)
    this.#entries.set(credential, entry)
    if (entry.previous) this.#previousCredentials.set(entry.previous.digest, credential)
    else this.#credentials.set(digest, credential)
  }

  /** Remembers that a key has been rotated, for requests that use one of its previous values. */
  addRotation(previousDigest: string, currentDigest: string): void {
    evictOldest(this.#rotatedTo, MAX_CACHED)
    this.#rotatedTo.set(previousDigest, currentDigest)
  }

  forget(digest: string): void {
    this.#dropLookups((lookup) => lookup.digest === digest)
    for (const credential of this.#listCredentials(digest)) this.#entries.delete(credential)
    this.#credentials.delete(digest)
    this.#notify(digest)
  }

  forgetPrevious(digest: string): void {
    this.#dropLookups((lookup) => lookup.previousDigest === digest)
    const credential = this.#previousCredentials.get(digest)
    this.#previousCredentials.delete(digest)
    if (credential !== undefined) this.#entries.delete(credential)
    if (this.#rotatedTo.delete(digest)) this.#notify(digest)
  }

  /** Prevents a rejected key from being accepted from memory. `key` is the key as it was read, or absent if it doesn't exist. */
  forgetRejected(digest: string, key?: CachedKey): void {
    this.#dropLookups((lookup) => lookup.digest === digest || lookup.previousDigest === digest)
    for (const credential of this.#listCredentials(digest)) {
      const entry = this.#entries.get(credential)
      if (entry && key) this.#entries.set(credential, { ...entry, key, pendingRead: undefined })
      else this.#entries.delete(credential)
    }
  }

  /** Applies `change` to a cached key, and makes the next use reread it. */
  expire(digest: string, change: Partial<CacheEntry> = {}): void {
    for (const lookup of this.#lookups) {
      if (lookup.digest !== digest) continue
      lookup.isExpired = true
      if (change.key) this.#lookups.delete(lookup)
    }
    for (const credential of this.#listCredentials(digest)) {
      const entry = this.#entries.get(credential)
      if (entry)
        this.#entries.set(credential, { ...entry, ...change, isExpired: true, retryAt: 0, pendingRead: undefined })
    }
    this.#notify(digest)
  }

  /** Sets a key that this gateway has written. */
  update(digest: string, record: KeyRecord): void {
    this.expire(digest, { key: toCachedKey(digest, record), isChanged: false, changedAt: this.#clock.now() })
  }

  #dropLookups(isOutdated: (lookup: PendingLookup) => boolean): void {
    for (const lookup of this.#lookups) if (isOutdated(lookup)) this.#lookups.delete(lookup)
  }

  #handleExternalChange(digest: string): void {
    const { changedAt = Number.NEGATIVE_INFINITY } = this.#entries.get(this.#credentials.get(digest) ?? '') ?? {}
    this.expire(digest, this.#clock.now() - changedAt < OWN_CHANGE_ECHO_MS ? {} : { isChanged: true })
  }

  /** Notifies listeners of a changed key. In-flight requests may know it by the digest of a previous value. */
  #notify(digest: string): void {
    const rotations = this.#rotatedTo
    const previousDigests =
      rotations.size === 0 ? [] : [...rotations].flatMap(([from, to]) => (to === digest ? from : []))
    for (const changedDigest of [digest, ...previousDigests])
      for (const listener of this.#listeners) listener(changedDigest)
  }

  /** Lists the cached credentials of the key with this digest. */
  #listCredentials(digest: string): string[] {
    const currentCredential = this.#credentials.get(digest) ?? []
    if (this.#previousCredentials.size === 0) return [currentCredential].flat()
    return [currentCredential, ...this.#previousCredentials.values()]
      .flat()
      .filter((credential) => this.#entries.get(credential)?.digest === digest)
  }
}

const optionalFieldNames = [
  'isActive',
  'expiresAt',
  'models',
  'kinds',
  'limits',
  'metadata',
  'account',
  'actsFor',
  'require',
  'guards',
  'guardsExcept',
  'promptCaching',
] as const

export function toCachedKey(digest: string, record: KeyRecord): CachedKey {
  const { id, name, group } = record
  const key: CachedKey = { id, name, digest }
  for (const name of optionalFieldNames) if (record[name] !== undefined) Object.assign(key, { [name]: record[name] })
  if (group !== undefined) key.groupId = group
  return key
}

/** Some storages also report the gateway's own changes, within this time in ms. */
const OWN_CHANGE_ECHO_MS = 1_000

const MAX_CACHED = 20_000
