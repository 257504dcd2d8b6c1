import { assertNever } from '../../../lib/assert-never.ts'
import { decodeUtf8Lenient, fromBase64 } from '../../../lib/bytes.ts'
import { isObject } from '../../../lib/json.ts'
import type { ProviderFormat } from '../../../types.ts'
import type { Fields } from '../../canonical/fields.ts'
import { base64Source, type MediaSource, sourceOfAddress, sourceOfUrl } from '../../canonical/media.ts'
import type { AudioPart, FilePart, ImagePart, VideoPart } from '../../canonical/parts.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import { parseMark } from './metadata.ts'

export type AnyMediaPart = ImagePart | FilePart | AudioPart | VideoPart

/** What the parsing of files needs. */
export interface FileContext {
  warnings: Warnings
  /** The format of the target, which decides among the ids that a file has at several vendors. */
  targetFormat: ProviderFormat | undefined
}

/**
 * Parses a file of the prompt or of a tool's result. AI SDK 7 tags its data, AI SDK 6 sends base64 or a URL, data URLs among them. Both
 * forms are read in either version, since a model of 6 may be used in 7.
 */
export function parseFile(file: Fields, context: FileContext): AnyMediaPart {
  const { warnings } = context
  const mediaType = file.text('mediaType') ?? ''
  const source = sourceOf(file, { ...context, mediaType })
  file.ignore('originalUrl')
  const part = withOptions(partOf(source, mediaType, file.text('filename')), file.fields('providerOptions'))
  const cache = parseMark(file, warnings)
  if (cache && part.type !== 'video') part.cache = cache
  warnings.place(part, file.at, FILE_NAMES)
  return part
}

/** The client's names for the facts of a file. */
export const FILE_NAMES = {
  name: 'filename',
  detail: 'providerOptions.openai.imageDetail',
  citable: 'providerOptions.anthropic.citations',
  clip: 'providerOptions.google.videoMetadata',
}

/** The file with its options for the AI SDK's providers: the detail of an image, the section of a video, the citations of a document. */
function withOptions(part: AnyMediaPart, options: Fields | undefined): AnyMediaPart {
  const of = (provider: string) => (isObject(options?.value[provider]) ? options?.fields(provider) : undefined)
  switch (part.type) {
    case 'image':
      return defined<ImagePart>({ ...part, detail: of('openai')?.wordOrDrop('imageDetail', DETAILS) })
    case 'file': {
      const anthropic = of('anthropic')
      return defined<FilePart>({
        ...part,
        name: anthropic?.text('title') ?? part.name,
        context: anthropic?.text('context'),
        citable: anthropic?.fields('citations')?.flag('enabled') || undefined,
      })
    }
    case 'video': {
      const clip = of('google')?.fields('videoMetadata')
      return defined<VideoPart>({
        ...part,
        fps: clip?.number('fps'),
        startOffset: clip?.text('startOffset'),
        endOffset: clip?.text('endOffset'),
      })
    }
    case 'audio':
      return part
    default:
      return assertNever(part)
  }
}

const DETAILS = ['auto', 'low', 'high', 'original'] as const

interface SourceContext extends FileContext {
  mediaType: string
}

function sourceOf(file: Fields, context: SourceContext): MediaSource {
  const { warnings, mediaType } = context
  const data = file.any('data')
  if (typeof data === 'string') return ADDRESS.test(data) ? addressed(data, mediaType) : bytesOf(data, mediaType)
  if (!isObject(data)) return warnings.refuse(file.path('data'), 'must be base64, a URL, or tagged data.')
  const tagged = file.fields('data') ?? file
  const required = (name: string) =>
    tagged.text(name) ?? warnings.refuse(tagged.path(name), 'is required, as a string.')
  switch (tagged.text('type')) {
    case 'data':
      return bytesOf(required('data'), mediaType)
    case 'url':
      return addressed(tagged.text('originalUrl') ?? required('url'), mediaType)
    case 'text':
      return { type: 'text', mediaType: typeOf(mediaType, 'text/plain'), text: required('text') }
    case 'reference':
      return referenced(tagged.textsByName('reference') ?? {}, tagged.path('reference'), context)
    default:
      return warnings.refuse(tagged.path('type'), 'must be data, url, text or reference.')
  }
}

