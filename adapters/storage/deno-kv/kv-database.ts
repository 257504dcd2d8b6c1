export type Key = Array<string | number>

/** An entry, or the absence of an entry under this key. */
export interface Entry {
  key: readonly unknown[]
  value: unknown
  versionstamp: string | null
}

/** An atomic write. */
export interface Atomic {
  check(entry: { key: Key; versionstamp: string | null }): Atomic
  set(key: Key, value: unknown, options?: { expireIn?: number }): Atomic
  delete(key: Key): Atomic
  sum(key: Key, by: bigint): Atomic
  commit(): Promise<{ ok: true; versionstamp: string } | { ok: false }>
}

/** The result of `Deno.openKv()`. */
export interface DenoKv {
  get(key: Key): Promise<Entry>
  list(range: { start: Key; end: Key }, options: { limit?: number; batchSize: number }): AsyncIterable<Entry>
  atomic(): Atomic
  watch(keys: Key[]): ReadableStream<unknown>
}
