import type { StreamWatch } from '../formats/format.ts'
import { concatBytes, decodeUtf8Lenient } from '../lib/bytes.ts'
import { createSseParser } from '../lib/sse.ts'

/** The last events of a stream. */
export interface Tail {
  /** Copies the next piece, which ends with an event. */
  add(piece: Uint8Array): void
  /** Shows the watch what is held, and forgets it. */
  observe(): void
}

/** Keeps the last whole events of a stream, the last two pieces or more, to find its end mark and its usage without parsing the rest. */
export const createTail = (watch: StreamWatch): Tail => new StreamTail(watch)

/**
 * A tail in two halves, of which the older one is given up for what comes next. Pieces are copied into blocks that are used again: who gets
 * them next may change them, and references would keep them alive, which costs a slow stream most of its garbage collection.
 */
class StreamTail implements Tail {
  readonly #watch: StreamWatch
  #older = new Half()
  #newer = new Half()

  constructor(watch: StreamWatch) {
    this.#watch = watch
  }

  add(piece: Uint8Array): void {
    if (this.#newer.take(piece)) return
    const spare = this.#older
    spare.clear()
    this.#older = this.#newer
    this.#newer = spare
    spare.take(piece)
  }

  observe(): void {
    const parser = createSseParser((event) => this.#watch.observe(event))
    parser.push(decodeUtf8Lenient(concatBytes([this.#older.held(), this.#newer.held()])))
    parser.end()
    this.#older.clear()
    this.#newer.clear()
  }
}

/** Pieces one behind the other, in a block with room for the first and 2 KiB. */
class Half {
  #block = NOTHING
  #size = 0 // of what is in the block

  /** Takes a piece, unless there is no room left. */
  take(piece: Uint8Array): boolean {
    const end = this.#size + piece.length
    if (end > this.#block.length) {
      if (this.#size > 0) return false
      this.#block = new Uint8Array(end + SPARE)
    }
    this.#block.set(piece, this.#size)
    this.#size = end
    return true
  }

  held(): Uint8Array {
    return this.#block.subarray(0, this.#size)
  }

  clear(): void {
    this.#size = 0
    if (this.#block.length > LARGE) this.#block = NOTHING // one large event, and seldom another
  }
}

const NOTHING = new Uint8Array(0)
const SPARE = 2 * 1024
const LARGE = 16 * 1024
