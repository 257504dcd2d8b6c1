import { concatBytes, decodeUtf8Lenient } from '../lib/bytes.ts'
import type { ByteStream } from '../lib/exchange.ts'

/** Reads a body that by its content type is no stream up to its first character: some servers send events all the same. */
export async function peek(body: ByteStream): Promise<{ isEvents: boolean; body: ByteStream }> {
  const seen: Uint8Array[] = []
  let first = ''
  while (first === '') {
    const chunk = await body.next()
    if (!chunk) break
    seen.push(chunk)
    first = firstIn(chunk)
  }
  return { isEvents: EVENT_STARTS.has(first), body: following(seen, body) }
}

/** A body in which there was no event, to be read as a whole answer; `undefined` when it does not begin as a JSON object. */
export function wholeIn(chunks: readonly Uint8Array[]): ByteStream | undefined {
  const bytes = concatBytes(chunks)
  return firstIn(bytes) === '{' ? following([bytes]) : undefined
}

/** The first letters of an event's fields and of a comment; neither JSON objects nor pages begin so. */
const EVENT_STARTS: ReadonlySet<string> = new Set(['d', 'e', 'i', 'r', ':'])

const firstIn = (bytes: Uint8Array) => decodeUtf8Lenient(bytes.subarray(0, MAX_BLANK)).trimStart().slice(0, 1)

/** In bytes: as far into a chunk as its first character is looked for. */
const MAX_BLANK = 1_000

function following(seen: readonly Uint8Array[], rest?: ByteStream): ByteStream {
  let at = 0
  return {
    next: async () => seen[at++] ?? rest?.next(),
    cancel: (reason) => rest?.cancel(reason),
  }
}
