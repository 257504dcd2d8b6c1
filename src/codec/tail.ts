import type { StreamState } from '../formats/format.ts'
import { concatBytes, decodeUtf8Lenient } from '../lib/bytes.ts'
import { createSseParser } from '../lib/sse.ts'
import type { StreamSample } from './stream-sample.ts'

/**
 * The last whole events of a stream, the last two pieces or more, to find its end mark and its usage without parsing the rest. Pieces are
 * copied into two blocks that are used again, of which the older one is given up for what comes next: the client's platform may change the
 * pieces, and references would keep them alive, which costs a slow stream most of its garbage collection.
 */
export class StreamTail {
  readonly #state: StreamState
  readonly #sample: StreamSample
  #older: Block = { bytes: NOTHING, size: 0 }
  #newer: Block = { bytes: NOTHING, size: 0 }

  /** `sample`: gets all pieces, once they are given up. */
  constructor(state: StreamState, sample: StreamSample) {
    this.#state = state
    this.#sample = sample
  }

  /** Copies the next piece, which ends with an event. */
  add(piece: Uint8Array): void {
    if (this.#newer.size > 0 && this.#newer.size + piece.length > this.#newer.bytes.length) {
      const spare = this.#older
      this.#older = this.#newer
      this.#newer = spare
      if (spare.size > 0) this.#sample.add(spare.bytes.subarray(0, spare.size))
      spare.size = 0
      if (spare.bytes.length > LARGE) spare.bytes = NOTHING // one large event, and seldom another
    }
    const block = this.#newer
    if (piece.length > block.bytes.length - block.size) block.bytes = new Uint8Array(piece.length + SPARE)
    block.bytes.set(piece, block.size)
    block.size += piece.length
  }

  /** Shows the state the events that are held, and forgets them. */
  observe(): void {
    const older = this.#older
    const newer = this.#newer
    const held = concatBytes([older.bytes.subarray(0, older.size), newer.bytes.subarray(0, newer.size)])
    this.#sample.addLast(held)
    const parser = createSseParser((event) => this.#state.observe(event))
    older.size = 0
    newer.size = 0
    parser.push(decodeUtf8Lenient(held))
    parser.end()
  }
}

/** Pieces one after the other, in a block with room for the first and 2 KiB. */
interface Block {
  bytes: Uint8Array
  size: number
}

const NOTHING = new Uint8Array(0)
const SPARE = 2 * 1024
const LARGE = 16 * 1024
