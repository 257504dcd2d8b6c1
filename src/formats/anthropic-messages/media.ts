import { base64Source, sourceOfAddress } from '../canonical/data-url.ts'
import { elementFields, type Fields } from '../canonical/fields.ts'
import type { MediaSource } from '../canonical/media.ts'
import type { FilePart, ImagePart } from '../canonical/parts.ts'
import type { Warnings } from '../canonical/warnings.ts'
import type { TargetContext } from '../translator.ts'
import type { WireDocumentSource, WireImageSource } from './wire-request.ts'

/** `source` of an image or a document. */
export function parseSource(block: Fields, warnings: Warnings): MediaSource {
  const source = block.fields('source') ?? warnings.refuse(block.path('source'), 'is required.')
  const required = (name: string) => source.text(name) ?? warnings.refuse(source.path(name), 'is required.')
  switch (source.text('type')) {
    case 'base64':
      return base64Source(required('media_type'), required('data'))
    case 'url':
      return sourceOfAddress(required('url'))
    case 'file':
      return { type: 'file-id', id: required('file_id'), format: 'anthropic-messages' }
    case 'text':
      return { type: 'text', mediaType: source.text('media_type') ?? 'text/plain', text: required('data') }
    case 'content':
      return { type: 'text', mediaType: 'text/plain', text: parseContent(source, warnings) }
    default:
      return warnings.refuse(source.path('type'), 'must be base64, url, file, text or content.')
  }
}

/** A document that is made of blocks is the text of these. */
function parseContent(source: Fields, warnings: Warnings): string {
  if (typeof source.any('content') === 'string') return source.text('content') ?? ''
  const texts = (source.list('content') ?? []).map((entry, index) => {
    const block = elementFields(entry, `${source.path('content')}[${index}]`, warnings)
    return block.text('text') ?? warnings.refuse(block.at, 'only text can be passed on within a document.')
  })
  return texts.join('\n\n')
}

/** An image for a provider. */
export function imageSource(part: ImagePart, { warnings }: TargetContext): WireImageSource {
  const { source } = part
  if (source.type === 'url') return { type: 'url', url: source.url }
  if (source.type === 'file-id') return { type: 'file', file_id: source.id }
  const media_type = source.type === 'base64' ? IMAGES.find((type) => type === source.mediaType) : undefined
  if (source.type === 'base64' && media_type) return { type: 'base64', media_type, data: source.data }
  return warnings.refuse(warnings.pathOf(part, 'image'), `the target takes images of type ${IMAGES.join(', ')} only.`)
}

const IMAGES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const

/** A document for a provider: a PDF, or text of any kind. */
export function documentSource(part: FilePart, { warnings }: TargetContext): WireDocumentSource {
  const { source } = part
  if (source.type === 'url') return { type: 'url', url: source.url }
  if (source.type === 'file-id') return { type: 'file', file_id: source.id }
  if (source.type === 'text') return { type: 'text', media_type: 'text/plain', data: source.text }
  const { mediaType, data } = source
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data }
  const text = TEXT.test(mediaType) ? textOf(data) : undefined
  if (text !== undefined) return { type: 'text', media_type: 'text/plain', data: text }
  return warnings.refuse(
    warnings.pathOf(part, 'file'),
    `the target takes no file of type ${mediaType}. Send it as PDF or as text.`,
  )
}

const TEXT = /^text\/|^application\/(?:json|xml|yaml|x-yaml|javascript|sql)\b|\+(?:json|xml)$/

function textOf(base64: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined // neither base64 nor UTF-8
  }
}
