import { encodeUtf8 } from '../../lib/bytes.ts'
import { toBase64 } from '../../lib/encoding.ts'
import { defined } from '../canonical/defined.ts'
import type { MediaSource } from '../canonical/media.ts'
import { typeOfUrl } from '../canonical/type-of-url.ts'
import type { MediaPart } from './media-parse.ts'
import type { WireBlob, WireFileData, WirePart } from './wire.ts'

/** The part of an image, a sound, a film or a file; undefined when it is a file at another vendor. */
export function writeMedia(part: MediaPart): WirePart | undefined {
  const media = writeSource(part.source, part.type)
  if (!media || part.type !== 'video') return media
  const { fps, startOffset, endOffset } = part
  const videoMetadata = defined({ fps, startOffset, endOffset })
  return Object.keys(videoMetadata).length > 0 ? { ...media, videoMetadata } : media
}

/** Bytes stand in the request, everything else is named by its address. */
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
  }
}

/** The field is required. */
const usualTypes: Readonly<Record<MediaPart['type'], string>> = {
  image: 'image/jpeg',
  audio: 'audio/mpeg',
  video: 'video/mp4',
  file: 'application/pdf',
}
