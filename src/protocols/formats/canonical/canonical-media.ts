import { getEntry } from '../../../lib/maps.ts'
import type { WireFormat } from '../../../types.ts'

/** The source of an image, file, audio, or video. */
export type MediaSource =
  | { type: 'base64'; mediaType: string; data: string }
  | { type: 'url'; url: string; mediaType?: string }
  /** A file ID from one vendor. No other format can use it. */
  | { type: 'file-id'; id: string; format: WireFormat; mediaType?: string }
  /** A document that is plain text. */
  | { type: 'text'; mediaType: string; text: string }

/** Parses a client's URL. A data URL becomes base64 data; `fallbackType` is the media type for data URLs that don't name one. */
export function parseMediaUrl(url: string, fallbackType = 'application/octet-stream'): MediaSource {
  const commaIndex = url.slice(0, MAX_HEADER_LENGTH).indexOf(',')
  if (commaIndex === -1 || !/^data:/i.test(url)) return toUrlSource(url)
  const [mediaType = '', ...parameters] = url.slice('data:'.length, commaIndex).split(';')
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')
  const data = url.slice(commaIndex + 1)
  return createBase64Source(mediaType.trim().toLowerCase() || fallbackType, isBase64 ? data : percentToBase64(data))
}

/** Creates a source from a URL. If Google stores the file, the URL becomes a file ID, because only Google can read it. */
export const toUrlSource = (url: string): MediaSource =>
  isGoogleFileUrl(url) ? { type: 'file-id', id: url, format: 'gemini' } : { type: 'url', url }

/** Creates a source from base64, converted to the standard alphabet. If the first bytes are recognized, they determine the media type. */
export function createBase64Source(declaredType: string, data: string): MediaSource & { type: 'base64' } {
  const normalizedData = /[\s_-]/.test(data) ? data.replace(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/') : data
  const sniffedType = base64Signatures.find(([pattern]) => pattern.test(normalizedData))?.[1] // providers check that it matches the declared type
  return {
    type: 'base64',
    mediaType: sniffedType ?? (declaredType === 'image/jpg' ? 'image/jpeg' : declaredType),
    data: normalizedData,
  }
}

export const toDataUrl = ({ mediaType, data }: { mediaType: string; data: string }): string =>
  `data:${mediaType};base64,${data}`

function percentToBase64(text: string): string {
  let bytes = ''
  for (const byte of new TextEncoder().encode(decodePercentEscapes(text))) bytes += String.fromCharCode(byte)
  return btoa(bytes)
}

function decodePercentEscapes(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The maximum length of a data URL's header, which is the part before the comma. */
const MAX_HEADER_LENGTH = 200

/** Returns whether Google stores this file for a customer. If so, no other provider can read it. */
export const isGoogleFileUrl = (url: string): boolean => GOOGLE_FILE_PATTERN.test(url)

/** Returns whether this is a YouTube video, which Google's models read by URL and which can't be downloaded. */
export const isYouTubeUrl = (url: string): boolean => YOUTUBE_PATTERN.test(url)

const GOOGLE_FILE_PATTERN = /^(?:gs:|https?:\/\/[a-z0-9.-]*googleapis\.com\/v[^/]*\/files\/)/i
const YOUTUBE_PATTERN = /^https?:\/\/(?:www\.|m\.)?youtu(?:\.be|be\.com)\//i

/** Guesses the media type from a URL's file extension. */
export function guessMediaType(url: string): string | undefined {
  const path = url.split(/[?#]/, 1)[0] ?? ''
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  return getEntry(mediaTypesByExtension, extension) ?? (isYouTubeUrl(url) ? 'video/mp4' : undefined)
}

/** Returns the usual file extension for a media type. */
export const getFileExtension = (mediaType: string): string | undefined =>
  Object.keys(mediaTypesByExtension).find((extension) => mediaTypesByExtension[extension] === mediaType)

const mediaTypesByExtension: Readonly<Record<string, string>> = {
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

/** Returns whether this media type can be recognized by its first bytes. */
export const canSniff = (mediaType: string): boolean => base64Signatures.some(([, type]) => type === mediaType)

const base64Signatures = [
  [/^\/9j\//, 'image/jpeg'],
  [/^iVBORw0KGgo/, 'image/png'],
  [/^R0lGOD/, 'image/gif'],
  [/^UklGR.{7}RUJQ/, 'image/webp'],
  [/^JVBERi/, 'application/pdf'],
] as const
