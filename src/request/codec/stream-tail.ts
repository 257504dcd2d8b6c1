import { concatBytes, decodeUtf8Lenient } from '../../lib/bytes.ts'
import { createSseParser, findEventEnds } from '../../lib/sse.ts'
import type { StreamState } from '../../protocols/formats/format.ts'
import type { StreamSample } from './stream-sample.ts'

/**
 * The last complete events of a stream, at least the last two chunks, for finding its end mark and usage without parsing anything else. Chunks are
 * copied to two reused blocks; the older one is evicted to make room. It can't keep the chunks themselves: the client's platform may change them, and
 * keeping them alive causes most of a slow stream's garbage collection.
 */
export class StreamTail {
  readonly #state: StreamState
  readonly #sample: StreamSample
  #olderBlock: Block = { bytes: NOTHING, size: 0 }
  #newerBlock: Block = { bytes: NOTHING, size: 0 }

  /** Creates an empty tail. `sample` gets all chunks as they are evicted. */
  constructor(state: StreamState, sample: StreamSample) {
    this.#state = state
    this.#sample = sample
  }

  /** Copies the next chunk, which ends with an event, or only the last events of a large one. */
  add(chunk: Uint8Array): void {
    const start = chunk.length > LARGE_CHUNK_BYTES ? findLastEvents(chunk) : 0
    if (start === 0) this.#copy(chunk)
    else {
      this.#evict(this.#olderBlock)
      this.#evict(this.#newerBlock)
      this.#sample.add(chunk.subarray(0, start))
      this.#copy(chunk.subarray(start))
    }
  }

  #copy(chunk: Uint8Array): void {
    if (this.#newerBlock.size > 0 && this.#newerBlock.size + chunk.length > this.#newerBlock.bytes.length) {
      const reusedBlock = this.#olderBlock
      this.#olderBlock = this.#newerBlock
      this.#newerBlock = reusedBlock
      this.#evict(reusedBlock)
    }
    const block = this.#newerBlock
    if (chunk.length > block.bytes.length - block.size) block.bytes = new Uint8Array(chunk.length + SPARE_BYTES)
    block.bytes.set(chunk, block.size)
    block.size += chunk.length
  }

  #evict(block: Block): void {
    if (block.size > 0) this.#sample.add(block.bytes.subarray(0, block.size))
    block.size = 0
    if (block.bytes.length > LARGE_BLOCK_BYTES) block.bytes = NOTHING // the block had one large event, and another is unlikely
  }

  /** Passes the last events to the state, and clears the tail. */
  observe(): void {
    const olderBlock = this.#olderBlock
    const newerBlock = this.#newerBlock
    const bytes = concatBytes([
      olderBlock.bytes.subarray(0, olderBlock.size),
      newerBlock.bytes.subarray(0, newerBlock.size),
    ])
    this.#sample.addLast(bytes)
    const parser = createSseParser((event) => this.#state.observe(event))
    olderBlock.size = 0
    newerBlock.size = 0
    parser.push(decodeUtf8Lenient(bytes.subarray(findLastEvents(bytes))))
    parser.end()
  }
}

/** Returns the offset of the last events: at least `MAX_EVENTS` events and `LAST_BYTES` bytes. Returns 0 if the stream is shorter. */
function findLastEvents(events: Uint8Array): number {
  let count = 0
  for (const end of findEventEnds(events, events.length - 2))
    if (++count >= MAX_EVENTS && events.length - end >= LAST_BYTES) return end
  return 0
}

/** The size in bytes above which only a chunk's last events are kept. */
const LARGE_CHUNK_BYTES = 4 * 1024

/** How many events to keep. These include the last content, the end of the response, its usage, and the end mark. */
const MAX_EVENTS = 5
const LAST_BYTES = 2 * 1024

/** Consecutive chunks. A block has room for the first chunk and 2 KiB. */
interface Block {
  bytes: Uint8Array
  size: number
}

const NOTHING = new Uint8Array(0)
const SPARE_BYTES = 2 * 1024
const LARGE_BLOCK_BYTES = 16 * 1024
