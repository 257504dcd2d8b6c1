/**
 * Parts of a stream from beginning to end, by which what it has said can be estimated when its provider does not report it: nothing is
 * read before that. The parts are whole events: of pieces of some KiB each the first, the second, the fourth, the eighth and so on, and the last.
 */
export class StreamSample {
  readonly #count: (events: Uint8Array) => number
  /** Each with the bytes that it stands for: its own, and those between the part before it and it. */
  readonly #parts: Array<{ events: Uint8Array; bytes: number }> = []
  #pieces = 0
  #bytes = 0 // since the last part
  #tokens = 0 // of pieces that are too large to keep

  /** `count`: the tokens that whole events say. */
  constructor(count: (events: Uint8Array) => number) {
    this.#count = count
  }

  /** Takes the next piece, and copies it if it is kept. */
  add(events: Uint8Array): void {
    if (events.length > LARGE) {
      this.#tokens += this.#count(events)
      return
    }
    this.#bytes += events.length
    this.#pieces++
    if ((this.#pieces & (this.#pieces - 1)) === 0) this.#keep(events.slice())
  }

  /** Takes the last piece, which is nobody else's. */
  addLast(events: Uint8Array): void {
    this.#bytes += events.length
    this.#keep(events)
  }

  /** The tokens that all of it has said, by those of the parts. */
  tokens(): number {
    return this.#parts.reduce(
      (sum, { events, bytes }) => sum + (this.#count(events) * bytes) / events.length,
      this.#tokens,
    )
  }

  #keep(events: Uint8Array): void {
    if (events.length === 0) return
    this.#parts.push({ events, bytes: this.#bytes })
    this.#bytes = 0
  }
}

const LARGE = 64 * 1024
