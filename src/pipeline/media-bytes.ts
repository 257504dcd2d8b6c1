import { base64Source } from '../formats/canonical/data-url.ts'
import type { MediaSource } from '../formats/canonical/media.ts'
import type { AddressedPart } from '../formats/canonical/prepare/as-bytes.ts'
import { isSniffed } from '../formats/canonical/sniff.ts'
import { decodeUtf8 } from '../lib/bytes.ts'
import { toBase64 } from '../lib/encoding.ts'

/**
 * Bytes as the source of a part; `undefined` when they are not what the part is, by what is declared and by their first bytes. A type that
 * is known by its first bytes must have them.
 */
export function mediaOfBytes(
  bytes: Uint8Array,
  declared: string,
  kind: AddressedPart['type'],
): MediaSource | undefined {
  if (kind === 'file' && declared.startsWith('text/')) return textOf(bytes, declared)
  const data = toBase64(bytes)
  const { mediaType } = base64Source('', data)
  const type = mediaType || (isSniffed(declared) ? '' : declared)
  const fits = kind === 'image' ? IMAGE.test(type) : type === 'application/pdf'
  return fits ? { type: 'base64', mediaType: type, data } : undefined
}

function textOf(bytes: Uint8Array, mediaType: string): MediaSource | undefined {
  try {
    return { type: 'text', mediaType, text: decodeUtf8(bytes) }
  } catch {
    return undefined
  }
}

/** Not `svg+xml`, which is a program as well as a picture, and which no model takes. */
const IMAGE = /^image\/[a-z0-9.-]+$/
