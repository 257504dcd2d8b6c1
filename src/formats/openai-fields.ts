import { isObject, type JsonObject } from '../lib/json.ts'
import { entryOf } from '../lib/maps.ts'
import { elementFields, type Fields } from './canonical/fields.ts'
import { shortId } from './canonical/ids.ts'
import { fileExtensionOf, type MediaSource } from './canonical/media.ts'
import type { AudioPart, CacheMark, TextPart, TokenLogprob, UserPart } from './canonical/parts.ts'
import type { RequestOptions } from './canonical/request.ts'
import { defined } from './canonical/values.ts'
import type { FieldNames, Warnings } from './canonical/warnings.ts'
import type { TargetContext } from './translator.ts'

/** The form of content in one of OpenAI's two formats: a string, or an array of parts. */
export interface ContentForm {
  /** Parses one part; `undefined` for an empty text. */
  parsePart(fields: Fields, warnings: Warnings): UserPart | undefined
  /** May a part also be a string? */
  takesStrings: boolean
  /** The format's names for the fields of parts. */
  names: FieldNames
}

/** The content in the member `name`, without empty texts. Throws `INVALID_REQUEST`, naming what is neither a string nor a part. */
export function parseContent(item: Fields, name: string, warnings: Warnings, form: ContentForm): UserPart[] {
  const content = item.any(name)
  if (content === undefined || content === '') return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const path = item.path(name)
  if (!Array.isArray(content)) return warnings.refuse(path, 'must be a string or an array of parts.')
  return content.flatMap((entry: unknown, index): UserPart[] => {
    if (form.takesStrings && typeof entry === 'string') return entry === '' ? [] : [{ type: 'text', text: entry }]
    const fields = elementFields(entry, `${path}[${index}]`, warnings)
    const part = form.parsePart(fields, warnings)
    fields.drop()
    if (!part) return []
    warnings.place(part, fields.at, form.names)
    return [part]
  })
}

/** The content of instructions, where only text is allowed. */
export function parseTexts(item: Fields, name: string, warnings: Warnings, form: ContentForm): TextPart[] {
  return parseContent(item, name, warnings, form).map((part) =>
    part.type === 'text' ? part : warnings.refuse(item.path(name), `a part of type ${part.type} has no place here.`),
  )
}

/** Parses `prompt_cache_options`, and the older `prompt_cache_retention`. */
export function parseCacheOptions(body: Fields): RequestOptions['cacheOptions'] {
  const options = body.fields('prompt_cache_options')
  const mode = options?.wordOrDrop('mode', ['implicit', 'explicit'])
  const ttl = options?.text('ttl') ?? body.text('prompt_cache_retention')
  options?.drop()
  return mode === undefined && ttl === undefined ? undefined : defined({ mode, ttl })
}

/** Writes cache options: the two values of the older `prompt_cache_retention` as that field, others as `prompt_cache_options`. */
export function wireCacheOptions(options: RequestOptions['cacheOptions']) {
  const { mode, ttl } = options ?? {}
  if (ttl === '24h' || ttl === 'in_memory') return { prompt_cache_retention: ttl }
  return mode || ttl ? { prompt_cache_options: defined({ mode, ttl }) } : {}
}

/** Parses `safety_identifier`, and the older `user`. */
export const parseEndUser = (body: Fields): string | undefined => body.text('safety_identifier') ?? body.text('user')

/** The value of `safety_identifier`, of which OpenAI accepts at most 128 characters. */
export const wireEndUser = (endUser: string | undefined): string | undefined =>
  endUser === undefined ? undefined : shortId(endUser, 128)

/** Parses `service_tier`. */
export const parseServiceTier = (body: Fields): RequestOptions['serviceTier'] =>
  body.wordOrDrop('service_tier', ['auto', 'default', 'flex', 'scale', 'priority', 'fast'])

type SingleToken = Omit<TokenLogprob, 'top'>

