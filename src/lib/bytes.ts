import type { ByteStream } from './exchange.ts'

const encoder = new TextEncoder()
const strictDecoder = new TextDecoder('utf-8', { fatal: true })
const lenientDecoder = new TextDecoder()

export const encodeUtf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text)

/** Throws a TypeError on bytes that are not UTF-8; a byte order mark is dropped. */
export const decodeUtf8 = (bytes: Uint8Array): string => strictDecoder.decode(bytes)

/** Replaces what is not UTF-8 instead of throwing. */
export const decodeUtf8Lenient = (bytes: Uint8Array): string => lenientDecoder.decode(bytes)

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts
  if (first && parts.length === 1) return first
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Reads a stream to its end. Calls `tooLarge` and cancels the source when `maxBytes` is passed. */
export async function readAll(stream: ByteStream, maxBytes: number, tooLarge: () => Error): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  if (stream.whole) {
    const bytes = await stream.whole()
    if (bytes.length > maxBytes) throw tooLarge()
    return bytes
  }
  for (let chunk = await stream.next(); chunk; chunk = await stream.next()) {
    size += chunk.length
    if (size > maxBytes) {
      const error = tooLarge()
      stream.cancel(error)
      throw error
    }
    parts.push(chunk)
  }
  return concatBytes(parts)
}

/**
 * The body of a Fetch request or response. JSON of a small known length is read in one go: on some platforms a stream costs more
 * than all else of a request.
 */
export function bodyOf(message: Request | Response): ByteStream {
  return isSmallJson(message.headers) ? wholeOf(message) : streamOf(message)
}

/** What is compressed may grow when it is unpacked. */
function isSmallJson(headers: Headers): boolean {
  const length = headers.get('content-length')
  if (length === null || Number(length) > MAX_WHOLE || headers.has('content-encoding')) return false
  return headers.get('content-type')?.includes('json') ?? false
}

const MAX_WHOLE = 1024 * 1024

function wholeOf(message: Request | Response): ByteStream {
  let isTaken = false
  async function whole() {
    isTaken = true
    return new Uint8Array(await message.arrayBuffer())
  }
  return {
    whole,
    async next() {
      const bytes = isTaken ? undefined : await whole()
      return bytes?.length ? bytes : undefined
    },
    cancel() {
      if (!isTaken) streamOf(message).cancel()
      isTaken = true
    },
  }
}

function streamOf({ body }: Request | Response): ByteStream {
  const reader = body?.getReader()
  return {
    next: async () => (await reader?.read())?.value,
    cancel: (reason) => void reader?.cancel(reason).catch(() => {}), // the caller has already moved on
  }
}
