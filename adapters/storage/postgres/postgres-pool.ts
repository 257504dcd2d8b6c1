/** The part of a `pg` pool that the storage needs, or anything with such a `query`, such as PGlite or Neon's `neon()`. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] } | unknown[]>
  /** Opens a connection for `LISTEN`. Without it, `watch` polls. */
  connect?(): Promise<PostgresClient>
  /** A `pg` pool emits `error` when it loses an idle connection; without a listener, that crashes the process. */
  on?(event: 'error', listener: () => void): unknown
  off?(event: 'error', listener: () => void): unknown
  /** The maximum number of connections in a `pg` pool. */
  options?: { max?: number }
}

/** One connection in a pool. */
export interface PostgresClient {
  query(text: string): Promise<unknown>
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown
  on(event: 'error' | 'end', listener: (error?: Error) => void): unknown
  release(destroy?: boolean): void
}
