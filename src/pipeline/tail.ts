import type { StreamWatch } from '../formats/format.ts'
import { concatBytes, decodeUtf8Lenient } from '../lib/bytes.ts'
import { createSseParser } from '../lib/sse.ts'

const NOTHING = new Uint8Array(0)

/** A tail of a stream. */
export interface Tail {
  /** Takes the next piece, which ends with an event. */
  add(piece: Uint8Array): void
  /** Shows the watch what is held, and forgets it. */
  observe(): void
}

/** Keeps the last whole events of a stream, at least two pieces, to find its end mark and its usage without parsing the rest. */
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
    if (piece.length === 0) return
    if (!this.#newer.hasRoomFor(piece)) {
      const spare = this.#older
      spare.clear()
      this.#older = this.#newer
      this.#newer = spare
    }
    this.#newer.add(piece)
  }

  observe(): void {
    const parser = createSseParser((event) => this.#watch.observe(event))
    parser.push(decodeUtf8Lenient(concatBytes([this.#older.held(), this.#newer.held()])))
    parser.end()
    this.#older.clear()
    this.#newer.clear()
  }
}

/** Pieces one behind the other, in a block that grows with the largest. */
class Half {
  #block = NOTHING
  #size = 0 // of what is in the block

  hasRoomFor({ length }: Uint8Array): boolean {
    return this.#size === 0 || this.#size + length <= this.#block.length
  }

  add(piece: Uint8Array): void {
    if (piece.length > this.#block.length) this.#block = new Uint8Array(blockFor(piece))
    this.#block.set(piece, this.#size)
    this.#size += piece.length
  }

  held(): Uint8Array {
    return this.#block.subarray(0, this.#size)
  }

  clear(): void {
    this.#size = 0
  }
}

function blockFor({ length }: Uint8Array): number {
  let size = 2 * 1024
  while (size < length) size *= 2
  return size
}
