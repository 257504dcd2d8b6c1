import { escapeJson, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { decodeFile, encodeFile, isMediaType, isTextualType } from './decode-file.ts'
import type { GuardPartKind, GuardRole } from './guard.ts'
import type { JsonString } from './json-strings.ts'

/** The part to add for an encoded string. */
interface EncodedPart {
  role: GuardRole
  kind: GuardPartKind
  text?: string
  media?: 'unreadable' | 'remote'
  write?(text: string): string | undefined
}

/** Adds strings with encoded content: JSON, data URLs, and base64 files. */
export class EncodedParts<Scope extends { value: JsonObject | undefined }> {
  readonly #addPart: (string: JsonString<Scope>, part: EncodedPart) => void

  constructor(addPart: (string: JsonString<Scope>, part: EncodedPart) => void) {
    this.#addPart = addPart
  }

  /** Adds a string of JSON, such as a tool's arguments. Decodes escaped letters so guards can read them. */
  addArguments(string: JsonString<Scope>, role: GuardRole) {
    const isJson = tryParseJson(string.text) !== undefined
    const text = isJson ? decodeEscapes(string.text) : string.text
    const write = (changedText: string) =>
      isJson && tryParseJson(changedText) === undefined ? undefined : `"${escapeJson(changedText)}"`
    this.#addPart(string, { role, kind: 'tool-call', text, write })
  }

  /** Adds the content of a data URL. Returns `false` if the string must also be checked as text, because models also read it that way. */
  addDataUrl(string: JsonString<Scope>, role: GuardRole): boolean {
    const { field, scope } = string
    const comma = string.text.indexOf(',')
    const prefix = string.text.slice(0, comma + 1)
    const [type = '', ...options] = prefix.slice('data:'.length, -1).split(';')
    const isFile = (DATA_FIELDS.has(field) || REMOTE_FIELDS.has(field)) && scope.value?.type !== 'text'
    const isBase64 = options.includes('base64')
    if (isFile || isBase64)
      this.#addFile(string, role, {
        type,
        data: string.text.slice(comma + 1),
        isBase64,
        prefix: isFile ? prefix : undefined,
      })
    const hasKnownOptions = options.every((option) => option === 'base64' || option.startsWith('charset='))
    if (isFile && !hasKnownOptions) this.#addPart(string, { role, kind: 'media', text: prefix, write: () => undefined })
    return isFile
  }

  /** Adds the data or URL of an image, audio, or file. Returns `false` if the string must also be checked as text. */
  addMedia(string: JsonString<Scope>, role: GuardRole): boolean {
    const { text, field, scope } = string
    if (REMOTE_FIELDS.has(field)) {
      this.#addPart(string, { role, kind: 'media', media: 'remote' })
      return true
    }
    if (!DATA_FIELDS.has(field) || scope.value?.type === 'text') return false
    const type = readMediaType(scope.value)
    const isBase64Text = BASE64_PATTERN.test(text)
    if (isBase64Text && text.length <= MAX_KEYWORD_LENGTH)
      this.#addPart(string, { role, kind: 'media', write: () => undefined })
    if (isBase64Text || isTextualType(type))
      this.#addFile(string, role, { type, data: text, isBase64: true, prefix: isBase64Text ? '' : undefined })
    return isBase64Text
  }

  #addFile(
    string: JsonString<Scope>,
    role: GuardRole,
    { prefix, ...file }: { type: string; data: string; isBase64: boolean; prefix: string | undefined },
  ) {
    const text = decodeFile(file)
    const content = {
      text: text ?? '',
      ...((text === undefined || isMediaType(file.type)) && { media: 'unreadable' as const }),
    }
    const write = (changedText: string) => {
      const data = prefix === undefined || text === undefined ? undefined : encodeFile(changedText, { ...file, text })
      return data === undefined || UNWRITABLE_PREFIX_PATTERN.test(prefix ?? '') ? undefined : `"${prefix}${data}"`
    }
    this.#addPart(string, { role, kind: 'media', ...content, write })
  }
}

/** Fields that contain the data or the URL of media. */
const DATA_FIELDS = new Set([
  'data',
  'file_data',
  'fileData',
  'bytes',
  'bytesBase64Encoded',
  'b64_json',
  'image',
  'audio',
])
const REMOTE_FIELDS = new Set([
  'url',
  'uri',
  'image_url',
  'file_url',
  'file_id',
  'fileId',
  'fileUri',
  'file_uri',
  'audio_url',
])

/** Matches the prefix of a data URL whose text can't be written back. */
const UNWRITABLE_PREFIX_PATTERN = /["\\]|charset=(?!utf-?8\b)/i

const BASE64_PATTERN = /^[\w+/\s-]+={0,2}[\r\n]{0,2}$/
const DATA_URL = /^data:(?:[\w.+-]+\/[\w.+-]+)?(?:;[^,;]*)*,/i
/** Returns whether a string looks like the start of a data URL. */
export const isDataUrl = (text: string) => (text.charCodeAt(0) | 0x20) === 0x64 && DATA_URL.test(text)

/** Maximum length of base64 data that is also read as text, in characters. */
const MAX_KEYWORD_LENGTH = 1_000

function readMediaType(object: JsonObject | undefined): string {
  for (const name of ['media_type', 'mediaType', 'mimeType', 'mime_type', 'format']) {
    const type = object?.[name]
    if (typeof type === 'string') return type
  }
  return ''
}

/** Decodes escaped letters in JSON without changing its value. */
const decodeEscapes = (json: string): string =>
  json.replace(/\\(?:u([\da-fA-F]{4})|[\s\S])/g, (sequence, digits?: string) => {
    const code = digits === undefined ? 0 : Number.parseInt(digits, 16)
    const canUnescape = code >= 0x20 && code !== 0x22 && code !== 0x5c && (code < 0xd800 || code > 0xdfff)
    return canUnescape ? String.fromCharCode(code) : sequence
  })
