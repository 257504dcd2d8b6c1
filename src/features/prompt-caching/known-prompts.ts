import { hashText } from '../../lib/hash.ts'
import { evictOldest } from '../../lib/maps.ts'
import type { Clock } from '../../types.ts'

const MAX_PROMPTS = 10_000
const HASH_FACTOR = 0x5bd1e995

/** Remembers, in memory, when each prompt's instructions were last sent without tools. */
export class KnownPrompts {
  readonly #clock: Pick<Clock, 'now'>
  readonly #lastUses = new Map<string, number>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Remembers the instructions. Returns whether the same ones have been sent before within their lifetime. */
  recordUse(owner: string, instructions: unknown, ttlMs: number): boolean {
    const key = getCacheKey(owner, instructions)
    const isKnown = this.isKnown(owner, instructions, ttlMs)
    if (!this.#lastUses.delete(key)) evictOldest(this.#lastUses, MAX_PROMPTS)
    this.#lastUses.set(key, this.#clock.now()) // moves the latest use to the end
    return isKnown
  }

  /** Returns whether the same instructions have been sent before within their lifetime. */
  isKnown(owner: string, instructions: unknown, ttlMs: number): boolean {
    const lastUse = this.#lastUses.get(getCacheKey(owner, instructions))
    return lastUse !== undefined && lastUse > this.#clock.now() - ttlMs
  }
}

function getCacheKey(owner: string, instructions: unknown): string {
  const text = `${owner}\0${JSON.stringify(instructions)}`
  return `${hashText(text)} ${hashText(text, HASH_FACTOR)}`
}
