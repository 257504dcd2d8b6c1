import { assertNever } from '../../../../lib/assert-never.ts'
import { decodeUtf8Lenient, fromBase64 } from '../../../../lib/bytes.ts'
import { isObject } from '../../../../lib/json.ts'
import type { ProviderFormat } from '../../../../types.ts'
import { type Fields, requireString } from '../../canonical/canonical-fields.ts'
import { createBase64Source, type MediaSource, parseMediaUrl, toUrlSource } from '../../canonical/canonical-media.ts'
import type { AudioPart, FilePart, ImagePart, VideoPart } from '../../canonical/canonical-parts.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import { parseBreakpoint } from './ai-sdk-client-metadata.ts'

type AnyMediaPart = ImagePart | FilePart | AudioPart | VideoPart

/** The context for parsing files. */
export interface FileContext {
  warnings: Warnings
  /** The target's format. It determines which file ID to use if a file has IDs at several vendors. */
  targetFormat: ProviderFormat | undefined
}

/**
 * Parses a file in the prompt or in a tool result. AI SDK 7 tags the data; AI SDK 6 sends base64 or a URL, which can be a data URL. Requests in
 * either version may contain both forms, because an AI SDK 6 model can be used in AI SDK 7.
 */
export function parseFile(file: Fields, context: FileContext): AnyMediaPart {
  const { warnings } = context
  const mediaType = file.string('mediaType') ?? ''
  const source = parseSource(file, { ...context, mediaType })
  file.ignore('originalUrl')
  const part = addOptions(createPart(source, mediaType, file.string('filename')), file.fields('providerOptions'))
  const cache = parseBreakpoint(file, warnings)
  if (cache && part.type !== 'video') part.cache = cache
  warnings.setPath(part, file.path, FILE_FIELD_NAMES)
  return part
}

/** The client's names for a file's fields. */
export const FILE_FIELD_NAMES = {
  name: 'filename',
  detail: 'providerOptions.openai.imageDetail',
  citable: 'providerOptions.anthropic.citations',
  clip: 'providerOptions.google.videoMetadata',
}

function addOptions(part: AnyMediaPart, options: Fields | undefined): AnyMediaPart {
  const getOptions = (provider: string) => (isObject(options?.value[provider]) ? options?.fields(provider) : undefined)
  switch (part.type) {
    case 'image':
      return omitUndefined<ImagePart>({
        ...part,
        detail: getOptions('openai')?.oneOfOrDrop('imageDetail', DETAIL_LEVELS),
      })
    case 'file': {
      const anthropic = getOptions('anthropic')
      return omitUndefined<FilePart>({
        ...part,
        name: anthropic?.string('title') ?? part.name,
        context: anthropic?.string('context'),
        citable: anthropic?.fields('citations')?.boolean('enabled') || undefined,
      })
    }
    case 'video': {
      const clip = getOptions('google')?.fields('videoMetadata')
      return omitUndefined<VideoPart>({
        ...part,
        fps: clip?.number('fps'),
        startOffset: clip?.string('startOffset'),
        endOffset: clip?.string('endOffset'),
      })
    }
    case 'audio':
      return part
    default:
      return assertNever(part)
  }
}

const DETAIL_LEVELS = ['auto', 'low', 'high', 'original'] as const

interface SourceContext extends FileContext {
  mediaType: string
}

function parseSource(file: Fields, context: SourceContext): MediaSource {
  const { warnings, mediaType } = context
  const data = file.any('data')
  if (typeof data === 'string') return URL_SCHEME.test(data) ? parseUrl(data, mediaType) : parseBase64(data, mediaType)
  if (!isObject(data)) return warnings.reject(file.getPath('data'), 'must be base64, a URL, or tagged data.')
  const dataFields = file.fields('data') ?? file
  const requireSourceField = (name: string) =>
    dataFields.string(name) ?? warnings.reject(dataFields.getPath(name), 'is required, as a string.')
  switch (dataFields.string('type')) {
    case 'data':
      return parseBase64(requireSourceField('data'), mediaType)
    case 'url':
      return parseUrl(dataFields.string('originalUrl') ?? requireSourceField('url'), mediaType)
    case 'text':
      return { type: 'text', mediaType: completeMediaType(mediaType, 'text/plain'), text: requireSourceField('text') }
    case 'reference':
      return parseReference(dataFields.stringsByName('reference') ?? {}, dataFields.getPath('reference'), context)
    default:
      return warnings.reject(dataFields.getPath('type'), 'must be data, url, text, or reference.')
  }
}

