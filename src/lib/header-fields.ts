/** The header fields of a message, for reading. Names in lower case. */
export interface HeaderFields {
  /** Repeated fields are joined with `, `. */
  get(name: string): string | undefined
  all(): Iterable<[string, string]>
}

/** Bun's headers can be had as one object, in the time of some ten look-ups. */
interface BunHeaders extends Headers {
  toJSON?(): Record<string, string | string[]>
}

/** The fields of Fetch headers, which must not change any more. */
export function fieldsOf(headers: BunHeaders): HeaderFields {
  if (!headers.toJSON) return { get: (name) => headers.get(name) ?? undefined, all: () => headers }
  let fields: Record<string, string | string[]> | undefined
  return {
    get(name) {
      fields ??= headers.toJSON?.() ?? {}
      const value: unknown = fields[name] // may be something else: `constructor`
      if (typeof value === 'string') return value
      return Array.isArray(value) ? value.join(', ') : undefined
    },
    all: () => headers,
  }
}
