import type { CanonicalError } from './canonical/canonical-errors.ts'

/**
 * Detects that a provider restarts its answer in a stream: a server in between lost its provider and retried, so the first part was cut off. A second
 * start before any content is harmless, because some gateways send the start twice.
 */
export class RestartDetector {
  #id: unknown = undefined
  #hasStarted = false
  #hasContent = false
  #isComplete = false

  /** Takes a start with the ID of its answer, if it has one. Returns `restart` if it restarts an open answer, `next` if it follows a complete one. */
  start(id?: unknown): 'first' | 'repeated' | 'restart' | 'next' {
    if (this.#isComplete) return 'next'
    if (!this.#hasStarted) {
      this.#hasStarted = true
      this.#id = id
      return 'first'
    }
    const isOther = Boolean(id) && Boolean(this.#id) && id !== this.#id
    return this.#hasContent || isOther ? 'restart' : 'repeated'
  }

  /** Content of the answer has arrived, or was announced. */
  content(): void {
    this.#hasContent = true
  }

  /** The answer has a finish reason or an end marker. */
  complete(): void {
    this.#isComplete = true
  }
}

/** The message for clients if a provider restarts its answer. */
export const RESTARTED = 'The provider restarted its response before it was complete.'

/** The error for a restarted answer. */
export const restartError: CanonicalError = { kind: 'server', status: 502, code: 'UPSTREAM_CUT', message: RESTARTED }
