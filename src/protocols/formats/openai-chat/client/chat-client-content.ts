import { getEntry } from '../../../../lib/maps.ts'
import { type Fields, readCacheBreakpoint, requireFields } from '../../canonical/canonical-fields.ts'
import { createBase64Source, type MediaSource, parseMediaUrl } from '../../canonical/canonical-media.ts'
import type {
  AudioPart,
  CacheBreakpoint,
  FilePart,
  ImagePart,
  TextPart,
  UserPart,
} from '../../canonical/canonical-parts.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import type { ContentSyntax } from '../../openai-fields.ts'

/** How to parse the content of user, tool, and system messages. */
export const contentSyntax: ContentSyntax = {
  parsePart,
  acceptsStrings: true,
  fieldNames: { name: 'file.filename', detail: 'image_url.detail' },
}

function parsePart(fields: Fields, warnings: Warnings): UserPart | undefined {
  const cache = parseBreakpoint(fields, warnings)
  const type = fields.string('type')
  switch (type) {
    case 'text':
    case 'input_text': {
      const text = fields.string('text')
      return text || (cache && text === '') ? omitUndefined<TextPart>({ type: 'text', text, cache }) : undefined
    }
    case 'image_url':
      return parseImage(fields, cache)
    case 'input_audio': {
      const audio = requireFields(fields, 'input_audio', warnings)
      const format = audio.string('format') ?? 'wav'
      return {
        type: 'audio',
        source: createBase64Source(getEntry(audioTypes, format) ?? `audio/${format}`, audio.string('data') ?? ''),
        ...(cache && { cache }),
      }
    }
    case 'file':
      return parseFile(requireFields(fields, 'file', warnings), cache, warnings)
    case 'file_url': // Perplexity's name for a file by URL
      return omitUndefined<FilePart>({
        type: 'file',
        source: parseFileSource(readUrl(fields, 'file_url'), 'application/octet-stream'),
        name: fields.string('file_name'),
        cache,
      })
    case 'document_url': // Mistral's name for a document by URL
      return omitUndefined<FilePart>({
        type: 'file',
        source: parseMediaUrl(readUrl(fields, 'document_url')),
        name: fields.string('document_name'),
        cache,
      })
    case 'audio_url': // vLLM's name for audio by URL
      return omitUndefined<AudioPart>({
        type: 'audio',
        source: parseMediaUrl(readUrl(fields, 'audio_url'), 'audio/wav'),
        cache,
      })
    case 'video_url': // OpenRouter's name for a video by URL
      return { type: 'video', source: parseMediaUrl(readUrl(fields, 'video_url'), 'video/mp4') }
    default:
      return warnings.reject(fields.getPath('type'), `content of type "${type}" is not supported.`)
  }
}

/** Parses an image. `image_url` is a string or an object. */
export function parseImage(fields: Fields, cache: CacheBreakpoint | undefined): ImagePart {
  const source = parseMediaUrl(readUrl(fields, 'image_url'), 'image/png')
  const image = typeof fields.any('image_url') === 'string' ? undefined : fields.fields('image_url')
  const detail = image?.oneOfOrDrop('detail', DETAIL_LEVELS)
  image?.ignore('url')
  image?.dropUnread()
  return omitUndefined<ImagePart>({ type: 'image', source, detail, cache })
}

function parseFile(file: Fields, cache: CacheBreakpoint | undefined, warnings: Warnings): FilePart {
  const data = file.string('file_data')
  const id = file.string('file_id')
  const part = { type: 'file', name: file.string('filename'), cache } as const
  file.dropUnread()
  if (data !== undefined) return omitUndefined<FilePart>({ ...part, source: parseFileSource(data) })
  if (id !== undefined)
    return omitUndefined<FilePart>({ ...part, source: { type: 'file-id', id, format: 'openai-chat' } })
  return warnings.reject(file.getPath('file_data'), 'is required unless "file_id" is set.')
}

/** Parses a data URL, a URL (OpenRouter), or bare base64. */
const parseFileSource = (data: string, fallbackType = 'application/pdf'): MediaSource =>
  /^(?:data|https?|gs):/i.test(data) ? parseMediaUrl(data, fallbackType) : createBase64Source(fallbackType, data)

/** Reads the URL from a field that is `{ url }` or, for some vendors, the URL itself. */
function readUrl(fields: Fields, name: string): string {
  const value = fields.any(name)
  return typeof value === 'string' ? value : (fields.fields(name)?.string('url') ?? '')
}

/** Parses a cache breakpoint: OpenAI's, or Anthropic's, which OpenRouter also accepts. */
export function parseBreakpoint(fields: Fields, warnings: Warnings): CacheBreakpoint | undefined {
  const breakpoint = fields.fields('cache_control') ?? fields.fields('prompt_cache_breakpoint')
  return readCacheBreakpoint(breakpoint, ['5m', '30m', '1h', '12h'], warnings)
}

const DETAIL_LEVELS = ['auto', 'low', 'high', 'original'] as const

const audioTypes: Readonly<Record<string, string>> = { wav: 'audio/wav', mp3: 'audio/mpeg' }
