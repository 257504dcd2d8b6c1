/** The header fields of a message, for reading. Names in lower case. */
export interface HeaderFields {
  /** Repeated fields are joined with `, `. */
  get(name: string): string | undefined
  all(): Iterable<[string, string]>
  /** See `Exchange.copyHeaders`. */
  copy(names: ReadonlySet<string>, into: Record<string, string>): void
}

/** Bun's headers can be had as one object, in the time of some ten look-ups. */
interface BunHeaders extends Headers {
  toJSON?(): Record<string, string | string[]>
}

const probe: BunHeaders = new Headers({ A: '' })
/** Are all names in lower case there? They are, but Bun's documentation promises it of the well-known ones alone. */
const isObjectFit = probe.toJSON?.().a === ''

/** The fields of Fetch headers, which must not change any more. */
export const fieldsOf = (headers: BunHeaders): HeaderFields =>
  isObjectFit && headers.toJSON ? new ObjectFields(headers.toJSON()) : new FetchFields(headers)

class FetchFields implements HeaderFields {
  readonly #headers: Headers

  constructor(headers: Headers) {
    this.#headers = headers
  }

  get(name: string): string | undefined {
    return this.#headers.get(name) ?? undefined
  }

  all(): Iterable<[string, string]> {
    return this.#headers
  }

  copy(names: ReadonlySet<string>, into: Record<string, string>): void {
    for (const name of names) {
      const value = this.get(name)
      if (value !== undefined) into[name] = value
    }
  }
}

class ObjectFields implements HeaderFields {
  readonly #fields: Record<string, string | string[]>

  constructor(fields: Record<string, string | string[]>) {
    this.#fields = fields
  }

  get(name: string): string | undefined {
    const value: unknown = this.#fields[name] // may be something else: `constructor`
    if (typeof value === 'string') return value
    return Array.isArray(value) ? value.join(', ') : undefined
  }

  all(): Iterable<[string, string]> {
    const pairs: [string, string][] = []
    for (const name in this.#fields) {
      const value = this.#fields[name]
      if (typeof value === 'string') pairs.push([name, value])
      else for (const one of value ?? []) pairs.push([name, one])
    }
    return pairs
  }

  copy(names: ReadonlySet<string>, into: Record<string, string>): void {
    for (const name in this.#fields) {
      const value = names.has(name) ? this.get(name) : undefined
      if (value !== undefined) into[name] = value
    }
  }
}
