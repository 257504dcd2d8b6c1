import { base64Source } from '../formats/canonical/data-url.ts'
import type { MediaSource } from '../formats/canonical/media.ts'
import type { AddressedPart } from '../formats/canonical/prepare/as-bytes.ts'
import { isSniffed } from '../formats/canonical/sniff.ts'
import { typeOfUrl } from '../formats/canonical/type-of-url.ts'
import { decodeUtf8 } from '../lib/bytes.ts'
import { toBase64 } from '../lib/encoding.ts'

/**
 * Bytes as the source of a part; `undefined` when they are not what the part is, by what is declared and by their first bytes. A type that
 * is known by its first bytes must have them. Where nothing is declared, the others are known by what the client says, and by the address.
 */
export function mediaOfBytes(
  bytes: Uint8Array,
  declared: string,
  { type: kind, source: asked }: AddressedPart,
): MediaSource | undefined {
  if (kind === 'file' && declared.startsWith('text/')) return textOf(bytes, declared)
  const data = toBase64(bytes)
  const said = UNSAID.test(declared) ? (asked.mediaType?.toLowerCase() ?? typeOfUrl(asked.url) ?? '') : declared
  const mediaType = base64Source('', data).mediaType || (isSniffed(said) ? '' : said)
  return TYPES[kind].test(mediaType) ? { type: 'base64', mediaType, data } : undefined
}

function textOf(bytes: Uint8Array, mediaType: string): MediaSource | undefined {
  try {
    return { type: 'text', mediaType, text: decodeUtf8(bytes) }
  } catch {
    return undefined
  }
}

const UNSAID = /^(?:|(?:application|binary)\/octet-stream)$/

/** Not `svg+xml`, which is a program as well as a picture, and which no model takes. */
const TYPES: Readonly<Record<AddressedPart['type'], RegExp>> = {
  image: /^image\/[a-z0-9.-]+$/,
  audio: /^audio\/[a-z0-9.+-]+$/,
  video: /^video\/[a-z0-9.+-]+$/,
  file: /^application\/(?:pdf|rtf|msword|vnd\.(?:ms-(?:excel|powerpoint)|openxmlformats-officedocument|oasis\.opendocument)[a-z0-9.-]*)$/,
}
