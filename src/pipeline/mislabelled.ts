import { concatBytes } from '../lib/bytes.ts'
import type { ByteStream } from '../lib/exchange.ts'
import { contentFailure, type Failure } from './failure.ts'

/** Reads a body that by its content type is no stream up to its first character: some servers send events all the same. */
export async function peek(body: ByteStream): Promise<{ isEvents: boolean; body: ByteStream }> {
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
  return { isEvents: first !== undefined && EVENT_STARTS.has(first), body: following(seen, body) }
}

/** A body in which there was no event, to be read as a whole answer; `undefined` when it does not begin as a JSON object. */
export function wholeIn(chunks: readonly Uint8Array[]): ByteStream | undefined {
  const bytes = concatBytes(chunks)
  return firstIn(bytes) === OBJECT_START ? following([bytes]) : undefined
}

/** A body in which there is no JSON, to be read as events; `undefined` when it does not begin as such. */
export function eventsIn(bytes: Uint8Array): ByteStream | undefined {
  const first = firstIn(bytes)
  return first !== undefined && EVENT_STARTS.has(first) ? following([bytes]) : undefined
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
const [OBJECT_START] = codesOf('{')
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
