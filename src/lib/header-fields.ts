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

const probe: BunHeaders = new Headers({ A: '' })
/** Are all names in lower case there? They are, but Bun's documentation promises it of the well-known ones alone. */
const isObjectFit = probe.toJSON?.().a === ''

/** The fields of Fetch headers, which must not change any more. */
export function fieldsOf(headers: BunHeaders): HeaderFields {
  let fields: Record<string, unknown> | undefined
  const isFit = isObjectFit && headers.toJSON
  return {
    get(name) {
      if (!isFit) return headers.get(name) ?? undefined
      fields ??= headers.toJSON?.() ?? {}
      const value = fields[name] // may be something else: `constructor`
      if (typeof value === 'string') return value
      return Array.isArray(value) ? value.join(', ') : undefined
    },
    all: () => headers,
  }
}
