/** Time, injected. All times are in milliseconds. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Resolves after `ms`; rejects with the signal's reason as soon as `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * Calls `onTime` once after `ms`, and returns the function that cancels it. Optional: a cheaper `sleep` for the several time-outs of
   * each request; without it `sleep` is used.
   */
  setTimer?(ms: number, onTime: () => void): () => void
}

/**
 * Where the gateway writes its messages; `console` is one. `data` holds facts for the operator, never a secret. Without `debug` or `info`
 * the messages of that level are dropped.
 */
export interface Logger {
  debug?(message: string, data?: Record<string, unknown>): void
  info?(message: string, data?: Record<string, unknown>): void
  warn(message: string, data?: Record<string, unknown>): void
  error(message: string, data?: Record<string, unknown>): void
}