/** Parses a list of tokens with their probabilities; `undefined` if it holds none. */
export function parseTokens(list: unknown): TokenLogprob[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  const tokens = list.flatMap((entry: unknown): TokenLogprob[] => {
    const token = parseToken(entry)
    if (!token || !isObject(entry)) return []
    const top = Array.isArray(entry.top_logprobs) ? entry.top_logprobs.flatMap((other) => parseToken(other) ?? []) : []
    return [{ ...token, top }]
  })
  return tokens.length > 0 ? tokens : undefined
}

function parseToken(entry: unknown): SingleToken | undefined {
  if (!isObject(entry) || typeof entry.token !== 'string' || typeof entry.logprob !== 'number') return undefined
  const bytes = Array.isArray(entry.bytes) ? entry.bytes.filter((byte) => typeof byte === 'number') : null
  return { token: entry.token, logprob: entry.logprob, bytes }
}

/** Writes tokens with their probabilities; `unknown` stands for bytes that are not known. */
export function wireTokens<Unknown>(tokens: readonly TokenLogprob[], unknown: Unknown) {
  const wireToken = ({ token, logprob, bytes }: SingleToken) => ({ token, logprob, bytes: bytes ?? unknown })
  return tokens.map(({ top, ...token }) => ({ ...wireToken(token), top_logprobs: top.map(wireToken) }))
}

/** The value of `prompt_cache_breakpoint`. Its `ttl` is 30 minutes or 12 hours; without one the model's default applies. */
export function writeBreakpoint(cache: CacheMark, warnings: Warnings): { mode: 'explicit'; ttl?: '30m' | '12h' } {
  const { ttl } = cache
  if (ttl === '30m' || ttl === '12h') return { mode: 'explicit', ttl }
  if (ttl === '1h') warnings.noteDropped(warnings.pathOf(cache, 'cache', 'ttl'))
  return { mode: 'explicit' }
}

/** A file name with an extension, from which OpenAI takes the type of the data. Other formats have titles, or no name at all. */
export function fileName(name: string | undefined, mediaType: string): string {
  if (name && EXTENSION.test(name)) return name
  return `${name || 'file'}.${fileExtensionOf(mediaType) ?? 'pdf'}`
}

const EXTENSION = /\.[a-z][a-z0-9]{0,4}$/i

/** The id of a file at OpenAI. Throws `INVALID_REQUEST` for a file at another vendor. */
export function openaiFileId(
  source: MediaSource & { type: 'file-id' },
  part: object,
  { warnings }: TargetContext,
): string {
  if (source.format === 'openai-chat' || source.format === 'openai-responses') return source.id
  return warnings.refuse(
    warnings.pathOf(part, 'file'),
    'the id of a file at another vendor means nothing to the target.',
  )
}

/** The value of `input_audio`. Throws `INVALID_REQUEST` for audio that is neither WAV nor MP3 data. */
export function wireInputAudio(part: AudioPart, { warnings }: TargetContext): { data: string; format: 'wav' | 'mp3' } {
  const { source } = part
  const format = source.type === 'base64' ? entryOf(audioFormats, source.mediaType) : undefined
  if (source.type !== 'base64' || !format)
    return warnings.refuse(warnings.pathOf(part, 'audio'), 'the target takes audio as WAV or MP3 data only.')
  return { data: source.data, format }
}

const audioFormats: Readonly<Record<string, 'wav' | 'mp3'>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/vnd.wav': 'wav',
  'audio/wave': 'wav',
  'audio/vnd.wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/x-mp3': 'mp3',
}

/**
 * The schema of a function's input as OpenAI accepts it: of an object, with `properties` even if they are empty. Many tools have
 * `{ type: 'object' }` or `{}`, which other vendors accept and for which OpenAI refuses the whole request.
 */
export function inputSchema(schema: JsonObject = {}): JsonObject {
  const { type = 'object', properties } = schema
  const isComplete = type === schema.type && properties !== undefined
  if (isComplete || type !== 'object' || ALTERNATIVES.some((keyword) => schema[keyword] !== undefined)) return schema
  return { ...schema, type, properties: properties ?? {} }
}

/** Keywords with which a schema may be of any type. */
const ALTERNATIVES = ['$ref', 'anyOf', 'oneOf', 'allOf']
