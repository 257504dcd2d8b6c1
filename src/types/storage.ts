/** A stored value and its version, for conditional writes. */
export interface Stored {
  value: string
  /** Opaque and non-empty; only compare for equality. */
  version: string
}

/** Options for `Storage.set`. */
export interface SetOptions {
  ifVersion?: string | null
  ttlMs?: number
  durability?: 'relaxed'
}

/**
 * The contract of a storage adapter: string values under string keys, ordered by key. A key is any non-empty, well-formed string without
 * NUL; values may be empty. Lone surrogates and NUL are either stored exactly or rejected with the `STORAGE_NOT_TEXT` code, and anything
 * over a size limit with `STORAGE_TOO_LARGE`; a rejected write changes nothing. An adapter that can't read its data rejects; it never
 * reports an empty store. `test/conformance/storage.ts` checks all of this.
 */
export interface Storage {
  /** Returns the latest value, or `undefined` if the key was never set, was deleted, or has expired. */
  get(key: string): Promise<Stored | undefined>
  /**
   * Writes the value and resolves to its new version, or changes nothing and resolves to `false` if the stored version isn't `ifVersion`. `ifVersion:
   * null` means "only if the key doesn't exist". Without `ifVersion`, the write is unconditional. Every write gets a version that the key has never
   * had, even across deletions. `ttlMs` counts from this write; without it, the value never expires. Rejects with a RangeError, changing nothing,
   * unless `ttlMs` is from 1 to 1e12 (32 years). `durability: 'relaxed'` lets an adapter resolve before the write is on disk, if the write survives
   * the end of the process; a power failure may lose the most recent writes. Adapters may ignore it.
   */
  set(key: string, value: string, options?: SetOptions): Promise<string | false>
  /** Resolves to `true` if a value was removed, or to `false` if there was none, or if its version isn't `ifVersion`. */
  delete(key: string, options?: { ifVersion?: string }): Promise<boolean>
  /**
   * Lists entries whose keys start with the literal `prefix`, in ascending code-unit order (like `<` on strings). `after` skips keys up to and
   * including it, whether or not it exists; `limit` caps the number of entries. Includes every write that resolved before the call.
   */
  list(prefix: string, options?: { after?: string; limit?: number }): Promise<Array<Stored & { key: string }>>
  /**
   * Reads an entry whose value is a list of keys, one per line, and the entries with these keys, in one round trip and in any order. Omits entries that
   * don't exist. Reads at least the first 32 keys that contain only letters, digits, and `/%.~!*'()-_`; it may ignore the others, or reject. A gateway
   * without `watch` calls it for a caller's first request (see `src/records/reading-lists.ts`).
   */
  getLinked?(key: string): Promise<Array<Stored & { key: string }>>
  /** Whether `ifVersion` is enforced against other writers of the same data, in this process and elsewhere. */
  readonly atomic: boolean
  /**
   * `false` if the storage can't handle long list reads or the write volume of usage records (one or more per second under load). The gateway then
   * stores usage only if its `usage` option is `true`.
   */
  readonly keepsUsage?: false
  /**
   * The maximum number of request records to keep, and approximately their maximum size in bytes; beyond either, the gateway removes the oldest.
   * Aggregates are kept. Default: all records, for as long as the settings specify.
   */
  readonly usageRecordLimit?: { readonly records: number; readonly bytes: number }
  /** Largest value in bytes of UTF-8. Absent if the gateway can't come near the limit. */
  readonly largestValueBytes?: number
  /** Longest key in bytes of UTF-8. Absent if the gateway can't come near the limit. */
  readonly longestKeyBytes?: number
  /**
   * Atomically adds an integer to a counter and resolves to the new value; a missing counter starts at 0. The value is stored in decimal
   * under a new version. `ttlMs` counts from the call that creates the counter; later calls don't extend it. Rejects, changing nothing, if
   * the stored value or the sum isn't a safe integer, or for a `ttlMs` that `set` rejects.
   */
  increment?(key: string, by: number, options?: { ttlMs?: number }): Promise<number>
  /**
   * Calls `onChange` with each key that another writer has changed since this storage was last read or watched, once the new value can be read.
   * Returns a function that stops watching. It may also report this storage's own changes, but must not miss another writer's. Expiry isn't a change.
   * If the storage has lost track and can't name every changed key, it calls `onGap`, which means that any key may have changed. Neither callback
   * throws.
   */
  watch?(onChange: (key: string) => void, onGap?: () => void): () => void
  /**
   * Returns a secret that is stored next to the data, not in it. It is created on first use and stays the same from then on. It encrypts credentials
   * if no `secret` option is set. The result is a string of at least 32 characters, or an HKDF key for `deriveKey`, which may be non-extractable.
   * Rejects if an existing secret can't be read.
   */
  ownSecret?(): Promise<string | CryptoKey>
  /** Waits for pending writes, then releases files, timers, and connections. May be called more than once. */
  close?(): Promise<void>
}
