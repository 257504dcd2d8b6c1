import { isGoogleFile } from './at-google.ts'
import type { MediaSource } from './media.ts'
import { sniff } from './sniff.ts'

/** The source that a client's URL stands for: a data URL becomes its bytes, any other stays an address. */
export function sourceOfUrl(url: string, otherwise = 'application/octet-stream'): MediaSource {
  const comma = url.slice(0, MAX_HEAD).indexOf(',')
  if (comma === -1 || !/^data:/i.test(url)) return sourceOfAddress(url)
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).split(';')
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')
  const data = url.slice(comma + 1)
  return base64Source(mediaType.trim().toLowerCase() || otherwise, isBase64 ? data : percentToBase64(data))
}

/** A file that Google keeps is one by its id, as only Google can look at it. */
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

/** In characters: the part of a data URL before its comma. */
const MAX_HEAD = 200
