/** Collects text that arrives in chunks. */
export interface TextBuffer {
  append(chunk: string): void
  /** Whether a chunk was added, even an empty one. */
  readonly hasStarted: boolean
  /** The entire text, or `undefined` if it exceeds the maximum. */
  readonly text: string | undefined
}

/** Joins chunks by the hundreds, because a string per word would take several times the memory. Discards text over `maxLength` characters. */
export const createTextBuffer = (maxLength = Number.POSITIVE_INFINITY): TextBuffer => new PagedText(maxLength)

/** How many chunks are joined at a time. */
const PAGE_SIZE = 256

/** A class, because `add` is called for each event in a stream. */
class PagedText implements TextBuffer {
  readonly #maxLength: number
  #pages: string[] = []
  #chunks: string[] = []
  #length = 0
  hasStarted = false

  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  append(chunk: string): void {
    this.hasStarted = true
    this.#length += chunk.length
    if (this.#length > this.#maxLength) {
      this.#pages = []
      this.#chunks = []
    } else if (this.#chunks.push(chunk) >= PAGE_SIZE) this.#startPage()
  }

  get text(): string | undefined {
    if (this.#length > this.#maxLength) return undefined
    if (this.#chunks.length > 0) this.#startPage()
    return this.#pages.join('')
  }

  #startPage(): void {
    this.#pages.push(this.#chunks.join(''))
    this.#chunks = []
  }
}
