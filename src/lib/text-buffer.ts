/** Text that comes in pieces. */
export interface TextBuffer {
  add(piece: string): void
  /** Has a piece been added, be it without a character? */
  readonly isBegun: boolean
  /** All of it; `undefined` when it is longer than the buffer holds. */
  readonly text: string | undefined
}

/**
 * Keeps the pieces of a text put together by the hundreds: a string for each word takes several times the room of its characters. A text of
 * more than `maxLength` characters is given up.
 */
export const createTextBuffer = (maxLength = Number.POSITIVE_INFINITY): TextBuffer => new PagedText(maxLength)

/** How many pieces are put together at once. */
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