/** Matches a URL scheme. Base64 never starts with one. */
const URL_SCHEME = /^[a-z][a-z0-9+.-]*:/i

/** Parses a file in an AI SDK 6 tool result, where the part type also determines the file's format. */
export function parseResultFile(part: Fields, type: string, context: FileContext): AnyMediaPart {
  const { warnings } = context
  const isImage = type.startsWith('image-')
  const mediaType = part.string('mediaType') ?? (isImage ? 'image/*' : '')
  const getSource = (): MediaSource => {
    if (type.endsWith('-data') || type === 'media') return parseBase64(requireString(part, 'data', warnings), mediaType)
    if (type.endsWith('-url')) return parseUrl(requireString(part, 'url', warnings), mediaType)
    const id = part.any('fileId')
    if (typeof id === 'string') return { type: 'file-id', id, format: 'openai-responses' }
    return parseReference(part.stringsByName('fileId') ?? {}, part.getPath('fileId'), { ...context, mediaType })
  }
  const file = addOptions(createPart(getSource(), mediaType, part.string('filename')), part.fields('providerOptions'))
  const cache = parseBreakpoint(part, warnings)
  if (cache && file.type !== 'video') file.cache = cache
  warnings.setPath(file, part.path, FILE_FIELD_NAMES)
  return file
}

/** Creates a part for a media type, which may be only a top-level type, with or without `/*`. */
function createPart(source: MediaSource, declaredType: string, name: string | undefined): AnyMediaPart {
  const mediaType = 'mediaType' in source ? (source.mediaType ?? declaredType) : declaredType
  const [kind] = mediaType.split('/', 1)
  if (kind === 'image' || kind === 'audio' || kind === 'video') return { type: kind, source }
  return omitUndefined<FilePart>({ type: 'file', source, name })
}

/** Parses base64 data. Decodes text, because some providers only accept it unencoded. */
function parseBase64(data: string, mediaType: string): MediaSource {
  const source = createBase64Source(completeMediaType(mediaType, 'application/octet-stream'), data)
  if (source.mediaType !== 'text/plain') return source
  try {
    return { type: 'text', mediaType: source.mediaType, text: decodeUtf8Lenient(fromBase64(source.data)) }
  } catch {
    return source // the provider reports the invalid base64
  }
}

function parseUrl(url: string, mediaType: string): MediaSource {
  if (/^data:/i.test(url)) {
    const source = parseMediaUrl(url, completeMediaType(mediaType, 'application/octet-stream'))
    return source.type === 'base64' ? parseBase64(source.data, source.mediaType) : source
  }
  const source = toUrlSource(url)
  return mediaType.includes('/') && !mediaType.endsWith('/*') ? { ...source, mediaType } : source
}

/** Completes a media type. A bare top-level type becomes its most common subtype. */
function completeMediaType(declaredType: string, fallbackType: string): string {
  const [kind = '', sub = '*'] = declaredType.split('/', 2)
  return sub === '*' || sub === '' ? (defaultMediaTypes[kind] ?? fallbackType) : declaredType
}

const defaultMediaTypes: Readonly<Record<string, string>> = {
  image: 'image/jpeg',
  audio: 'audio/mpeg',
  video: 'video/mp4',
  text: 'text/plain',
}

/** Parses a file ID, preferably the one at the target's vendor. The target's format rejects other vendors' IDs. */
function parseReference(
  ids: Record<string, string>,
  path: string,
  { warnings, targetFormat }: SourceContext,
): MediaSource {
  const sources = Object.entries(ids).flatMap(([provider, id]): MediaSource[] => {
    const format = vendorFormats.find(([name]) => provider.startsWith(name))?.[1]
    if (!format) return []
    return [format === 'gemini' ? toUrlSource(id) : { type: 'file-id', id, format }]
  })
  const matchingSource = sources.find(
    (source) => source.type === 'file-id' && supportsFormat(source.format, targetFormat),
  )
  return matchingSource ?? sources[0] ?? warnings.reject(path, 'does not name a provider whose files are supported.')
}

const supportsFormat = (format: ProviderFormat, target: ProviderFormat | undefined) =>
  format === target || (format === 'openai-responses' && target === 'openai-chat')

const vendorFormats = [
  ['openai', 'openai-responses'],
  ['azure', 'openai-responses'],
  ['anthropic', 'anthropic-messages'],
  ['google', 'gemini'],
  ['vertex', 'gemini'],
] as const
