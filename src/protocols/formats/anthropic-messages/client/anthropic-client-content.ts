import { type Fields, readElementFields, requireFields, requireString } from '../../canonical/canonical-fields.ts'
import { createBase64Source, type MediaSource, toUrlSource } from '../../canonical/canonical-media.ts'
import type { FilePart, ImagePart, SearchResultPart, TextPart, UserPart } from '../../canonical/canonical-parts.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import { parseBreakpoint } from '../anthropic-fields.ts'

/** Reads a content field's blocks. A string counts as one text block. */
export function readBlocks(parent: Fields, name: string, warnings: Warnings): Fields[] {
  const content = parent.any(name)
  const path = parent.getPath(name)
  if (content === undefined) return []
  if (typeof content === 'string') return [readElementFields({ type: 'text', text: content }, path, warnings)]
  if (!Array.isArray(content)) return warnings.reject(path, 'must be a string or an array of blocks.')
  return content.map((block: unknown, index) => readElementFields(block, `${path}[${index}]`, warnings))
}

const PART_FIELD_NAMES = { name: 'title', citable: 'citations' }

/** Parses a block of a user message or tool result. Returns no part for empty text. */
export function parseBlock(block: Fields, warnings: Warnings): UserPart[] {
  const part = parsePart(block, warnings)
  block.dropUnread()
  if (!part) return []
  warnings.setPath(part, block.path, PART_FIELD_NAMES)
  return [part]
}

function parsePart(block: Fields, warnings: Warnings): UserPart | undefined {
  const type = block.string('type')
  switch (type) {
    case 'text':
      block.ignore('citations') // citations only apply to responses
      return parseText(block, warnings)
    case 'image':
      return omitUndefined<ImagePart>({
        type,
        source: parseSource(block, warnings),
        cache: parseBreakpoint(block, warnings),
      })
    case 'document':
      return omitUndefined<FilePart>({
        type: 'file',
        source: parseSource(block, warnings),
        name: block.string('title'),
        context: block.string('context'),
        citable: isCitable(block),
        cache: parseBreakpoint(block, warnings),
      })
    case 'search_result':
      return omitUndefined<SearchResultPart>({
        type: 'search-result',
        source: block.string('source') ?? '',
        title: block.string('title') ?? '',
        content: parseTexts(block, 'content', warnings),
        citable: isCitable(block),
        cache: parseBreakpoint(block, warnings),
      })
    case 'tool_reference': // a search found this deferred tool, but all tools are declared anyway
      warnings.recordChange(block.path, 'replaced')
      return { type: 'text', text: block.string('tool_name') ?? '' }
    default:
      return warnings.reject(block.getPath('type'), `content of type "${type}" is not supported.`)
  }
}

export function parseText(block: Fields, warnings: Warnings): TextPart | undefined {
  const text = block.string('text')
  const cache = parseBreakpoint(block, warnings)
  return text || (cache && text === '') ? omitUndefined<TextPart>({ type: 'text', text, cache }) : undefined
}

/** Parses a list that may only contain text parts: instructions, or the content of a search result. */
export function parseTexts(parent: Fields, name: string, warnings: Warnings): TextPart[] {
  return readBlocks(parent, name, warnings).flatMap((block) => {
    const type = block.string('type')
    if (type === 'tool_addition' || type === 'tool_removal') {
      warnings.recordDrop(block.path) // the request already declares all tools
      return []
    }
    if (type !== 'text') warnings.reject(block.getPath('type'), `content of type "${type}" is not allowed here.`)
    const part = parseText(block, warnings)
    block.ignore('citations')
    block.dropUnread()
    return part ?? []
  })
}

const isCitable = (block: Fields): true | undefined => block.fields('citations')?.boolean('enabled') || undefined

/** Parses the `source` of an image or a document. */
export function parseSource(block: Fields, warnings: Warnings): MediaSource {
  const source = requireFields(block, 'source', warnings)
  switch (source.string('type')) {
    case 'base64':
      return createBase64Source(requireString(source, 'media_type', warnings), requireString(source, 'data', warnings))
    case 'url':
      return toUrlSource(requireString(source, 'url', warnings))
    case 'file':
      return { type: 'file-id', id: requireString(source, 'file_id', warnings), format: 'anthropic-messages' }
    case 'text':
      return {
        type: 'text',
        mediaType: source.string('media_type') ?? 'text/plain',
        text: requireString(source, 'data', warnings),
      }
    case 'content':
      return { type: 'text', mediaType: 'text/plain', text: parseContent(source, warnings) }
    default:
      return warnings.reject(source.getPath('type'), 'must be base64, url, file, text, or content.')
  }
}

/** Joins the text of a document that is made up of blocks. */
function parseContent(source: Fields, warnings: Warnings): string {
  if (typeof source.any('content') === 'string') return source.string('content') ?? ''
  const texts = (source.list('content') ?? []).map((entry, index) => {
    const block = readElementFields(entry, `${source.getPath('content')}[${index}]`, warnings)
    return block.string('text') ?? warnings.reject(block.path, 'documents can only contain text.')
  })
  return texts.join('\n\n')
}
