import { CONTEXT_LENGTH } from './string-joiner.ts'

/** The tail of the text that has arrived so far. */
export interface TextTail {
  readonly text: string
  /** Where blocks begin in `text`. Includes the end if another block follows. */
  readonly starts: readonly number[]
}

/** Remembers the tail of the text so far for each reader, because a reader sees consecutive blocks as one string. */
export class BlockTails {
  readonly #tails = new Map<string, TextTail>()

  /** Returns the tail of the text that precedes a new block. Empty for the first block. */
  get(readerKey: string): TextTail {
    const { text, starts } = this.#tails.get(readerKey) ?? EMPTY_TAIL
    return text === '' ? EMPTY_TAIL : { text, starts: [...starts, text.length] }
  }

  /** Adds a piece of a block. */
  add(readerKey: string, text: string, isNewBlock: boolean): void {
    const previousTail = isNewBlock ? this.get(readerKey) : (this.#tails.get(readerKey) ?? EMPTY_TAIL)
    const joinedText = previousTail.text + text
    const cutoff = Math.max(joinedText.length - CONTEXT_LENGTH, 0)
    const starts = previousTail.starts.flatMap((start) => (start >= cutoff ? [start - cutoff] : []))
    this.#tails.set(readerKey, { text: joinedText.slice(cutoff), starts })
  }
}

export const EMPTY_TAIL: TextTail = { text: '', starts: [] }

/** Returns the tail for a string that another string follows directly. */
export const toTail = (text: string): TextTail => ({ text, starts: [text.length] })
