import type { CanonicalError } from './canonical/errors.ts'

/**
 * Tells whether the start of an answer in a stream begins it anew: a server in between has lost its provider and asks again, so that what came
 * before was cut. A start that repeats the first one before anything else has come does no harm, as some gateways send it twice.
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

/** What clients are told of an answer that begins anew. */
export const BEGUN_ANEW = 'The provider began its answer anew before it was complete.'

/** The error of an answer that begins anew. */
export const begunAnew: CanonicalError = { kind: 'server', status: 502, code: 'UPSTREAM_CUT', message: BEGUN_ANEW }
