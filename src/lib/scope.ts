import { gatewayError } from '../errors.ts'
import type { Exchange } from './exchange.ts'

/** Ends what is under way: a call, a timer, a wait. */
export type Cancel = (reason: unknown) => void

/**
 * For how long some work goes on. When it ends before the work is done, all that was added to it is cancelled, in the order in which it was
 * added, and whatever is awaited in it rejects.
 */
export class Scope {
  readonly #cancels: Cancel[] = []
  #end: { reason: unknown } | undefined = undefined

  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  /** Why it has ended. */
  get reason(): unknown {
    return this.#end?.reason
  }

  /** Calls `cancel` with the reason when the scope ends; at once if it has ended. */
  add(cancel: Cancel): void {
    if (this.#end) cancel(this.#end.reason)
    else this.#cancels.push(cancel)
  }

  /** What was added is done, or no longer of interest. */
  remove(cancel: Cancel): void {
    const at = this.#cancels.lastIndexOf(cancel)
    if (at >= 0) this.#cancels.splice(at, 1)
  }

  /** The result of the work; rejects with the reason as soon as the scope ends, whatever the work does then. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.add(reject)
      work.then(
        (result) => {
          this.remove(reject) // its promise holds the result, which may be large
          resolve(result)
        },
        (thrown) => {
          this.remove(reject)
          reject(thrown)
        },
      )
    })
  }

  /** Ends it, unless it has ended before. */
  end(reason: unknown): void {
    if (this.#end) return
    this.#end = { reason }
    for (const cancel of this.#cancels.splice(0)) cancel(reason)
  }
}

/** The scope of work for a client, which ends when the client leaves. `close` must be called when the work is done. */
export function scopeOfClient(exchange: Pick<Exchange, 'onAbort'>): { scope: Scope; close(): void } {
  const scope = new Scope()
  return { scope, close: exchange.onAbort(() => scope.end(gatewayError('CLIENT_CLOSED_REQUEST'))) }
}
