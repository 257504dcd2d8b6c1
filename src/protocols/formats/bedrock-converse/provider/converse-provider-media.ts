import { getEntry } from '../../../../lib/maps.ts'
import type { FilePart, ImagePart, VideoPart } from '../../canonical/canonical-parts.ts'
import type { TargetContext } from '../../translator.ts'
import type { WireBytes, WireDocument, WireImage, WireText, WireVideo } from '../converse-wire.ts'

export function writeImage(part: ImagePart, target: TargetContext): WireImage {
  const { bytes, mediaType } = getBytes(part, target)
  const format = /^image\/(jpeg|png|gif|webp)$/.exec(mediaType)?.[1]
  return { image: { format: format ?? rejectType(part, mediaType, target), source: { bytes } } }
}

export function writeVideo(part: VideoPart, target: TargetContext): WireVideo {
  const { bytes, mediaType } = getBytes(part, target)
  const format = getEntry(VIDEO_FORMATS, mediaType) ?? /^video\/(mp4|mkv|webm|flv|mpeg|mpg|wmv)$/.exec(mediaType)?.[1]
  return { video: { format: format ?? rejectType(part, mediaType, target), source: { bytes } } }
}

/** Writes a document. `usedNames` contains earlier documents' names, because names must be unique. */
export function writeDocument(part: FilePart, usedNames: Set<string>, target: TargetContext): WireDocument {
  const { source: mediaSource, context, citable } = part
  const mediaType = mediaSource.type === 'text' || mediaSource.type === 'base64' ? mediaSource.mediaType : ''
  const format =
    getEntry(DOCUMENT_FORMATS, mediaType) ??
    (mediaType.startsWith('text/') ? 'txt' : rejectType(part, mediaType, target))
  const source: WireText | WireBytes =
    mediaSource.type === 'text' ? { text: mediaSource.text } : { bytes: getBytes(part, target).bytes }
  return {
    document: {
      format,
      name: createDocumentName(part.name, usedNames),
      source,
      ...(context !== undefined && { context }),
      ...(citable && { citations: { enabled: true } }),
    },
  }
}

/** Creates a unique name for a document. Names may only contain letters, digits, single spaces, hyphens, parentheses, and brackets. */
function createDocumentName(fileName: string | undefined, usedNames: Set<string>): string {
  const baseName = fileName
    ?.replace(/\.\w{1,5}$/, '')
    .replace(/[^A-Za-z0-9()[\]-]+/g, ' ')
    .trim()
    .slice(0, MAX_NAME_LENGTH)
  let name = baseName || 'Document'
  for (let suffix = 2; usedNames.has(name); suffix++) name = `${baseName || 'Document'} ${suffix}`
  usedNames.add(name)
  return name
}

const MAX_NAME_LENGTH = 190

function getBytes(part: ImagePart | VideoPart | FilePart, { warnings }: TargetContext) {
  const { source } = part
  if (source.type === 'base64') return { bytes: source.data, mediaType: source.mediaType }
  return warnings.reject(
    warnings.getPath(part, part.type),
    `the target needs the ${part.type} itself. Send it as base64.`,
  )
}

function rejectType(part: ImagePart | VideoPart | FilePart, mediaType: string, { warnings }: TargetContext): never {
  return warnings.reject(
    warnings.getPath(part, part.type),
    `the target does not support the ${part.type} type ${mediaType}. Send it as ${SUGGESTED_TYPES[part.type]}.`,
  )
}

const SUGGESTED_TYPES = { image: 'PNG or JPEG', video: 'MP4', file: 'PDF' } as const

const VIDEO_FORMATS: Readonly<Record<string, string>> = {
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/x-flv': 'flv',
  'video/x-ms-wmv': 'wmv',
  'video/3gpp': 'three_gp',
}

const DOCUMENT_FORMATS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'application/json': 'txt',
  'application/xml': 'txt',
}
