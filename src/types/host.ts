/** An injectable clock. All times are in milliseconds. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Resolves after `ms`. Rejects with the signal's reason as soon as `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `onExpire` once after `ms`. Returns a function that cancels it. Optional: a cheaper alternative to `sleep` for each request's timeouts. */
  setTimer?(ms: number, onExpire: () => void): () => void
}

/**
 * Where the gateway logs; `console` works. `data` contains details for the operator, never a secret. Messages are dropped if their level has no
 * method.
 */
export interface Logger {
  debug?(message: string, data?: Record<string, unknown>): void
  info?(message: string, data?: Record<string, unknown>): void
  warn(message: string, data?: Record<string, unknown>): void
  error(message: string, data?: Record<string, unknown>): void
}
