import { encodeUtf8, toHex } from '../../lib/bytes.ts'
import { evictOldest } from '../../lib/maps.ts'
import type { Clock } from '../../types.ts'
import type { Identity } from '../identity.ts'

interface CachedIdentity {
  identity: Identity
  ref: string
  /** The cache's `version` when your app was called. */
  version: number
  /** Epoch ms. */
  expiresAt: number
}

/** Caches the identities that your app returned recently, by the SHA-256 of the text that determines them. Never caches rejections. */
export class IdentityCache {
  readonly #clock: Pick<Clock, 'now'>
  readonly #ttlMs: number
  readonly #entries = new Map<string, CachedIdentity>()
  readonly #changeVersions = new Map<string, number>()
  #changeCount = 0
  /** The `version` at which all entries were dropped. */
  #clearedVersion = 0

  constructor(clock: Pick<Clock, 'now'>, ttlMs: number) {
    this.#clock = clock
    this.#ttlMs = ttlMs
  }

  /** The number of account changes so far, to pass to `save`. If the account changes later, it must be resolved again. */
  get version(): number {
    return this.#changeCount
  }

  /** Returns the cache key for a string. Returns `undefined` if the string is empty, or contains lone surrogates, which UTF-8 can't represent. */
  async digest(text: string): Promise<string | undefined> {
    if (text === '' || /\p{Cs}/u.test(text)) return undefined
    return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', encodeUtf8(text))))
  }

  find(digest: string): Identity | undefined {
    const entry = this.#entries.get(digest)
    if (!entry) return undefined
    if (entry.expiresAt > this.#clock.now() && this.#isCurrent(entry)) return entry.identity
    this.#entries.delete(digest)
    return undefined
  }

  save(digest: string, entry: Omit<CachedIdentity, 'expiresAt'>): void {
    if (!this.#isCurrent(entry)) return
    if (!this.#entries.delete(digest)) evictOldest(this.#entries, MAX_ENTRIES)
    this.#entries.set(digest, { ...entry, expiresAt: this.#clock.now() + this.#ttlMs })
  }

  /** Records that the account with this ref has changed. */
  recordChange(ref: string): void {
    this.#changeCount++
    if (this.#changeVersions.size >= MAX_ENTRIES) {
      this.#changeVersions.clear()
      this.#entries.clear()
      this.#clearedVersion = this.#changeCount
    }
    this.#changeVersions.set(ref, this.#changeCount)
  }

  #isCurrent({ ref, version }: Pick<CachedIdentity, 'ref' | 'version'>): boolean {
    return version >= (this.#changeVersions.get(ref) ?? this.#clearedVersion)
  }
}

const MAX_ENTRIES = 20_000
