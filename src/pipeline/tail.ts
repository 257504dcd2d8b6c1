import type { StreamWatch } from '../formats/format.ts'
import { concatBytes, decodeUtf8Lenient } from '../lib/bytes.ts'
import { createSseParser } from '../lib/sse.ts'

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
 * A tail in two halves, of which the older one is given up for what comes next. Small pieces are copied into blocks that are used again:
 * references to them would keep them alive, and cost a slow stream most of its garbage collection.
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

/** One large piece as it is, or small ones in a block. */
class Half {
  #large: Uint8Array | undefined = undefined
  #block: Uint8Array | undefined = undefined
  #size = 0 // of what is in the block

  hasRoomFor({ length }: Uint8Array): boolean {
    if (this.#large) return false
    return this.#size === 0 || this.#size + length <= BLOCK
  }

  add(piece: Uint8Array): void {
    if (piece.length > BLOCK) {
      this.#large = piece
      return
    }
    this.#block ??= new Uint8Array(BLOCK)
    this.#block.set(piece, this.#size)
    this.#size += piece.length
  }

  held(): Uint8Array {
    return this.#large ?? this.#block?.subarray(0, this.#size) ?? NOTHING
  }

  clear(): void {
    this.#large = undefined
    this.#size = 0
  }
}

const NOTHING = new Uint8Array(0)
const BLOCK = 2 * 1024
