/** Text that comes in pieces. */
export interface TextBuffer {
  add(piece: string): void
  /** Has a piece been added, be it without a character? */
  readonly isBegun: boolean
  /** All of it; `undefined` when it is longer than the buffer holds. */
  readonly text: string | undefined
}

/** How many pieces are put together at once. */
const PAGE = 256

/**
 * Keeps the pieces of a text put together by the hundreds: a string for each word takes several times the room of its characters. A text of
 * more than `maxLength` characters is given up.
 */
export function createTextBuffer(maxLength = Number.POSITIVE_INFINITY): TextBuffer {
  let pages: string[] = []
  let pieces: string[] = []
  let length = 0
  let isBegun = false

  function turnPage() {
    pages.push(pieces.join(''))
    pieces = []
  }

  return {
    add(piece) {
      isBegun = true
      length += piece.length
      if (length > maxLength) {
        pages = []
        pieces = []
      } else if (pieces.push(piece) >= PAGE) turnPage()
    },
    get isBegun() {
      return isBegun
    },
    get text() {
      if (length > maxLength) return undefined
      if (pieces.length > 0) turnPage()
      return pages.join('')
    },
  }
}
