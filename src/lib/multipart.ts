import { gatewayError } from '../errors.ts'
import { concatBytes, decodeUtf8, decodeUtf8Lenient, encodeUtf8, randomBytes, toHex } from './bytes.ts'

/** A part of a form: a field, or a file if it has bytes. */
export type FormPart = FormField | FormFile

export interface FormField {
  name: string
  value: string
}

export interface FormFile {
  name: string
  /** The client's name for the file, without folders. */
  fileName: string | undefined
  /** Lowercase, without parameters; may be empty. */
  type: string
  /** A view of the upload, not a copy. */
  bytes: Uint8Array
  /** Returns the duration of the file's audio if its headers contain it. */
  seconds?(): number | undefined
}

export const isFile = (part: FormPart): part is FormFile => 'bytes' in part

const MAX_PARTS = 1_000
/** Maximum size of a part's headers, in bytes. */
const MAX_HEADER_BYTES = 8 * 1024

/** Parses `multipart/form-data` (RFC 7578). Files are views of the bytes. Throws `INVALID_REQUEST` with the reason if the form is malformed or incomplete. */
export function parseForm(bytes: Uint8Array, contentType: string): readonly FormPart[] {
  const boundary = getBoundary(contentType)
  const delimiter = encodeUtf8(`\r\n--${boundary}`)
  const parts: FormPart[] = []
  let position = startsWith(bytes, delimiter.subarray(2), 0) ? delimiter.length - 2 : findAfter(bytes, delimiter, 0)
  if (position === -1)
    throw createMalformedError(`it has no line "--${shorten(boundary)}" with the boundary from its content type`)
  for (;;) {
    if (bytes[position] === DASH && bytes[position + 1] === DASH) return parts
    while (bytes[position] === SPACE || bytes[position] === TAB) position++
    if (bytes[position] !== CR || bytes[position + 1] !== LF)
      throw createMalformedError('a boundary is not followed by a line break')
    if (parts.length === MAX_PARTS) throw createMalformedError(`it has more than ${MAX_PARTS} parts`)
    const headersEnd = startsWith(bytes, BLANK_LINE.subarray(2), position + 2)
      ? position
      : findBytes(bytes, BLANK_LINE, position + 2, position + 2 + MAX_HEADER_BYTES)
    if (headersEnd === -1) throw createMalformedError('the headers of a part do not end with an empty line')
    const start = headersEnd + BLANK_LINE.length
    const end = findBytes(bytes, delimiter, start - 2) // in an empty part, the line break before the delimiter also ends the headers
    if (end === -1) throw createMalformedError('its last boundary is missing, so it is incomplete')
    parts.push(parsePart(bytes.subarray(position + 2, headersEnd), bytes.subarray(start, Math.max(start, end))))
    position = end + delimiter.length
  }
}

/** Writes a form with a random boundary: fields first, then files. */
export function serializeForm(parts: readonly FormPart[]): { contentType: string; bytes: Uint8Array } {
  const boundary = `----${toHex(randomBytes(24))}`
  const chunks = [...parts.filter((part) => !isFile(part)), ...parts.filter(isFile)].flatMap((part) => {
    const header = `--${boundary}\r\ncontent-disposition: form-data; name="${escapeQuotes(part.name)}"`
    if (!isFile(part)) return [encodeUtf8(`${header}\r\n\r\n${part.value}\r\n`)]
    const type = part.type || 'application/octet-stream'
    const fileHeaders = `; filename="${escapeQuotes(part.fileName ?? createFileName(part))}"\r\ncontent-type: ${type}\r\n\r\n`
    return [encodeUtf8(header + fileHeaders), part.bytes, LINE_BREAK]
  })
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: concatBytes([...chunks, encodeUtf8(`--${boundary}--\r\n`)]),
  }
}

/** Creates a name for a file without one, because some vendors detect a file's format by its extension. */
const createFileName = ({ name, type }: FormFile): string =>
  `${name.replace(/\W+/g, '') || 'file'}.${getFileExtension(type)}`

/** Returns a media type's file extension; `bin` if it is unknown. */
export function getFileExtension(type: string): string {
  const subtype = type.slice(type.indexOf('/') + 1).replace(/^x-/, '')
  return EXTENSIONS[subtype] ?? (/^[a-z\d]{2,5}$/.test(subtype) ? subtype : 'bin')
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  mpeg: 'mp3',
  mpga: 'mp3',
  jpeg: 'jpg',
  wave: 'wav',
  'vnd.wave': 'wav',
  'octet-stream': 'bin',
  quicktime: 'mov',
}

