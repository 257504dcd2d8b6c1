import type { StreamWatch } from '../formats/format.ts'
import { concatBytes, decodeUtf8Lenient } from '../lib/bytes.ts'
import { createSseParser } from '../lib/sse.ts'

/**
 * Keeps the last whole events of a stream, at least two chunks, to find its end mark and its usage without parsing the rest. They are
 * copied into two alternating buffers: references to chunks would keep them alive, and cost a slow stream most of its garbage collection.
 */
export function createTail(watch: StreamWatch) {
  let older: Block = { bytes: NOTHING, size: 0 }
  let newer: Block = { bytes: NOTHING, size: 0 }
  return {
    add(piece: Uint8Array) {
      if (piece.length === 0) return
      if (newer.size > 0 && newer.size + piece.length > newer.bytes.length) {
        const spare = older.bytes.length === BLOCK ? older.bytes : NOTHING
        older = newer
        newer = { bytes: spare, size: 0 }
      }
      if (piece.length > newer.bytes.length) newer.bytes = new Uint8Array(Math.max(BLOCK, piece.length))
      newer.bytes.set(piece, newer.size)
      newer.size += piece.length
    },
    observe() {
      const parser = createSseParser((event) => watch.observe(event))
      parser.push(decodeUtf8Lenient(concatBytes([held(older), held(newer)])))
      parser.end()
      older = newer = { bytes: NOTHING, size: 0 }
    },
  }
}

interface Block {
  bytes: Uint8Array
  size: number
}

const held = ({ bytes, size }: Block) => bytes.subarray(0, size)

const NOTHING = new Uint8Array(0)
const BLOCK = 4 * 1024
