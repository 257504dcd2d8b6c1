/**
 * Parts of a stream from beginning to end, by which what it has said can be estimated when its provider does not report it: nothing is
 * read before that. The parts are whole events, up to eight pieces of some KiB each; of a short stream they are all there is.
 */
export class StreamSample {
  readonly #count: (events: Uint8Array) => number
  #kept: Uint8Array[] = []
  #stride = 1 // of so many pieces one is kept
  #pieces = 0
  #bytes = 0
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
    if (this.#pieces++ % this.#stride !== 0) return
    this.#kept.push(events.slice())
    if (this.#kept.length <= MOST) return
    this.#kept = this.#kept.filter((_, at) => at % 2 === 0)
    this.#stride *= 2
  }

  /** The tokens that all of it has said, by those of the parts. */
  tokens(): number {
    const bytes = this.#kept.reduce((size, { length }) => size + length, 0)
    if (bytes === 0) return this.#tokens
    const tokens = this.#kept.reduce((sum, events) => sum + this.#count(events), 0)
    return this.#tokens + (tokens * this.#bytes) / bytes
  }
}

const MOST = 8
const LARGE = 64 * 1024