/** A scheme, which base64 never looks like. */
const ADDRESS = /^[a-z][a-z0-9+.-]*:/i

/** A file in a tool's result of AI SDK 6, where the type of a part says in which form the part has the file. */
export function parseResultFile(part: Fields, type: string, context: FileContext): AnyMediaPart {
  const { warnings } = context
  const isImage = type.startsWith('image-')
  const mediaType = part.text('mediaType') ?? (isImage ? 'image/*' : '')
  const source = (): MediaSource => {
    if (type.endsWith('-data') || type === 'media')
      return bytesOf(part.text('data') ?? warnings.refuse(part.path('data'), 'is required.'), mediaType)
    if (type.endsWith('-url'))
      return addressed(part.text('url') ?? warnings.refuse(part.path('url'), 'is required.'), mediaType)
    const id = part.any('fileId')
    if (typeof id === 'string') return { type: 'file-id', id, format: 'openai-responses' }
    return referenced(part.textsByName('fileId') ?? {}, part.path('fileId'), { ...context, mediaType })
  }
  const file = withOptions(partOf(source(), mediaType, part.text('filename')), part.fields('providerOptions'))
  const cache = parseMark(part, warnings)
  if (cache && file.type !== 'video') file.cache = cache
  warnings.place(file, part.at, FILE_NAMES)
  return file
}

/** The kind of part by the media type, which may be a top-level type alone, with or without `/*`. */
function partOf(source: MediaSource, declared: string, name: string | undefined): AnyMediaPart {
  const mediaType = 'mediaType' in source ? (source.mediaType ?? declared) : declared
  const [kind] = mediaType.split('/', 1)
  if (kind === 'image' || kind === 'audio' || kind === 'video') return { type: kind, source }
  return defined<FilePart>({ type: 'file', source, name })
}

/** Base64 as the source of a file; text is decoded, as some providers take it in clear only. */
function bytesOf(data: string, mediaType: string): MediaSource {
  const source = base64Source(typeOf(mediaType, 'application/octet-stream'), data)
  if (source.mediaType !== 'text/plain') return source
  try {
    return { type: 'text', mediaType: source.mediaType, text: decodeUtf8Lenient(fromBase64(source.data)) }
  } catch {
    return source // no base64: the provider says so
  }
}

function addressed(url: string, mediaType: string): MediaSource {
  if (/^data:/i.test(url)) {
    const source = sourceOfUrl(url, typeOf(mediaType, 'application/octet-stream'))
    return source.type === 'base64' ? bytesOf(source.data, source.mediaType) : source
  }
  const source = sourceOfAddress(url)
  return mediaType.includes('/') && !mediaType.endsWith('/*') ? { ...source, mediaType } : source
}

/** A whole media type. A top-level type alone stands for the most common type below it. */
function typeOf(declared: string, otherwise: string): string {
  const [kind = '', sub = '*'] = declared.split('/', 2)
  return sub === '*' || sub === '' ? (usualTypes[kind] ?? otherwise) : declared
}

const usualTypes: Readonly<Record<string, string>> = {
  image: 'image/jpeg',
  audio: 'audio/mpeg',
  video: 'video/mp4',
  text: 'text/plain',
}

/** The id of a file at the target's vendor, or else at another vendor, which the target's format refuses. */
function referenced(ids: Record<string, string>, path: string, { warnings, targetFormat }: SourceContext): MediaSource {
  const known = Object.entries(ids).flatMap(([provider, id]): MediaSource[] => {
    const format = vendors.find(([name]) => provider.startsWith(name))?.[1]
    if (!format) return []
    return [format === 'gemini' ? sourceOfAddress(id) : { type: 'file-id', id, format }]
  })
  const own = known.find((source) => source.type === 'file-id' && isOf(source.format, targetFormat))
  return own ?? known[0] ?? warnings.refuse(path, 'names no provider whose files can be passed on.')
}

const isOf = (format: ProviderFormat, target: ProviderFormat | undefined) =>
  format === target || (format === 'openai-responses' && target === 'openai-chat')

const vendors = [
  ['openai', 'openai-responses'],
  ['azure', 'openai-responses'],
  ['anthropic', 'anthropic-messages'],
  ['google', 'gemini'],
  ['vertex', 'gemini'],
] as const
