import { base64Source, sourceOfUrl } from '../canonical/data-url.ts'
import { defined } from '../canonical/defined.ts'
import type { Fields } from '../canonical/fields.ts'
import type { MediaSource } from '../canonical/media.ts'
import type { AudioPart, CacheMark, FilePart, ImagePart, TextPart, UserPart } from '../canonical/parts.ts'
import type { Warnings } from '../canonical/warnings.ts'
import type { ContentForm } from '../openai-content.ts'

/** `content` of a message, and `output` of a tool. */
export const itemContent: ContentForm = { parsePart, takesStrings: false, names: { name: 'filename' } }

function parsePart(fields: Fields, warnings: Warnings): UserPart | undefined {
  const cache = parseMark(fields, warnings)
  const type = fields.text('type')
  switch (type) {
    case 'input_text':
    case 'output_text': // what another agent has said, told by a user
    case 'text': {
      const text = fields.text('text')
      fields.ignore('annotations', 'logprobs')
      return text ? defined<TextPart>({ type: 'text', text, cache }) : undefined
    }
    case 'input_image':
      return parseImage(fields, cache, warnings)
    case 'input_file':
      return parseFile(fields, cache, warnings)
    case 'input_audio':
      return parseAudio(fields, cache, warnings)
    default:
      return warnings.refuse(fields.path('type'), `"${type}" is no type of content that can be passed on.`)
  }
}

function parseImage(fields: Fields, cache: CacheMark | undefined, warnings: Warnings): ImagePart {
  const detail = fields.wish('detail', ['auto', 'low', 'high', 'original'])
  const url = fields.text('image_url')
  const id = fields.text('file_id')
  const part = { type: 'image', detail: detail === 'auto' ? undefined : detail, cache } as const
  if (url !== undefined) return defined<ImagePart>({ ...part, source: sourceOfUrl(url, 'image/png') })
  if (id !== undefined) return defined<ImagePart>({ ...part, source: fileId(id) })
  return warnings.refuse(fields.path('image_url'), 'is required, or "file_id".')
}

function parseFile(fields: Fields, cache: CacheMark | undefined, warnings: Warnings): FilePart {
  const data = fields.text('file_data')
  const url = fields.text('file_url')
  const id = fields.text('file_id')
  const part = { type: 'file', name: fields.text('filename'), cache } as const
  if (data !== undefined) return defined<FilePart>({ ...part, source: fileSource(data) })
  if (url !== undefined) return defined<FilePart>({ ...part, source: sourceOfUrl(url, 'application/pdf') })
  if (id !== undefined) return defined<FilePart>({ ...part, source: fileId(id) })
  return warnings.refuse(fields.path('file_data'), 'is required, or "file_url", or "file_id".')
}

/** A data URL, or bare base64 as some vendors have it. */
const fileSource = (data: string): MediaSource =>
  data.startsWith('data:') ? sourceOfUrl(data, 'application/pdf') : base64Source('application/pdf', data)

const fileId = (id: string): MediaSource => ({ type: 'file-id', id, format: 'openai-responses' })

function parseAudio(fields: Fields, cache: CacheMark | undefined, warnings: Warnings): AudioPart {
  const audio = fields.fields('input_audio') ?? warnings.refuse(fields.path('input_audio'), 'is required.')
  const format = audio.text('format') ?? 'wav'
  const mediaType = format === 'mp3' ? 'audio/mpeg' : `audio/${format}`
  return defined<AudioPart>({ type: 'audio', source: base64Source(mediaType, audio.text('data') ?? ''), cache })
}

function parseMark(fields: Fields, warnings: Warnings): CacheMark | undefined {
  const mark = fields.fields('prompt_cache_breakpoint')
  if (!mark) return undefined
  const ttl = mark.wish('ttl', ['30m', '12h'])
  const cache: CacheMark = ttl ? { ttl } : {}
  warnings.place(cache, mark.at)
  return cache
}