function getBoundary(contentType: string): string {
  const [, quoted, unquoted] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? unquoted
  if (boundary === undefined || boundary === '')
    throw createMalformedError('its content type has no boundary. Let the HTTP client set the content type')
  if (boundary.length > 70) throw createMalformedError('its boundary is longer than 70 characters')
  return boundary
}

function parsePart(header: Uint8Array, bytes: Uint8Array): FormPart {
  let disposition: string | undefined
  let type = ''
  for (const line of decodeUtf8Lenient(header).split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (line !== '' && name === '') throw createMalformedError('a header of a part has no name')
    if (name === 'content-disposition') {
      if (disposition !== undefined) throw createMalformedError('a part has two content-disposition headers')
      disposition = value
    } else if (name === 'content-type') type = (value.split(';')[0] ?? '').trim().toLowerCase()
    else if (name === 'content-transfer-encoding' && !/^(?:7bit|8bit|binary)$/i.test(value))
      throw createMalformedError('a part has a transfer encoding other than "binary"')
  }
  if (disposition === undefined || !/^form-data\s*(?:;|$)/i.test(disposition))
    throw createMalformedError('a part lacks the header "content-disposition: form-data"')
  const name = readParameter(disposition, 'name')
  if (name === undefined || name === '') throw createMalformedError('a part has no name')
  if (name.length > MAX_NAME_LENGTH)
    throw createMalformedError(`the name of a part is longer than ${MAX_NAME_LENGTH} characters`)
  const filename = readParameter(disposition, 'filename') ?? readExtendedFileName(disposition)
  if (filename !== undefined) {
    const fileName = filename
      .slice(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1)
      .slice(0, MAX_NAME_LENGTH)
    return { name, fileName: fileName || undefined, type: sanitizeType(type), bytes }
  }
  if (/^(?:audio|image|video)\/|^application\/octet-stream$/.test(type))
    return { name, fileName: undefined, type: sanitizeType(type), bytes }
  try {
    return { name, value: decodeUtf8(bytes) }
  } catch {
    throw createMalformedError(`the field "${shorten(name)}" is not UTF-8`)
  }
}

const MAX_NAME_LENGTH = 300

const sanitizeType = (type: string) => (/^[\w.+-]{1,80}\/[\w.+-]{1,80}$/.test(type) ? type : '')

/** Reads a content disposition parameter. Browsers and libraries escape quotes differently. */
function readParameter(disposition: string, name: keyof typeof PARAMETERS): string | undefined {
  const [, quoted, unquoted] = PARAMETERS[name].exec(disposition) ?? []
  return quoted === undefined ? unquoted : quoted.replace(/\\(["\\])/g, '$1').replace(/%22/g, '"')
}

const PARAMETERS = {
  name: /;\s*name\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i,
  filename: /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i,
}

/** Reads the RFC 5987 form, which some libraries use for non-ASCII names. */
function readExtendedFileName(disposition: string): string | undefined {
  const [, encoded] = /;\s*filename\*\s*=\s*utf-8''([^\s;]+)/i.exec(disposition) ?? []
  if (encoded === undefined) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch {
    throw createMalformedError('the name of a file is not percent-encoded UTF-8')
  }
}

/** Escapes a name as browsers do. */
const escapeQuotes = (text: string) =>
  text.replace(/["\r\n]/g, (character) => (character === '"' ? '%22' : character === '\r' ? '%0D' : '%0A'))

const createMalformedError = (problem: string) =>
  gatewayError('INVALID_REQUEST', { message: `The form (multipart/form-data) cannot be read: ${problem}.` })

const shorten = (text: string) => text.slice(0, 70)

const [CR = 13, LF = 10, DASH = 45, SPACE = 32, TAB = 9] = [...encodeUtf8('\r\n- \t')]
const LINE_BREAK = encodeUtf8('\r\n')
const BLANK_LINE = encodeUtf8('\r\n\r\n')

const findAfter = (bytes: Uint8Array, needle: Uint8Array, from: number): number => {
  const index = findBytes(bytes, needle, from)
  return index === -1 ? -1 : index + needle.length
}

/** Returns the index of `needle`, which starts with a line break, at or after `from` and before `end`, or otherwise -1. */
function findBytes(bytes: Uint8Array, needle: Uint8Array, from: number, end = bytes.length): number {
  for (let index = bytes.indexOf(CR, from); index !== -1 && index < end; index = bytes.indexOf(CR, index + 1))
    if (startsWith(bytes, needle, index)) return index
  return -1
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array, offset: number): boolean {
  let matchLength = 0
  while (matchLength < prefix.length && bytes[offset + matchLength] === prefix[matchLength]) matchLength++
  return matchLength === prefix.length
}
