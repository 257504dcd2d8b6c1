import { assertNever } from '../../lib/assert-never.ts'
import { encodeUtf8, toBase64 } from '../../lib/bytes.ts'
import { entryOf } from '../../lib/maps.ts'
import type { Fields } from '../canonical/fields.ts'
import { base64Source, isGoogleFile, type MediaSource, typeOfUrl } from '../canonical/media.ts'
import type { AudioPart, FilePart, ImagePart, VideoPart } from '../canonical/parts.ts'
import type { Turn } from '../canonical/turns.ts'
import { defined } from '../canonical/values.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { textOfBase64 } from './fields.ts'
import type { WireBlob, WireFileData, WirePart, WireResolution } from './wire.ts'

type MediaPart = ImagePart | AudioPart | VideoPart | FilePart

/** Parses `inlineData` or `fileData` of a client's part; `undefined` when it has neither. */
export function parseMedia(part: Fields, warnings: Warnings): MediaPart | undefined {
  const blob = part.fields('inlineData')
  const file = part.fields('fileData')
  const holder = blob ?? file
  if (!holder) return undefined
  const source = blob ? inlineSource(blob) : fileSource(holder)
  const name = holder.text('displayName')
  const media = mediaPart(source, name)
  if (name !== undefined && media.type !== 'file') warnings.noteDropped(holder.path('displayName'))
  holder.drop()
  if (media.type === 'video') Object.assign(media, clipOf(part))
  return media
}

/** An image, audio, a video or else a file, by its media type. */
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

/** Files at Google become ids, since no other provider can read them; others are addresses. */
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

/** Writes an image, audio, a video or a file; `undefined` for a file at another vendor. */
export function writeMedia(part: MediaPart): WirePart | undefined {
  const media = writeSource(part.source, part.type)
  if (!media || part.type !== 'video') return media
  const { fps, startOffset, endOffset } = part
  const videoMetadata = defined({ fps, startOffset, endOffset })
  return Object.keys(videoMetadata).length > 0 ? { ...media, videoMetadata } : media
}

/** Writes a source: `inlineData` for bytes and text, `fileData` for addresses and files at Google. */
export function writeSource(
  source: MediaSource,
  kind: MediaPart['type'],
): { inlineData: WireBlob } | { fileData: WireFileData } | undefined {
  switch (source.type) {
    case 'base64':
      return { inlineData: { mimeType: source.mediaType, data: source.data } }
    case 'text':
      return { inlineData: { mimeType: source.mediaType, data: toBase64(encodeUtf8(source.text)) } }
    case 'url':
      return {
        fileData: { mimeType: source.mediaType ?? typeOfUrl(source.url) ?? usualTypes[kind], fileUri: source.url },
      }
    case 'file-id':
      if (source.format !== 'gemini') return undefined
      return {
        fileData: { mimeType: source.mediaType ?? typeOfUrl(source.id) ?? usualTypes[kind], fileUri: source.id },
      }
    default:
      return assertNever(source)
  }
}

/** The media types for media of unknown type, since the field is required. */
const usualTypes: Readonly<Record<MediaPart['type'], string>> = {
  image: 'image/jpeg',
  audio: 'audio/mpeg',
  video: 'video/mp4',
  file: 'application/pdf',
}

type Detail = NonNullable<ImagePart['detail']>

/** The detail of images that a resolution stands for, of all media or of one part. */
export function detailOf(resolution: string | undefined): Detail | undefined {
  return resolution === undefined ? undefined : entryOf(details, resolution)
}

/** The detail of a part, which has its resolution in an object. */
export const partDetail = (part: Fields): Detail | undefined => detailOf(part.fields('mediaResolution')?.text('level'))

/** The resolution of all media, if the images agree on one: not every model accepts it on a part. */
export function resolutionOf(turns: readonly Turn[], warnings: Warnings): WireResolution | undefined {
  const asked = new Set<Detail>()
  for (const turn of turns) {
    if (turn.role !== 'user') continue
    for (const part of turn.content)
      if (part.type === 'image' && part.detail && part.detail !== 'auto') asked.add(part.detail)
  }
  const [detail, ...others] = asked
  if (detail === undefined) return undefined
  if (others.length === 0) return resolutions[detail]
  warnings.noteDropped('detail')
  return undefined
}

const details: Readonly<Record<string, Detail>> = {
  MEDIA_RESOLUTION_LOW: 'low',
  MEDIA_RESOLUTION_HIGH: 'high',
  MEDIA_RESOLUTION_ULTRA_HIGH: 'original',
}

const resolutions: Readonly<Record<Detail, WireResolution | undefined>> = {
  auto: undefined,
  low: 'MEDIA_RESOLUTION_LOW',
  high: 'MEDIA_RESOLUTION_HIGH',
  original: 'MEDIA_RESOLUTION_HIGH',
}
