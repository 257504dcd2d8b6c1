import type { Clock } from '../types.ts'
import { startDeadline } from './deadline.ts'

/** A list entry, returned by `add`. */
export interface Slot<T> {
  readonly value: T
  /** The entry's index in the list. */
  index: number
}

/**
 * A list that changes with every request. The last slot replaces a removed one. A `Set` that changes this often leaves outgrown tables behind, which
 * keep more than half of the finished requests alive until the next major garbage collection.
 */
class SlotList<T> {
  readonly #slots: Slot<T>[] = []

  get size(): number {
    return this.#slots.length
  }

  add(value: T): Slot<T> {
    const slot = { value, index: this.#slots.length }
    this.#slots.push(slot)
    return slot
  }

  /** May be called more than once. */
  remove(slot: Slot<T>): void {
    const slots = this.#slots
    if (slots[slot.index] !== slot) return // it has already been removed
    const lastSlot = slots.pop()
    if (!lastSlot || lastSlot === slot) return
    slots[slot.index] = lastSlot
    lastSlot.index = slot.index
  }

  values(): T[] {
    return this.#slots.map(({ value }) => value)
  }
}

/** A request in flight. */
export interface InFlightWork {
  /** The key and account that it runs as, once they are known. */
  readonly caller: {
    readonly key: { readonly digest: string; readonly group?: { readonly id: string } } | undefined
    readonly account: { readonly ref: string; readonly plan?: { readonly id: string } | undefined } | undefined
  }
  cancel(reason: unknown): void
}

/** The in-flight requests. A closing gateway waits for them, and then cancels the rest. */
export interface InFlight {
  readonly size: number
  add(work: InFlightWork): InFlightEntry
  /** May be called more than once. */
  remove(entry: InFlightEntry): void
  values(): readonly InFlightWork[]
  /** Waits up to `graceMs` until no requests are left. Then cancels the rest with `reason`, and waits up to a second for them to end. */
  drain(clock: Clock, graceMs: number, reason: unknown): Promise<void>
}

/** How long to wait for canceled requests, in ms. They respond and call their hooks immediately unless the storage hangs. */
const CANCEL_TIMEOUT_MS = 1_000

export type InFlightEntry = Slot<InFlightWork>

export function createInFlight(): InFlight {
  const requests = new SlotList<InFlightWork>()
  const idleListeners = new Set<() => void>()

  function remove(entry: InFlightEntry) {
    requests.remove(entry)
    if (requests.size === 0) for (const listener of idleListeners) listener()
  }

  function waitUntilEmpty(clock: Clock, ms: number) {
    return new Promise<void>((resolve) => {
      if (requests.size === 0) return resolve()
      const cancelDeadline = startDeadline(clock, ms, finish)
      idleListeners.add(finish)
      function finish() {
        cancelDeadline()
        idleListeners.delete(finish)
        resolve()
      }
    })
  }

  return {
    get size() {
      return requests.size
    },
    add: (work) => requests.add(work),
    remove,
    values: () => requests.values(),
    async drain(clock, graceMs, reason) {
      await waitUntilEmpty(clock, graceMs)
      for (const work of requests.values()) work.cancel(reason) // canceling may remove the request from the list
      await waitUntilEmpty(clock, CANCEL_TIMEOUT_MS)
    },
  }
}
