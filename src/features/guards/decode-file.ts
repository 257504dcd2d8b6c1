import { encodeUtf8, fromBase64, toBase64 } from '../../lib/bytes.ts'

/**
 * Returns the text of a base64 file or a data URL. Returns `undefined` for images, audio, video, other binary files, and files over 1 MB. Reads
 * malformed data as leniently as providers do. Also reads text that is mislabeled as an image, audio, or video.
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
  if (data.length > MAX_FILE_LENGTH) return undefined
  const isMedia = isMediaType(type)
  if (!isBase64)
    return isMedia && !startsAsText(encodeUtf8(data.slice(0, START_LENGTH))) ? undefined : decodePercent(data)
  if (isMedia && !startsAsText(decodeBase64(sliceStart(data)))) return undefined
  const bytes = decodeBase64(data)
  if (!bytes) return undefined
  const utf16 = isMedia ? undefined : detectUtf16(bytes, isTextualType(type))
  try {
    return new TextDecoder(utf16 ?? 'utf-8', { fatal: !isTextualType(type) }).decode(bytes)
  } catch {
    return bytes.filter(isControlByte).length > bytes.length / MIN_BYTES_PER_CONTROL
      ? undefined
      : Array.from(bytes, (byte) => String.fromCharCode(byte)).join('') // treat the bytes as Latin-1
  }
}

/**
 * Encodes a file's new text the same way as its old data. Returns `undefined` if the old data isn't UTF-8 or was encoded differently.
 */
export function encodeFile(
  changedText: string,
  { text, data, isBase64 }: { text: string; data: string; isBase64: boolean },
): string | undefined {
  if (text.includes('\0')) return undefined
  const encode = (text: string) => (isBase64 ? toBase64(encodeUtf8(text)) : encodeURIComponent(text))
  const canRoundTrip = isBase64 ? encode(text) === data : decodePercent(encode(text)) === decodePercent(data)
  return canRoundTrip ? encode(changedText) : undefined
}

export const isTextualType = (type: string): boolean => TEXTUAL_PATTERN.test(type)

/** Returns whether a media type is an image (except SVG), audio, or video. */
export const isMediaType = (type: string): boolean => MEDIA_TYPE_PATTERN.test(type)
const MEDIA_TYPE_PATTERN = /^(?:audio|video|image)\/(?!svg)/i

/** Text types. Files of any other type are read if they are valid UTF-8 or have hardly any control characters. */
const TEXTUAL_PATTERN = /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml)\b|^image\/svg\+xml/i

/** Maximum file size, in base64 characters. */
const MAX_FILE_LENGTH = 1_400_000

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
    } catch {} // retry without invalid characters
  return undefined
}

/** Returns whether the bytes start with valid text. No image, audio, or video file does. */
function startsAsText(bytes: Uint8Array | undefined): boolean {
  if (!bytes || bytes.some(isControlByte)) return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** Returns the leading base64 digits that decode to whole bytes. */
function sliceStart(data: string): string {
  const digits = data
    .slice(0, 4 * START_LENGTH)
    .replace(/[^\w+/-]+/g, '')
    .slice(0, START_LENGTH)
  return digits.slice(0, digits.length - (digits.length % 4))
}

/** How much of a file to inspect to detect its type, in base64 characters. */
const START_LENGTH = 64
/** In Latin-1 text, at most one in this many bytes may be a control character. */
const MIN_BYTES_PER_CONTROL = 32

/** Detects UTF-16, which begins with a byte order mark or with ASCII characters. */
function detectUtf16([first = 0, second, third = 0, fourth]: Uint8Array, isText: boolean): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (second === 0 && fourth === 0 && (isText || (first > 0x1f && third > 0x1f))) return 'utf-16le'
  return isText && first === 0 && third === 0 ? 'utf-16be' : undefined
}

const isControlByte = (byte: number) => byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d)
