import { entryOf } from '../../lib/entry-of.ts'
import { isAtYouTube } from './at-google.ts'

/** The media type that an address looks like by its ending. */
export function typeOfUrl(url: string): string | undefined {
  const path = url.split(/[?#]/, 1)[0] ?? ''
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  return entryOf(types, ending) ?? (isAtYouTube(url) ? 'video/mp4' : undefined)
}

/** The usual ending of a file's name, by its media type. */
export const endingOf = (mediaType: string): string | undefined =>
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
