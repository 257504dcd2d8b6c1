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
  get(reader: string): TextTail {
    const { text, starts } = this.#tails.get(reader) ?? NOTHING
    return text === '' ? NOTHING : { text, starts: [...starts, text.length] }
  }

  /** Adds a piece of a block. */
  add(reader: string, text: string, isNewBlock: boolean): void {
    const before = isNewBlock ? this.get(reader) : (this.#tails.get(reader) ?? NOTHING)
    const whole = before.text + text
    const cut = Math.max(whole.length - CONTEXT_LENGTH, 0)
    const starts = before.starts.flatMap((start) => (start >= cut ? [start - cut] : []))
    this.#tails.set(reader, { text: whole.slice(cut), starts })
  }
}

export const NOTHING: TextTail = { text: '', starts: [] }

/** Returns the tail for a string that another string follows directly. */
export const toTail = (text: string): TextTail => ({ text, starts: [text.length] })
