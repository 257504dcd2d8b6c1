import { gatewayError } from '../errors.ts'
import type { Exchange } from './exchange.ts'

/** Cancels a call, a timer, or a wait. */
export type Cancel = (reason: unknown) => void

/** The lifetime of some work. When it ends, all added functions are called in order, and all races reject. */
export class Scope {
  readonly #cancels: Cancel[] = []
  #ending: { reason: unknown } | undefined = undefined

  get hasEnded(): boolean {
    return this.#ending !== undefined
  }

  get reason(): unknown {
    return this.#ending?.reason
  }

  /** Calls `cancel` with the reason when the scope ends, or immediately if it has ended. */
  add(cancel: Cancel): void {
    if (this.#ending) cancel(this.#ending.reason)
    else this.#cancels.push(cancel)
  }

  /** Removes an added function, because its work is done. */
  remove(cancel: Cancel): void {
    const index = this.#cancels.lastIndexOf(cancel)
    if (index >= 0) this.#cancels.splice(index, 1)
  }

  /** Resolves to the work's result. Rejects with the reason as soon as the scope ends. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.add(reject)
      work.then(
        (result) => {
          this.remove(reject) // a promise keeps its result, which may be large
          resolve(result)
        },
        (error) => {
          this.remove(reject)
          reject(error)
        },
      )
    })
  }

  /** Ends the scope, unless it has ended. */
  end(reason: unknown): void {
    if (this.#ending) return
    this.#ending = { reason }
    for (const cancel of this.#cancels.splice(0)) cancel(reason)
  }
}

/** Creates a scope that ends when the client disconnects. Call `close` when the work is done. */
export function createClientScope(exchange: Pick<Exchange, 'onAbort'>): { scope: Scope; close(): void } {
  const scope = new Scope()
  return { scope, close: exchange.onAbort(() => scope.end(gatewayError('CLIENT_CLOSED_REQUEST'))) }
}
