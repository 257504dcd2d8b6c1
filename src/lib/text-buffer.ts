/** Text that comes in pieces. */
export interface TextBuffer {
  add(piece: string): void
  /** Has a piece been added, even an empty one? */
  readonly isBegun: boolean
  /** The whole text; `undefined` when it is longer than the buffer allows. */
  readonly text: string | undefined
}

/**
 * Makes a buffer that joins pieces by the hundreds: one string for each word would take several times the memory of its characters. A text of
 * more than `maxLength` characters is discarded.
 */
export const createTextBuffer = (maxLength = Number.POSITIVE_INFINITY): TextBuffer => new PagedText(maxLength)

/** How many pieces are joined at once. */
const PAGE = 256

/** A class, because `add` is called for each event of a stream. */
class PagedText implements TextBuffer {
  readonly #maxLength: number
  #pages: string[] = []
  #pieces: string[] = []
  #length = 0
  isBegun = false

  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  add(piece: string): void {
    this.isBegun = true
    this.#length += piece.length
    if (this.#length > this.#maxLength) {
      this.#pages = []
      this.#pieces = []
    } else if (this.#pieces.push(piece) >= PAGE) this.#turnPage()
  }

  get text(): string | undefined {
    if (this.#length > this.#maxLength) return undefined
    if (this.#pieces.length > 0) this.#turnPage()
    return this.#pages.join('')
  }

  #turnPage(): void {
    this.#pages.push(this.#pieces.join(''))
    this.#pieces = []
  }
}
