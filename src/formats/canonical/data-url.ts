import type { MediaSource } from './media.ts'

/** A URL as clients give it for an image or a file: a data URL becomes its bytes, everything else stays a URL. */
export function sourceOfUrl(url: string, otherwise = 'application/octet-stream'): MediaSource {
  const comma = url.slice(0, MAX_HEAD).indexOf(',')
  if (comma === -1 || !/^data:/i.test(url)) return { type: 'url', url }
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).split(';')
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')
  const data = url.slice(comma + 1)
  return base64Source(mediaType.trim().toLowerCase() || otherwise, isBase64 ? data : percentToBase64(data))
}

/** Bytes as base64 of the standard alphabet, with the media type that they begin like, where they begin like one. */
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

/** Providers check that bytes are what they are said to be. */
const sniff = (base64: string) => signatures.find(([start]) => base64.startsWith(start))?.[1]

const signatures = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw0KGgo', 'image/png'],
  ['R0lGOD', 'image/gif'],
  ['JVBERi', 'application/pdf'],
] as const

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

/** The part of a data URL before its comma is short. */
const MAX_HEAD = 200
