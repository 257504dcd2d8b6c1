import { isGoogleFile } from '../canonical/at-google.ts'
import { base64Source } from '../canonical/data-url.ts'
import { defined } from '../canonical/defined.ts'
import type { Fields } from '../canonical/fields.ts'
import type { MediaSource } from '../canonical/media.ts'
import type { AudioPart, FilePart, ImagePart, VideoPart } from '../canonical/parts.ts'
import { typeOfUrl } from '../canonical/type-of-url.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { textOfBase64 } from './base64-text.ts'

export type MediaPart = ImagePart | AudioPart | VideoPart | FilePart

/** `inlineData` or `fileData` of a client's part; undefined when it has neither. */
export function parseMedia(part: Fields, warnings: Warnings): MediaPart | undefined {
  const blob = part.fields('inlineData')
  const file = part.fields('fileData')
  const holder = blob ?? file
  if (!holder) return undefined
  const source = blob ? inlineSource(blob) : fileSource(holder)
  const name = holder.text('displayName')
  const media = mediaPart(source, name)
  if (name !== undefined && media.type !== 'file') warnings.dropped(holder.path('displayName'))
  holder.drop()
  if (media.type === 'video') Object.assign(media, clipOf(part))
  return media
}

/** An image, a sound, a film or else a file, as its media type says. */
export function mediaPart(source: MediaSource, name?: string): MediaPart {
  const mediaType = source.type === 'url' ? (source.mediaType ?? typeOfUrl(source.url)) : source.mediaType
  const [kind] = (mediaType ?? '').split('/')
  if (kind === 'image' || kind === 'audio' || kind === 'video') return { type: kind, source }
  return defined<FilePart>({ type: 'file', source, name })
}

function inlineSource(blob: Fields): MediaSource {
  const mediaType = blob.text('mimeType')?.trim().toLowerCase() || 'application/octet-stream'
  const data = blob.text('data') ?? ''
  const text = mediaType.startsWith('text/') ? textOfBase64(data) : undefined
  return text === undefined ? base64Source(mediaType, data) : { type: 'text', mediaType, text }
}

/** Files at Google mean nothing elsewhere; everybody can fetch the others. */
function fileSource(file: Fields): MediaSource {
  const uri = file.text('fileUri') ?? ''
  const mediaType = file.text('mimeType')
  return isGoogleFile(uri) || !/^https?:/i.test(uri)
    ? defined<MediaSource & { type: 'file-id' }>({ type: 'file-id', id: uri, format: 'gemini', mediaType })
    : defined<MediaSource & { type: 'url' }>({ type: 'url', url: uri, mediaType })
}

function clipOf(part: Fields): Omit<VideoPart, 'type' | 'source'> {
  const metadata = part.fields('videoMetadata')
  return metadata
    ? defined({
        fps: metadata.number('fps'),
        startOffset: metadata.text('startOffset'),
        endOffset: metadata.text('endOffset'),
      })
    : {}
}
