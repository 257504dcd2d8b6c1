import { gatewayError } from '../errors.ts'
import { encodeUtf8, toHex } from './bytes.ts'
import type { Exchange } from './exchange.ts'

const BEARER_PATTERN = /^Bearer +\S+ *$/i

/** Returns the credential of an `Authorization: Bearer` header, or `undefined` for any other value. */
export function getBearerToken(authorization: string | null | undefined): string | undefined {
  return authorization && BEARER_PATTERN.test(authorization) ? authorization.slice('Bearer '.length).trim() : undefined
}

type HeaderReader = Pick<Exchange, 'header'>

/** Throws `UNSUPPORTED_MEDIA_TYPE` unless the content type is JSON. Other sites can't send JSON without a preflight request. */
export function requireJson(exchange: HeaderReader): void {
  const contentType = exchange.header('content-type')
  const [essence = ''] = (contentType ?? '').split(';')
  if (!/^application\/(?:[\w.-]+\+)?json$/i.test(essence.trim()))
    throw createUnsupportedError(
      `Send JSON with the header "content-type: application/json"${contentType ? `, not "${contentType.slice(0, MAX_QUOTED_LENGTH)}"` : ''}.`,
    )
}

/** Returns whether this is the content type of a form with files. */
export const isMultipart = (contentType: string | undefined): boolean =>
  /^\s*multipart\/form-data\b/i.test(contentType ?? '')

/** Throws `UNSUPPORTED_MEDIA_TYPE` if the headers declare a compressed body, or a charset other than UTF-8 or ASCII. */
export function requirePlainUtf8(exchange: HeaderReader): void {
  const encoding = exchange.header('content-encoding')?.trim().toLowerCase()
  if (encoding && encoding !== 'identity')
    throw createUnsupportedError('Compressed request bodies are not accepted. Send the JSON uncompressed.')
  const match = CHARSET_PATTERN.exec(exchange.header('content-type') ?? '')
  const charset = match ? (match[1] ?? match[2] ?? '').trim() : ''
  if (charset !== '' && !UTF_8_PATTERN.test(charset))
    throw createUnsupportedError(
      `Send the JSON in UTF-8; the content-type says "${charset.slice(0, MAX_QUOTED_LENGTH)}".`,
    )
}

const createUnsupportedError = (message: string) => gatewayError('UNSUPPORTED_MEDIA_TYPE', { message })

const CHARSET_PATTERN = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;,]*))/i
const UTF_8_PATTERN = /^(?:utf-?8|(?:us-)?ascii)$/i
const MAX_QUOTED_LENGTH = 60

const MAX_ELEMENT_LENGTH = 300

/** Formats a string as a list element in a header: percent-encodes list separators and everything but printable ASCII. */
export function toHeaderSafe(text: string): string {
  const excerpt = text.slice(0, MAX_ELEMENT_LENGTH)
  if (/^[\x21-\x2b\x2d-\x3a\x3c-\x7e]*$/.test(excerpt)) return excerpt
  let safeText = ''
  for (const character of excerpt) {
    const encoded = /[\x21-\x2b\x2d-\x3a\x3c-\x7e]/.test(character) ? character : percentEncode(character)
    if (safeText.length + encoded.length > MAX_ELEMENT_LENGTH) break
    safeText += encoded
  }
  return safeText
}

const percentEncode = (character: string) =>
  toHex(encodeUtf8(character)).replace(/../g, (byte) => `%${byte.toUpperCase()}`)
