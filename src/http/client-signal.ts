import type { Member } from '../lib/crowd.ts'
import type { Lookout, Watchable } from '../lib/lookout.ts'

/**
 * Tells when the client of a Fetch request leaves, by one listener on the request's signal, which platforms create only when it is asked for.
 * With a lookout it listens a moment later: then a client that leaves sooner than that is noticed a moment late.
 */
export class ClientSignal implements Watchable {
  readonly #request: Request
  readonly #lookout: Lookout | undefined
  readonly #listeners: Array<() => void> = []
  #unwatched: Member<Watchable> | undefined = undefined
  #isKnown: boolean
  #stopWatching: (() => void) | undefined = undefined

  constructor(request: Request, lookout: Lookout | undefined) {
    this.#request = request
    this.#lookout = lookout
    this.#isKnown = !lookout
  }

  /** Has the client left, as far as it is known? */
  get isAborted(): boolean {
    return this.#isKnown && this.#request.signal.aborted
  }

  /** Calls `listener` once when the client leaves, at once if it is known to have left; returns the function that removes the listener. */
  onAbort(listener: () => void): () => void {
    if (this.isAborted) {
      listener()
      return ignore
    }
    this.#listeners.push(listener)
    if (this.#isKnown) this.watch()
    else this.#unwatched ??= this.#lookout?.add(this)
    return () => this.#forget(listener) // whoever holds this holds the request, without which Node's signal no longer follows the client's
  }

  watch(): void {
    if (this.#stopWatching || this.#listeners.length === 0) return
    const { signal } = this.#request
    const tell = () => this.#tell()
    this.#isKnown = true
    if (signal.aborted) tell()
    else {
      signal.addEventListener('abort', tell)
      this.#stopWatching = () => signal.removeEventListener('abort', tell) // the host's signal may outlive the request
    }
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener() // one may stop itself or another
  }

  #forget(listener: () => void): void {
    const at = this.#listeners.indexOf(listener)
    if (at >= 0) this.#listeners.splice(at, 1)
    if (this.#listeners.length > 0) return
    if (this.#unwatched) this.#lookout?.remove(this.#unwatched)
    this.#stopWatching?.()
    this.#unwatched = undefined
    this.#stopWatching = undefined
  }
}

const ignore = () => {}
