import type { CanonicalError } from './canonical/canonical-errors.ts'

/**
 * Detects when a provider restarts its response in a stream. This happens when a router loses its provider and retries, which leaves the first part
 * truncated. A second start before any content is harmless, because some gateways send the start twice.
 */
export class RestartDetector {
  #id: unknown = undefined
  #hasStarted = false
  #hasContent = false
  #isComplete = false

  /** Handles a start and its response's ID, if any. Returns `restart` if it restarts an open response, and `next` if it follows a complete one. */
  recordStart(id?: unknown): 'first' | 'repeated' | 'restart' | 'next' {
    if (this.#isComplete) return 'next'
    if (!this.#hasStarted) {
      this.#hasStarted = true
      this.#id = id
      return 'first'
    }
    const isOtherResponse = Boolean(id) && Boolean(this.#id) && id !== this.#id
    return this.#hasContent || isOtherResponse ? 'restart' : 'repeated'
  }

  /** Records that content has arrived or was announced. */
  recordContent(): void {
    this.#hasContent = true
  }

  /** Records that the response has a finish reason or an end marker. */
  recordCompletion(): void {
    this.#isComplete = true
  }
}

/** The message for clients if a provider restarts its response. */
export const RESTARTED_MESSAGE = 'The provider restarted its response before it was complete.'

/** The error for a restarted response. */
export const restartError: CanonicalError = {
  kind: 'server',
  status: 502,
  code: 'UPSTREAM_CUT',
  message: RESTARTED_MESSAGE,
}
