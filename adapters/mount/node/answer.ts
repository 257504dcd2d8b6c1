import type { ByteStream, UpstreamAnswer } from '../../../src/index.ts'

/** Headers as undici hands them out: names in lower case. */
export type RawHeaders = Record<string, string | string[] | undefined>

/** Headers about the bytes on the wire, which do not hold for decompressed ones. */
const WIRE_ONLY = new Set(['content-encoding', 'content-length', 'transfer-encoding'])

/** An answer over undici's headers. `isDecoded` hides the headers that described the body before it was decompressed. */
export class NodeAnswer implements UpstreamAnswer {
  readonly status: number
  readonly body: ByteStream
  readonly #raw: RawHeaders
  readonly #isDecoded: boolean

  constructor(status: number, raw: RawHeaders, body: ByteStream, isDecoded: boolean) {
    this.status = status
    this.body = body
    this.#raw = raw
    this.#isDecoded = isDecoded
  }

  header(name: string): string | undefined {
    const value: unknown = this.#isHidden(name) ? undefined : this.#raw[name] // may be something else: `constructor`
    if (typeof value === 'string') return value
    return Array.isArray(value) ? value.join(', ') : undefined
  }

  headers(): Iterable<[string, string]> {
    const pairs: [string, string][] = []
    for (const name in this.#raw) {
      const value = this.#raw[name]
      if (value === undefined || this.#isHidden(name)) continue
      if (typeof value === 'string') pairs.push([name, value])
      else for (const one of value) pairs.push([name, one])
    }
    return pairs
  }

  #isHidden(name: string): boolean {
    return this.#isDecoded && WIRE_ONLY.has(name)
  }
}
