import { assertNever } from '../../../lib/assert-never.ts'
import { encodeUtf8, toBase64 } from '../../../lib/bytes.ts'
import { getEntry } from '../../../lib/maps.ts'
import type { Fields } from '../canonical/canonical-fields.ts'
import { createBase64Source, guessMediaType, isGoogleFileUrl, type MediaSource } from '../canonical/canonical-media.ts'
import type { AudioPart, FilePart, ImagePart, VideoPart } from '../canonical/canonical-parts.ts'
import type { Turn } from '../canonical/canonical-turns.ts'
import { omitUndefined } from '../canonical/canonical-values.ts'
import type { Warnings } from '../canonical/canonical-warnings.ts'
import { decodeBase64Text } from './gemini-fields.ts'
import type { WireBlob, WireFileData, WirePart, WireResolution } from './gemini-wire.ts'

type MediaPart = ImagePart | AudioPart | VideoPart | FilePart

/** Parses a client part's `inlineData` or `fileData`. Returns `undefined` if it has neither. */
export function parseMedia(part: Fields, warnings: Warnings): MediaPart | undefined {
  const inlineData = part.fields('inlineData')
  const fileData = part.fields('fileData')
  const mediaFields = inlineData ?? fileData
  if (!mediaFields) return undefined
  const source = inlineData ? readInlineSource(inlineData) : readFileSource(mediaFields)
  const name = mediaFields.string('displayName')
  const media = toMediaPart(source, name)
  if (name !== undefined && media.type !== 'file') warnings.recordDrop(mediaFields.getPath('displayName'))
  mediaFields.dropUnread()
  if (media.type === 'video') Object.assign(media, readVideoSettings(part))
  return media
}

/** Creates an image, audio, or video part, depending on the media type. Any other type becomes a file part. */
export function toMediaPart(source: MediaSource, name?: string): MediaPart {
  const mediaType = source.type === 'url' ? (source.mediaType ?? guessMediaType(source.url)) : source.mediaType
  const [kind] = (mediaType ?? '').split('/')
  if (kind === 'image' || kind === 'audio' || kind === 'video') return { type: kind, source }
  return omitUndefined<FilePart>({ type: 'file', source, name })
}

function readInlineSource(blob: Fields): MediaSource {
  const mediaType = blob.string('mimeType')?.trim().toLowerCase() || 'application/octet-stream'
  const data = blob.string('data') ?? ''
  const text = mediaType.startsWith('text/') ? decodeBase64Text(data) : undefined
  return text === undefined ? createBase64Source(mediaType, data) : { type: 'text', mediaType, text }
}

/** Reads a file URI. Google's file URIs become file IDs, because no other provider can read them. Other URIs stay URLs. */
function readFileSource(file: Fields): MediaSource {
  const uri = file.string('fileUri') ?? ''
  const mediaType = file.string('mimeType')
  return isGoogleFileUrl(uri) || !/^https?:/i.test(uri)
    ? omitUndefined<MediaSource & { type: 'file-id' }>({ type: 'file-id', id: uri, format: 'gemini', mediaType })
    : omitUndefined<MediaSource & { type: 'url' }>({ type: 'url', url: uri, mediaType })
}

function readVideoSettings(part: Fields): Omit<VideoPart, 'type' | 'source'> {
  const metadata = part.fields('videoMetadata')
  return metadata
    ? omitUndefined({
        fps: metadata.number('fps'),
        startOffset: metadata.string('startOffset'),
        endOffset: metadata.string('endOffset'),
      })
    : {}
}

/** Writes an image, audio, a video, or a file. Returns `undefined` for another vendor's file. */
export function writeMedia(part: MediaPart): WirePart | undefined {
  const media = writeSource(part.source, part.type)
  if (!media || part.type !== 'video') return media
  const { fps, startOffset, endOffset } = part
  const videoMetadata = omitUndefined({ fps, startOffset, endOffset })
  return Object.keys(videoMetadata).length > 0 ? { ...media, videoMetadata } : media
}

/** Writes a source: `inlineData` for bytes and text, `fileData` for URLs and Google's files. */
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
        fileData: {
          mimeType: source.mediaType ?? guessMediaType(source.url) ?? defaultMediaTypes[kind],
          fileUri: source.url,
        },
      }
    case 'file-id':
      if (source.format !== 'gemini') return undefined
      return {
        fileData: {
          mimeType: source.mediaType ?? guessMediaType(source.id) ?? defaultMediaTypes[kind],
          fileUri: source.id,
        },
      }
    default:
      return assertNever(source)
  }
}

/** The default media types, because the field is required. */
const defaultMediaTypes: Readonly<Record<MediaPart['type'], string>> = {
  image: 'image/jpeg',
  audio: 'audio/mpeg',
  video: 'video/mp4',
  file: 'application/pdf',
}

type Detail = NonNullable<ImagePart['detail']>

/** Converts a media resolution, for all media or for one part, to an image detail. */
export function toDetail(resolution: string | undefined): Detail | undefined {
  return resolution === undefined ? undefined : getEntry(detailByResolution, resolution)
}

/** Reads a part's detail from its resolution object. */
export const readDetail = (part: Fields): Detail | undefined =>
  toDetail(part.fields('mediaResolution')?.string('level'))

/** Returns one resolution for all media if the images agree on it, because not every model accepts a resolution per part. */
export function getResolution(turns: readonly Turn[], warnings: Warnings): WireResolution | undefined {
  const detailLevels = new Set<Detail>()
  for (const turn of turns) {
    if (turn.role !== 'user') continue
    for (const part of turn.content)
      if (part.type === 'image' && part.detail && part.detail !== 'auto') detailLevels.add(part.detail)
  }
  const [detail, ...otherLevels] = detailLevels
  if (detail === undefined) return undefined
  if (otherLevels.length === 0) return resolutionByDetail[detail]
  warnings.recordDrop('detail')
  return undefined
}

const detailByResolution: Readonly<Record<string, Detail>> = {
  MEDIA_RESOLUTION_LOW: 'low',
  MEDIA_RESOLUTION_HIGH: 'high',
  MEDIA_RESOLUTION_ULTRA_HIGH: 'original',
}

const resolutionByDetail: Readonly<Record<Detail, WireResolution | undefined>> = {
  auto: undefined,
  low: 'MEDIA_RESOLUTION_LOW',
  high: 'MEDIA_RESOLUTION_HIGH',
  original: 'MEDIA_RESOLUTION_HIGH',
}
