import type { UpstreamFormat } from '../formats/format.ts'
import { concatBytes, decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import type { ByteStream } from '../lib/exchange.ts'
import { isObject } from '../lib/json.ts'
import { arrayEvents } from './array-events.ts'
import type { Expected } from './attempt.ts'
import { contentFailure, type Failure } from './failure.ts'

/** A body under its true name: events, or what should be a JSON object. */
export interface Recognised {
  isEvents: boolean
  body: ByteStream
}

/**
 * Reads a body that by its content type is no stream up to its first character: some servers send events all the same. With `format`, an
 * array of chunks is a stream as well, where the format has such.
 */
export async function peek(body: ByteStream, format?: UpstreamFormat): Promise<Recognised> {
  const seen: Uint8Array[] = []
  let size = 0
  let first: number | undefined
  while (first === undefined && size < MAX_BLANKS) {
    const chunk = await body.next()
    if (!chunk) break
    seen.push(chunk)
    size += chunk.length
    first = firstIn(chunk)
  }
  return asEvents(following(seen, body), first, format) ?? { isEvents: false, body: following(seen, body) }
}

/** A stream in which there was no event, as what it is; `undefined` when it begins neither as an object nor as an array. */
export function withoutEvents(chunks: readonly Uint8Array[], { format }: Expected): Recognised | undefined {
  const bytes = withoutComments(concatBytes(chunks))
  const first = firstIn(bytes)
  if (first === OBJECT_START) return { isEvents: false, body: following([bytes]) }
  if (first !== ARRAY_START) return undefined
  return asEvents(following([bytes]), first, format) ?? { isEvents: false, body: following([bytes]) }
}

/** An answer that is no JSON object (`json`, if any), as what it is: the only object of an array, or a stream. */
export function withoutObject(bytes: Uint8Array, json: unknown, expected: Expected): Recognised | undefined {
  const { format, operation, stream } = expected
  if (Array.isArray(json) && json.length === 1 && isObject(json[0])) {
    const text = decodeUtf8Lenient(bytes)
    const element = text.slice(text.indexOf('[') + 1, text.lastIndexOf(']')).trim()
    return { isEvents: false, body: following([encodeUtf8(element)]) }
  }
  if (stream || operation !== 'generate') return undefined
  const bare = withoutComments(bytes)
  if (bare !== bytes && firstIn(bare) === OBJECT_START) return { isEvents: false, body: following([bare]) }
  return asEvents(following([bytes]), firstIn(bytes), format)
}

/** Without the signs of life that stand before all else. */
function withoutComments(bytes: Uint8Array): Uint8Array {
  if (firstIn(bytes) !== COMMENT_START) return bytes
  return encodeUtf8(decodeUtf8Lenient(bytes).replace(/^(?:\s*:[^\r\n]*)+/, ''))
}

/** A body that begins so, as events if it is a stream. */
function asEvents(body: ByteStream, first: number | undefined, format?: UpstreamFormat): Recognised | undefined {
  if (first === undefined) return undefined
  if (EVENT_STARTS.has(first)) return { isEvents: true, body }
  return format?.streamsArrays && first === ARRAY_START ? { isEvents: true, body: arrayEvents(body) } : undefined
}

/** The failure of a body in which there is no JSON object. */
export function noJson(text: string): Failure {
  const isPage = text.trimStart().startsWith('<')
  const what = isPage
    ? 'a page instead of an answer. Check the base URL of the connection.'
    : 'an answer that is no JSON object.'
  return contentFailure(`The provider sent ${what}`)
}

/** In bytes: what begins with more of them is read as a whole answer, which may only be so large. */
const MAX_BLANKS = 64 * 1024

const codesOf = (characters: string) => [...characters].map((character) => character.charCodeAt(0))

/**
 * The first letters of an event's fields and of a comment, and the first byte of a frame's length; neither JSON objects nor pages begin so.
 */
const EVENT_STARTS: ReadonlySet<number> = new Set([...codesOf('deir:'), 0])
const [OBJECT_START, ARRAY_START, COMMENT_START] = codesOf('{[:')
/** With the bytes of a byte order mark. */
const BLANKS: ReadonlySet<number> = new Set([...codesOf(' \t\r\n'), 0xef, 0xbb, 0xbf])

const firstIn = (bytes: Uint8Array) => bytes.find((byte) => !BLANKS.has(byte))

function following(seen: readonly Uint8Array[], rest?: ByteStream): ByteStream {
  let at = 0
  return {
    next: async () => seen[at++] ?? rest?.next(),
    cancel: (reason) => rest?.cancel(reason),
  }
}
