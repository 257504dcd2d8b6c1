import { encodeUtf8, fromBase64, toBase64 } from '../../lib/bytes.ts'

/**
 * Returns the text of a file in base64 or a data URL, or `undefined` for images, audio, video, other binary files, and files over 1 MB. Reads
 * malformed data as leniently as providers do.
 */
export function decodeFile({
  type,
  data,
  isBase64,
}: {
  type: string
  data: string
  isBase64: boolean
}): string | undefined {
  if (BINARY_PATTERN.test(type) || data.length > MAX_FILE) return undefined
  if (!isBase64) return decodePercent(data)
  const bytes = decodeBase64(data)
  if (!bytes) return undefined
  const utf16 = isTextual(type) ? findUtf16(bytes) : undefined
  try {
    return new TextDecoder(utf16 ?? 'utf-8', { fatal: !isTextual(type) }).decode(bytes)
  } catch {
    return bytes.some(isControl) ? undefined : Array.from(bytes, (byte) => String.fromCharCode(byte)).join('') // treats the bytes as Latin-1
  }
}

/** Returns a file's data with a new text. Returns `undefined` unless the data is UTF-8 and encoded exactly the way this function encodes it. */
export function encodeFile(
  changed: string,
  { text, data, isBase64 }: { text: string; data: string; isBase64: boolean },
): string | undefined {
  if (text.includes('\0')) return undefined
  const encode = (text: string) => (isBase64 ? toBase64(encodeUtf8(text)) : encodeURIComponent(text))
  const isSame = isBase64 ? encode(text) === data : decodePercent(encode(text)) === decodePercent(data)
  return isSame ? encode(changed) : undefined
}

export const isTextual = (type: string): boolean => TEXTUAL_PATTERN.test(type)

/** Matches media types that are never read as text. Files of other types are read if they are valid UTF-8 or have no control characters. */
const BINARY_PATTERN = /^(?:audio|video|image)\/(?!svg)/i
const TEXTUAL_PATTERN = /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml)\b|^image\/svg\+xml/i

/** Maximum file size, in base64 characters. */
const MAX_FILE = 1_400_000

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function decodeBase64(text: string): Uint8Array | undefined {
  const data = text.replaceAll('-', '+').replaceAll('_', '/')
  for (const candidate of [data, data.replace(/[^A-Za-z0-9+/]+/g, '')])
    try {
      return fromBase64(candidate)
    } catch {} // retried below without invalid characters
  return undefined
}

/** Detects UTF-16, which begins with a byte order mark or with ASCII characters. */
function findUtf16([first, second, third, fourth]: Uint8Array): string | undefined {
  if ((first === 0xff && second === 0xfe) || (second === 0 && fourth === 0)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && third === 0)) return 'utf-16be'
  return undefined
}

const isControl = (byte: number) => byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d)
