/** Joins the strings in the same field of several stream events, because a reader may see them as one string. */
export class StringJoiner {
  readonly #fields = new Map<string, { lastText: string; tail: string }>()

  /**
   * Adds a field's next string. Returns the end of the preceding strings, or an empty string if this one only repeats the last string, such as an ID.
   */
  add(path: string, text: string): string {
    const field = this.#fields.get(path)
    if (!field) {
      if (this.#fields.size < MAX_FIELDS) this.#fields.set(path, { lastText: text, tail: text.slice(-CONTEXT_LENGTH) })
      return ''
    }
    const { lastText, tail } = field
    if (text === lastText && text.length > MAX_REPEATABLE_LENGTH) return ''
    this.#fields.set(path, { lastText: text, tail: (tail + text).slice(-CONTEXT_LENGTH) })
    return tail
  }
}

/** Maximum length of the context that precedes a string, in characters. */
export const CONTEXT_LENGTH = 256

const MAX_FIELDS = 1_000

/** Strings up to this length, such as single letters, may legitimately occur twice in a row. */
const MAX_REPEATABLE_LENGTH = 2
