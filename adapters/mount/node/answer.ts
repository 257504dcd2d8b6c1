import type { ByteStream, UpstreamAnswer } from '../../../src/index.ts'

/** Headers as undici hands them out: names in lower case. */
export type RawHeaders = Record<string, string | string[] | undefined>

/** Headers about the bytes on the wire, which do not hold for decompressed ones. */
const WIRE_ONLY = new Set(['content-encoding', 'content-length', 'transfer-encoding'])

/** An answer over undici's headers. `isDecoded` hides the headers that described the body before it was decompressed. */
export function answerOf(status: number, raw: RawHeaders, body: ByteStream, isDecoded: boolean): UpstreamAnswer {
  const isHidden = (name: string) => isDecoded && WIRE_ONLY.has(name)
  return {
    status,
    body,
    header(name) {
      const value: unknown = raw[name] // may be something else: `constructor`
      if (isHidden(name)) return undefined
      if (typeof value === 'string') return value
      return Array.isArray(value) ? value.join(', ') : undefined
    },
    headers() {
      const pairs: [string, string][] = []
      for (const name in raw) {
        const value = raw[name]
        if (value === undefined || isHidden(name)) continue
        if (typeof value === 'string') pairs.push([name, value])
        else for (const one of value) pairs.push([name, one])
      }
      return pairs
    },
  }
}
