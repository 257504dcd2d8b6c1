/**
 * Parts of a stream from beginning to end, by which what it has said can be estimated when its provider does not report it: nothing is
 * read before that. The parts are whole events: of pieces of some KiB each the first, the second, the fourth, the eighth and so on, and the last.
 */
export class StreamSample {
  readonly #count: (events: Uint8Array) => number
  /** What is kept of each, and the bytes that it stands for: its own, and those between the part before it and it. */
  readonly #parts: Array<{ events: Uint8Array | undefined; tokens: number; length: number; bytes: number }> = []
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
    if ((this.#pieces & (this.#pieces - 1)) === 0) this.#keep(events.length > SMALL ? events : events.slice())
  }

  /** Takes the last piece, and keeps it without a copy. */
  addLast(events: Uint8Array): void {
    this.#bytes += events.length
    this.#keep(events)
  }

  /** The tokens that all of it has said, by those of the parts. */
  tokens(): number {
    return this.#parts.reduce((sum, { events, tokens, length, bytes }) => {
      const own = events ? this.#count(events) : tokens
      return sum + (own * bytes) / length
    }, this.#tokens)
  }

  /** A larger part is counted at once, as thousands of streams may be open whose clients do not read. */
  #keep(events: Uint8Array): void {
    const { length } = events
    if (length === 0) return
    const bytes = this.#bytes
    this.#bytes = 0
    if (length > SMALL) this.#parts.push({ events: undefined, tokens: this.#count(events), length, bytes })
    else this.#parts.push({ events, tokens: 0, length, bytes })
  }
}

const SMALL = 4 * 1024
const LARGE = 64 * 1024
