import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { createLedger, type Ledger } from '../../../src/features/limits/ledger/ledger.ts'
import type { Clock, Storage } from '../../../src/types.ts'
import type { Random } from '../../support/random.ts'

/** A process with a ledger, in a world that can stop the process at any moment. */
export interface Instance {
  readonly ledger: Ledger
  /** The offset of its clock from the world's clock, in ms. */
  offset: number
  /** Whether it has crashed. A crashed process does nothing more and receives nothing. */
  hasCrashed: boolean
  /** Whether its timers are stopped. */
  isFrozen: boolean
}

interface Timer {
  owner: Instance
  due: number
  onTime(): void
}

/** The result of a storage call. `late` means that the call fails but takes effect some time later. */
type Fate = 'fine' | 'refused' | 'answer lost' | 'late'

/** A storage with random delays and failures, a manual clock, and instances. */
export class World {
  readonly storage = memoryStorage({ clock: { now: () => this.now } })
  readonly errors: unknown[] = []
  now = Date.UTC(2026, 2, 18, 23, 50)
  /** The share of storage calls that fail, from 0 to 1. */
  faults = 0
  #timers = new Set<Timer>()
  #late: Array<() => Promise<unknown>> = []
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  start(): Instance {
    const clock: Clock = {
      now: () => this.now + instance.offset,
      setTimer: (ms, onTime) => this.#setTimer(instance, ms, onTime),
      sleep: (ms) => new Promise((resolve) => void this.#setTimer(instance, ms, resolve)),
    }
    const options = {
      storage: this.#storageOf(() => instance),
      clock,
      random: () => this.#random.next(),
      startTimer: (ms: number, onTime: () => void) => this.#setTimer(instance, ms, onTime),
      nextTurn: async () => {},
      onError: (error: unknown) => void this.errors.push(error),
    }
    const instance: Instance = { ledger: createLedger(options), offset: 0, hasCrashed: false, isFrozen: false }
    return instance
  }

  crash(instance: Instance): void {
    instance.hasCrashed = true
    for (const timer of this.#timers) if (timer.owner === instance) this.#timers.delete(timer)
  }

  /** Advances the clock, and runs everything that is due. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms
    await this.rest()
    for (;;) {
      const [next] = [...this.#timers].filter((timer) => !timer.owner.isFrozen).sort((a, b) => a.due - b.due)
      if (!next || next.due > end) break
      this.now = Math.max(this.now, next.due)
      this.#timers.delete(next)
      next.onTime()
      await this.rest()
    }
    this.now = end
  }

  /** Waits until nothing more happens, without advancing the clock. */
  rest(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }

  /** Makes the storage work again, completes late writes, and waits until pending data is written. */
  async recover(): Promise<void> {
    if (this.faults === 0) return this.rest()
    this.faults = 0
    for (const write of this.#late.splice(0)) await write()
    await this.pass(31_000)
  }

  #setTimer(owner: Instance, ms: number, onTime: () => void): () => void {
    const timer = { owner, due: this.now + ms, onTime }
    if (!owner.hasCrashed) this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  #storageOf(instance: () => Instance): Storage {
    const { storage } = this
    const call = async <T>(action: () => Promise<T>): Promise<T> => {
      await this.#time(instance())
      const fate = this.#fate()
      if (fate === 'refused') throw lost()
      if (fate === 'late') {
        this.#late.push(action)
        throw lost()
      }
      const result = await action()
      await this.#time(instance())
      if (fate === 'answer lost') throw lost()
      return result
    }
    return {
      ...storage,
      get: (key) => call(() => storage.get(key)),
      set: (...args) => call(() => storage.set(...args)),
      delete: (...args) => call(() => storage.delete(...args)),
    }
  }

  #fate(): Fate {
    if (this.#late.length > 0 && this.#random.below(4) === 0) void this.#late.shift()?.()
    if (this.faults === 0 || this.#random.next() >= this.faults) return 'fine'
    return (['refused', 'answer lost', 'late'] as const)[this.#random.below(3)] ?? 'fine'
  }

  /** Simulates the travel time of a request or its response. In a crashed process, it never ends. */
  async #time(instance: Instance): Promise<void> {
    for (let hops = this.#random.below(6); hops > 0; hops--) await undefined
    if (instance.hasCrashed) await new Promise(() => {})
  }
}

const lost = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
