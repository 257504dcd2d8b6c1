/** One stored value and the version that a later conditional write names. */
export interface Stored {
  value: string
  /** Opaque and not empty; compared for equality only. */
  version: string
}

/**
 * What every storage adapter provides: string values under string keys, ordered by key. A key is any non-empty well-formed string without
 * NUL; a value may also be empty. Half a surrogate pair, or NUL, is kept exactly or refused by a rejection with the code `STORAGE_NOT_TEXT`,
 * and what is beyond a limit by `STORAGE_TOO_LARGE`; then nothing has changed. An adapter that cannot read its data rejects, and never
 * answers as if it were empty. `test/conformance/storage.ts` checks all of this.
 */
export interface Storage {
  /** The value that was set last; `undefined` when the key was never set, was deleted, or has expired. */
  get(key: string): Promise<Stored | undefined>
  /**
   * Writes and resolves to the new version, or changes nothing and resolves to `false` when the stored version is not `ifVersion`.
   * `ifVersion: null` means "only if the key does not exist"; without it the write is unconditional. Each write gets a version that the
   * key never had before, not even before it was deleted. `ttlMs` counts from this write; without it the value never expires.
   * Rejects with a RangeError, having changed nothing, when `ttlMs` is not from 1 to 1e12 (32 years).
   */
  set(key: string, value: string, options?: { ifVersion?: string | null; ttlMs?: number }): Promise<string | false>
  /** Resolves to whether a value was removed: `false` when there was none, or its version is not `ifVersion`. */
  delete(key: string, options?: { ifVersion?: string }): Promise<boolean>
  /**
   * The entries whose keys start with `prefix` (taken literally), in ascending code-unit order (that of `<` on strings): only keys greater
   * than `after`, which need not exist, and at most `limit` of them. Includes every write that has resolved before the call.
   */
  list(prefix: string, options?: { after?: string; limit?: number }): Promise<Array<Stored & { key: string }>>
  /** Does `ifVersion` hold against other writers of the same data, in this process and elsewhere? */
  readonly atomic: boolean
  /**
   * `false`: it does not carry the writes of usage, one or more a second while there are requests, and the reads of long lists. A gateway then keeps
   * usage only with its option `usage`.
   */
  readonly keepsUsage?: false
  /** The longest value that can be written, in bytes of UTF-8; absent: no limit that a gateway comes near. */
  readonly largestValueBytes?: number
  /** The longest key, in bytes of UTF-8; absent: no limit that a gateway comes near. */
  readonly longestKeyBytes?: number
  /**
   * Adds an integer to a counter in one step and resolves to its new value; a missing counter starts at 0. The value is stored in decimal,
   * under a new version. `ttlMs` counts from the call that creates the counter; later calls do not extend it. Rejects, having changed
   * nothing, when the stored value or the sum is not a safe integer, and for a `ttlMs` as `set` does.
   */
  increment?(key: string, by: number, options?: { ttlMs?: number }): Promise<number>
  /**
   * Calls `onChange` with each key that another writer has changed since this storage was last read or watched, once the new value can be
   * read; returns the function that stops it. Reporting this storage's own changes too is allowed; missing a change of another writer is
   * not. Expiry is not a change. A storage that was blind for a while and cannot name each key that has changed meanwhile calls `onGap`: any
   * may have. Neither must throw.
   */
  watch?(onChange: (key: string) => void, onGap?: () => void): () => void
  /**
   * A secret that is kept beside the data, not in it: made on first use, the same ever after. It seals credentials when the host gives no
   * `secret`. Either a text of at least 32 characters, or an HKDF key for `deriveKey`, which may be non-extractable. Rejects when there is
   * one that cannot be read.
   */
  ownSecret?(): Promise<string | CryptoKey>
  /** Waits for the writes under way, then releases files, timers and connections. May be called more than once. */
  close?(): Promise<void>
}
