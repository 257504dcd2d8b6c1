/** A string in which some characters have been replaced. Maps its positions to those in the original. */
export interface RewrittenText {
  text: string
  /** Returns the original position of a character. With `isEnd`, returns the position after it. */
  toOriginal(index: number, isEnd?: boolean): number
}

/** Combines two consecutive rewrites into one whose positions refer to the original text. */
export const composeTexts = (first: RewrittenText, second: RewrittenText): RewrittenText => ({
  text: second.text,
  toOriginal: (index, isEnd = false) =>
    isEnd ? first.toOriginal(second.toOriginal(index, true) - 1, true) : first.toOriginal(second.toOriginal(index)),
})

/** A piece of rewritten text. */
interface Piece {
  /** The piece's position in the rewritten text. */
  start: number
  from: number
  until: number
  /** Whether the piece replaces the original characters as a unit. If not, each character maps to its own position. */
  isReplacement: boolean
}

/** Builds rewritten text from left to right. */
export class TextRewriter {
  #text = ''
  readonly #pieces: Piece[] = []

  get length(): number {
    return this.#text.length
  }

  /** Adds a piece that replaces the original characters from `from` to `until` (exclusive). */
  add(piece: string, { from, until, isReplacement = false }: { from: number; until: number; isReplacement?: boolean }) {
    if (piece === '') return
    this.#pieces.push({ start: this.#text.length, from, until, isReplacement })
    this.#text += piece
  }

  finish(): RewrittenText {
    const pieces = this.#pieces
    return {
      text: this.#text,
      toOriginal(index, isEnd = false) {
        let low = 0
        for (let high = pieces.length - 1; low < high; ) {
          const middle = (low + high + 1) >> 1
          if ((pieces[middle]?.start ?? 0) <= index) low = middle
          else high = middle - 1
        }
        const { start = 0, from = 0, until = 0, isReplacement } = pieces[low] ?? {}
        if (isReplacement) return isEnd ? until : from
        return Math.min(from + index - start + (isEnd ? 1 : 0), until)
      },
    }
  }
}
