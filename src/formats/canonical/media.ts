import { entryOf } from '../../lib/maps.ts'
import type { WireFormat } from '../../types.ts'

/** The source of an image, a file, a sound or a video. */
export type MediaSource =
  | { type: 'base64'; mediaType: string; data: string }
  | { type: 'url'; url: string; mediaType?: string }
  /** An id at one vendor, which no other format can use. */
  | { type: 'file-id'; id: string; format: WireFormat; mediaType?: string }
  /** A document that is plain text. */
  | { type: 'text'; mediaType: string; text: string }

/** The source that a client's URL stands for: a data URL becomes its bytes, any other stays an address. */
export function sourceOfUrl(url: string, otherwise = 'application/octet-stream'): MediaSource {
  const comma = url.slice(0, MAX_HEAD).indexOf(',')
  if (comma === -1 || !/^data:/i.test(url)) return sourceOfAddress(url)
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).split(';')
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')
  const data = url.slice(comma + 1)
  return base64Source(mediaType.trim().toLowerCase() || otherwise, isBase64 ? data : percentToBase64(data))
}

/** The address of a file that Google stores becomes a file id, since only Google can read it. */
export const sourceOfAddress = (url: string): MediaSource =>
  isGoogleFile(url) ? { type: 'file-id', id: url, format: 'gemini' } : { type: 'url', url }

/** Base64 bytes in the standard alphabet, with the media type of their first bytes, if these are known. */
export function base64Source(declared: string, data: string): MediaSource & { type: 'base64' } {
  const clean = /[\s_-]/.test(data) ? data.replace(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/') : data
  return {
    type: 'base64',
    mediaType: sniff(clean) ?? (declared === 'image/jpg' ? 'image/jpeg' : declared),
    data: clean,
  }
}

export const dataUrl = ({ mediaType, data }: { mediaType: string; data: string }): string =>
  `data:${mediaType};base64,${data}`

function percentToBase64(text: string): string {
  let bytes = ''
  for (const byte of new TextEncoder().encode(decode(text))) bytes += String.fromCharCode(byte)
  return btoa(bytes)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The longest part of a data URL before its comma, in characters. */
const MAX_HEAD = 200

/** Is this the address of a file that Google stores for a customer, which no other provider can read? */
export const isGoogleFile = (url: string): boolean => GOOGLE_FILE.test(url)

/** Is this the address of a video at YouTube, which Google's models read by its address and which cannot be downloaded? */
export const isAtYouTube = (url: string): boolean => YOUTUBE.test(url)

const GOOGLE_FILE = /^(?:gs:|https?:\/\/[a-z0-9.-]*googleapis\.com\/v[^/]*\/files\/)/i
const YOUTUBE = /^https?:\/\/(?:www\.|m\.)?youtu(?:\.be|be\.com)\//i

/** The media type that the file extension of an address stands for. */
export function typeOfUrl(url: string): string | undefined {
  const path = url.split(/[?#]/, 1)[0] ?? ''
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  return entryOf(types, ending) ?? (isAtYouTube(url) ? 'video/mp4' : undefined)
}

/** The usual file extension of a media type. */
export const fileExtensionOf = (mediaType: string): string | undefined =>
  Object.keys(types).find((ending) => types[ending] === mediaType)

const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  json: 'application/json',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ppt: 'application/vnd.ms-powerpoint',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text',
  rtf: 'application/rtf',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mpeg: 'video/mpeg',
}

/** The media type that the first bytes show, given in base64; providers compare it with the declared type. */
const sniff = (base64: string): string | undefined => signatures.find(([start]) => start.test(base64))?.[1]

/** Can this media type be recognized by its first bytes? */
export const isSniffed = (mediaType: string): boolean => signatures.some(([, type]) => type === mediaType)

const signatures = [
  [/^\/9j\//, 'image/jpeg'],
  [/^iVBORw0KGgo/, 'image/png'],
  [/^R0lGOD/, 'image/gif'],
  [/^UklGR.{7}RUJQ/, 'image/webp'],
  [/^JVBERi/, 'application/pdf'],
] as const
