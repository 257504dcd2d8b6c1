import { entryOf } from '../../../lib/maps.ts'
import type { Fields } from '../../canonical/fields.ts'
import { base64Source, type MediaSource, sourceOfUrl } from '../../canonical/media.ts'
import type { AudioPart, CacheMark, FilePart, ImagePart, TextPart, UserPart } from '../../canonical/parts.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import type { ContentForm } from '../../openai-fields.ts'

/** The form of content in messages of users, tools and the system. */
export const contentForm: ContentForm = {
  parsePart,
  takesStrings: true,
  names: { name: 'file.filename', detail: 'image_url.detail' },
}

function parsePart(fields: Fields, warnings: Warnings): UserPart | undefined {
  const cache = parseMark(fields, warnings)
  const type = fields.text('type')
  switch (type) {
    case 'text':
    case 'input_text': {
      const text = fields.text('text')
      return text ? defined<TextPart>({ type: 'text', text, cache }) : undefined
    }
    case 'image_url':
      return parseImage(fields, cache)
    case 'input_audio': {
      const audio = required(fields, 'input_audio', warnings)
      const format = audio.text('format') ?? 'wav'
      return {
        type: 'audio',
        source: base64Source(entryOf(audioTypes, format) ?? `audio/${format}`, audio.text('data') ?? ''),
        ...(cache && { cache }),
      }
    }
    case 'file':
      return parseFile(required(fields, 'file', warnings), cache, warnings)
    case 'file_url': // Perplexity
      return defined<FilePart>({
        type: 'file',
        source: fileSource(urlOf(fields, 'file_url'), 'application/octet-stream'),
        name: fields.text('file_name'),
        cache,
      })
    case 'document_url': // Mistral
      return defined<FilePart>({
        type: 'file',
        source: sourceOfUrl(urlOf(fields, 'document_url')),
        name: fields.text('document_name'),
        cache,
      })
    case 'audio_url': // vLLM
      return defined<AudioPart>({
        type: 'audio',
        source: sourceOfUrl(urlOf(fields, 'audio_url'), 'audio/wav'),
        cache,
      })
    case 'video_url': // OpenRouter
      return { type: 'video', source: sourceOfUrl(urlOf(fields, 'video_url'), 'video/mp4') }
    default:
      return warnings.refuse(fields.path('type'), `"${type}" is no type of content that can be passed on.`)
  }
}

/** Parses an image; `image_url` is a string or an object. */
export function parseImage(fields: Fields, cache: CacheMark | undefined): ImagePart {
  const source = sourceOfUrl(urlOf(fields, 'image_url'), 'image/png')
  const image = typeof fields.any('image_url') === 'string' ? undefined : fields.fields('image_url')
  const detail = image?.wordOrDrop('detail', DETAILS)
  image?.ignore('url')
  image?.drop()
  return defined<ImagePart>({ type: 'image', source, detail, cache })
}

function parseFile(file: Fields, cache: CacheMark | undefined, warnings: Warnings): FilePart {
  const data = file.text('file_data')
  const id = file.text('file_id')
  const part = { type: 'file', name: file.text('filename'), cache } as const
  file.drop()
  if (data !== undefined) return defined<FilePart>({ ...part, source: fileSource(data) })
  if (id !== undefined) return defined<FilePart>({ ...part, source: { type: 'file-id', id, format: 'openai-chat' } })
  return warnings.refuse(file.path('file_data'), 'is required, or "file_id".')
}

/** The source that a data URL, a URL (OpenRouter) or bare base64 names. */
const fileSource = (data: string, otherwise = 'application/pdf'): MediaSource =>
  /^(?:data|https?|gs):/i.test(data) ? sourceOfUrl(data, otherwise) : base64Source(otherwise, data)

/** The URL in a field that is `{ url }`, or for some vendors the URL itself. */
function urlOf(fields: Fields, name: string): string {
  const value = fields.any(name)
  return typeof value === 'string' ? value : (fields.fields(name)?.text('url') ?? '')
}

function required(fields: Fields, name: string, warnings: Warnings): Fields {
  return fields.fields(name) ?? warnings.refuse(fields.path(name), 'is required.')
}

/** Parses a cache mark: Anthropic's, which OpenRouter accepts, or OpenAI's. */
export function parseMark(fields: Fields, warnings: Warnings): CacheMark | undefined {
  const mark = fields.fields('cache_control') ?? fields.fields('prompt_cache_breakpoint')
  if (!mark) return undefined
  const ttl = mark.wordOrDrop('ttl', ['5m', '30m', '1h', '12h'])
  const cache: CacheMark = ttl ? { ttl } : {}
  warnings.place(cache, mark.at)
  return cache
}

const DETAILS = ['auto', 'low', 'high', 'original'] as const

const audioTypes: Readonly<Record<string, string>> = { wav: 'audio/wav', mp3: 'audio/mpeg' }
