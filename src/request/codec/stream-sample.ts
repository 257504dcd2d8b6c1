import { findEventEnds } from '../../lib/sse.ts'

/**
 * Samples of an entire stream, for estimating its output tokens if the provider doesn't report them. They are only parsed in that case. A sample
 * contains the first complete events of a chunk. The first, second, fourth, eighth, … and the last chunk are sampled.
 */
export class StreamSample {
  readonly #count: (events: Uint8Array) => number
  /** Each sample and the bytes that it represents: its own, and those since the previous sample. */
  readonly #samples: Array<{ events: Uint8Array | undefined; tokens: number; length: number; bytes: number }> = []
  #chunkCount = 0
  #bytes = 0 // the bytes since the last sample
  #tokens = 0 // the tokens in chunks that are too large to sample

  /** Creates an empty sample. `count` counts the tokens in complete events. */
  constructor(count: (events: Uint8Array) => number) {
    this.#count = count
  }

  /** Takes the next chunk. Copies it if it becomes a sample. */
  add(events: Uint8Array): void {
    if (events.length > LARGE_SAMPLE_BYTES) {
      this.#tokens += this.#count(events)
      return
    }
    this.#bytes += events.length
    this.#chunkCount++
    if ((this.#chunkCount & (this.#chunkCount - 1)) === 0) this.#addSample(takeFirstEvents(events).slice())
  }

  /** Takes the last chunk. */
  addLast(events: Uint8Array): void {
    this.#bytes += events.length
    const firstEvents = takeFirstEvents(events)
    this.#addSample(firstEvents.length < events.length ? firstEvents.slice() : events)
  }

  /** Estimates the entire stream's tokens. */
  estimateTokens(): number {
    return this.#samples.reduce((sum, { events, tokens, length, bytes }) => {
      const tokenCount = events ? this.#count(events) : tokens
      return sum + (tokenCount * bytes) / length
    }, this.#tokens)
  }

  /** Keeps a sample. If its first event is large, counts it immediately, because thousands of streams with stalled clients may be open. */
  #addSample(events: Uint8Array): void {
    const { length } = events
    if (length === 0) return
    const bytes = this.#bytes
    this.#bytes = 0
    if (length > SMALL_SAMPLE_BYTES)
      this.#samples.push({ events: undefined, tokens: this.#count(events), length, bytes })
    else this.#samples.push({ events, tokens: 0, length, bytes })
  }
}

/** Returns the first complete events that fit in a small sample. Returns all events if the first one doesn't fit. */
function takeFirstEvents(events: Uint8Array): Uint8Array {
  if (events.length <= SMALL_SAMPLE_BYTES) return events
  const [end = events.length] = findEventEnds(events, SMALL_SAMPLE_BYTES)
  return events.subarray(0, end)
}

const SMALL_SAMPLE_BYTES = 4 * 1024
const LARGE_SAMPLE_BYTES = 64 * 1024
