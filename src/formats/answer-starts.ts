import type { CanonicalError } from './canonical/errors.ts'

/**
 * Detects in a stream that the provider starts its answer over: a server in between lost its provider and asked again, so that the first part was
 * cut. A second start before any content does no harm, as some gateways send the start twice.
 */
export class AnswerStarts {
  #id: unknown = undefined
  #hasStarted = false
  #hasContent = false
  #isComplete = false

  /** Takes a start with the id of its answer, if it has one. `anew`: it begins an open answer anew; `next`: it follows a complete one. */
  start(id?: unknown): 'first' | 'repeated' | 'anew' | 'next' {
    if (this.#isComplete) return 'next'
    if (!this.#hasStarted) {
      this.#hasStarted = true
      this.#id = id
      return 'first'
    }
    const isOther = Boolean(id) && Boolean(this.#id) && id !== this.#id
    return this.#hasContent || isOther ? 'anew' : 'repeated'
  }

  /** Content of the answer has come, or was announced. */
  content(): void {
    this.#hasContent = true
  }

  /** The answer has its finish reason or its end mark. */
  complete(): void {
    this.#isComplete = true
  }
}

/** The message for clients when a provider starts its answer over. */
export const BEGUN_ANEW = 'The provider began its answer anew before it was complete.'

/** The error of an answer that the provider starts over. */
export const begunAnew: CanonicalError = { kind: 'server', status: 502, code: 'UPSTREAM_CUT', message: BEGUN_ANEW }
