import { isObject, type JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { type Fields, readElementFields } from './canonical/canonical-fields.ts'
import { getFileExtension, type MediaSource } from './canonical/canonical-media.ts'
import type { AudioPart, CacheBreakpoint, TextPart, TokenLogprob, UserPart } from './canonical/canonical-parts.ts'
import type { OutputFormat, RequestOptions } from './canonical/canonical-request.ts'
import { omitUndefined } from './canonical/canonical-values.ts'
import type { FieldNames, Warnings } from './canonical/canonical-warnings.ts'
import { shortenId } from './canonical/ids.ts'
import type { TargetContext } from './translator.ts'

/** How one of OpenAI's two formats writes message content, which is a string or an array of parts. */
export interface ContentSyntax {
  /** Parses one part. Returns `undefined` for an empty string without a cache breakpoint. */
  parsePart(fields: Fields, warnings: Warnings): UserPart | undefined
  /** Whether a part may also be a string. */
  acceptsStrings: boolean
  /** The format's names for part fields. */
  fieldNames: FieldNames
}

/** Parses the content in `name`, without empty strings. Throws `INVALID_REQUEST` if it is neither a string nor an array of parts. */
export function parseContent(parent: Fields, name: string, warnings: Warnings, syntax: ContentSyntax): UserPart[] {
  const content = parent.any(name)
  if (content === undefined || content === '') return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const path = parent.getPath(name)
  if (!Array.isArray(content)) return warnings.reject(path, 'must be a string or an array of parts.')
  return content.flatMap((entry: unknown, index): UserPart[] => {
    if (syntax.acceptsStrings && typeof entry === 'string') return entry === '' ? [] : [{ type: 'text', text: entry }]
    const fields = readElementFields(entry, `${path}[${index}]`, warnings)
    const part = syntax.parsePart(fields, warnings)
    fields.dropUnread()
    if (!part) return []
    warnings.setPath(part, fields.path, syntax.fieldNames)
    return [part]
  })
}

/** Parses the `content` of instructions, which must be text. */
export function parseTexts(parent: Fields, warnings: Warnings, syntax: ContentSyntax): TextPart[] {
  return parseContent(parent, 'content', warnings, syntax).map((part) =>
    part.type === 'text'
      ? part
      : warnings.reject(parent.getPath('content'), `parts of type ${part.type} are not allowed here.`),
  )
}

/** Parses `prompt_cache_options`, and the `prompt_cache_retention` of older models. */
export function parseCacheOptions(body: Fields): Pick<RequestOptions, 'cacheOptions' | 'cacheRetention'> {
  const options = body.fields('prompt_cache_options')
  const cacheOptions =
    options &&
    omitUndefined<NonNullable<RequestOptions['cacheOptions']>>({
      mode: options.oneOfOrDrop('mode', ['implicit', 'explicit']),
      ttl: options.string('ttl'),
    })
  options?.dropUnread()
  return omitUndefined<Pick<RequestOptions, 'cacheOptions' | 'cacheRetention'>>({
    cacheOptions: cacheOptions && Object.keys(cacheOptions).length > 0 ? cacheOptions : undefined,
    cacheRetention: normalizeRetention(body.string('prompt_cache_retention')),
  })
}

/** Corrects a value that early versions of OpenAI's client wrote with a hyphen. */
export const normalizeRetention = (retention: string | undefined): string | undefined =>
  retention === 'in-memory' ? 'in_memory' : retention

/** Writes `prompt_cache_options`, and `prompt_cache_retention` for older models. */
export function writeCacheOptions({ cacheOptions, cacheRetention }: RequestOptions) {
  const { mode, ttl } = cacheOptions ?? {}
  return {
    ...((mode || ttl) && { prompt_cache_options: omitUndefined({ mode, ttl }) }),
    ...(cacheRetention !== undefined && { prompt_cache_retention: cacheRetention }),
  }
}

/** Parses `safety_identifier`, or the older `user`. */
export const parseEndUser = (body: Fields): string | undefined =>
  body.string('safety_identifier') ?? body.string('user')

/** Writes `safety_identifier`, which OpenAI limits to 128 characters. */
export const writeEndUser = (endUser: string | undefined): string | undefined =>
  endUser === undefined ? undefined : shortenId(endUser, 128)

/** Parses `service_tier`. */
export const parseServiceTier = (body: Fields): RequestOptions['serviceTier'] =>
  body.oneOfOrDrop('service_tier', ['auto', 'default', 'flex', 'scale', 'priority', 'fast'])

type SingleToken = Omit<TokenLogprob, 'topLogprobs'>

/** Parses a list of tokens with their log probabilities. Returns `undefined` if it is empty. */
export const parseTokenLogprobs = (list: unknown): TokenLogprob[] | undefined =>
  Array.isArray(list) && list.length > 0 ? parseTokenList(list) : undefined // kept short so that engines inline it for each delta

function parseTokenList(list: readonly unknown[]): TokenLogprob[] | undefined {
  const tokens = list.flatMap((entry: unknown): TokenLogprob[] => {
    const token = parseToken(entry)
    if (!token || !isObject(entry)) return []
    const topLogprobs = Array.isArray(entry.top_logprobs)
      ? entry.top_logprobs.flatMap((other) => parseToken(other) ?? [])
      : []
    return [{ ...token, topLogprobs }]
  })
  return tokens.length > 0 ? tokens : undefined
}

function parseToken(entry: unknown): SingleToken | undefined {
  if (!isObject(entry) || typeof entry.token !== 'string' || typeof entry.logprob !== 'number') return undefined
  const bytes = Array.isArray(entry.bytes) ? entry.bytes.filter((byte) => typeof byte === 'number') : null
  return { token: entry.token, logprob: entry.logprob, bytes }
}

/** Writes tokens with their log probabilities. `unknown` is the value for unknown bytes. */
export function writeTokenLogprobs<Unknown>(tokens: readonly TokenLogprob[], unknown: Unknown) {
  const writeToken = ({ token, logprob, bytes }: SingleToken) => ({ token, logprob, bytes: bytes ?? unknown })
  return tokens.map(({ topLogprobs, ...token }) => ({
    ...writeToken(token),
    top_logprobs: topLogprobs.map(writeToken),
  }))
}

/** Writes `prompt_cache_breakpoint`, with a `ttl` of 30 minutes or 12 hours. Without a `ttl`, the model's default applies. */
export function writeExplicitBreakpoint(
  cache: CacheBreakpoint,
  warnings: Warnings,
): { mode: 'explicit'; ttl?: '30m' | '12h' } {
  const { ttl } = cache
  if (ttl === '30m' || ttl === '12h') return { mode: 'explicit', ttl }
  if (ttl === '1h') warnings.recordDrop(warnings.getPath(cache, 'cache', 'ttl'))
  return { mode: 'explicit' }
}

/** Returns a file name with an extension, because OpenAI infers the data type from it. In other formats, files have a title or no name. */
export function toFileName(name: string | undefined, mediaType: string): string {
  if (name && EXTENSION_PATTERN.test(name)) return name
  return `${name || 'file'}.${getFileExtension(mediaType) ?? 'pdf'}`
}

const EXTENSION_PATTERN = /\.[a-z][a-z0-9]{0,4}$/i

/** Returns an OpenAI file's ID. Throws `INVALID_REQUEST` for another vendor's file. */
export function getOpenAIFileId(
  source: MediaSource & { type: 'file-id' },
  part: object,
  { warnings }: TargetContext,
): string {
  if (source.format === 'openai-chat' || source.format === 'openai-responses') return source.id
  return warnings.reject(
    warnings.getPath(part, 'file'),
    'the target cannot use a file ID from another vendor. Send the file itself.',
  )
}

/** Writes `input_audio`. Throws `INVALID_REQUEST` for audio that is neither WAV nor MP3 data. */
export function writeInputAudio(part: AudioPart, { warnings }: TargetContext): { data: string; format: 'wav' | 'mp3' } {
  const { source } = part
  const format = source.type === 'base64' ? getEntry(audioFormats, source.mediaType) : undefined
  if (source.type !== 'base64' || !format)
    return warnings.reject(warnings.getPath(part, 'audio'), 'the target only accepts audio as WAV or MP3 data.')
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
 * Completes a function's input schema for OpenAI: its type must be `object`, and it must have `properties`, even if they are empty. Many tools have
 * `{ type: 'object' }` or `{}`. Other vendors accept those, but OpenAI rejects the entire request.
 */
export function completeInputSchema(schema: JsonObject = {}): JsonObject {
  const { type = 'object', properties } = schema
  const isComplete = type === schema.type && properties !== undefined
  if (isComplete || type !== 'object' || ALTERNATIVE_KEYWORDS.some((keyword) => schema[keyword] !== undefined))
    return schema
  return { ...schema, type, properties: properties ?? {} }
}

/** Keywords that can describe a schema without a `type`. */
const ALTERNATIVE_KEYWORDS = ['$ref', 'anyOf', 'oneOf', 'allOf']

/** Parses a `json_schema` output format. */
export function parseJsonSchema(fields: Fields, warnings: Warnings): OutputFormat {
  const output = omitUndefined<OutputFormat & { type: 'json-schema' }>({
    type: 'json-schema',
    schema: fields.object('schema') ?? {},
    name: fields.string('name'),
    description: fields.string('description'),
    strict: fields.boolean('strict'),
  })
  fields.dropUnread()
  warnings.setPath(output, fields.path)
  return output
}
