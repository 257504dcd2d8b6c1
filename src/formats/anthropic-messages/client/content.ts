import { elementFields, type Fields } from '../../canonical/fields.ts'
import { base64Source, type MediaSource, sourceOfAddress } from '../../canonical/media.ts'
import type { FilePart, ImagePart, SearchResultPart, TextPart, UserPart } from '../../canonical/parts.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import { parseMark } from '../fields.ts'

/** The blocks of a `content`; a string is one text block. */
export function blocksOf(holder: Fields, name: string, warnings: Warnings): Fields[] {
  const content = holder.any(name)
  const path = holder.path(name)
  if (content === undefined) return []
  if (typeof content === 'string') return [elementFields({ type: 'text', text: content }, path, warnings)]
  if (!Array.isArray(content)) return warnings.refuse(path, 'must be a string or an array of blocks.')
  return content.map((block: unknown, index) => elementFields(block, `${path}[${index}]`, warnings))
}

const PART_NAMES = { name: 'title', citable: 'citations' }

/** Parses a block of a user message or of a tool result. An empty text gives no part. */
export function parseBlock(block: Fields, warnings: Warnings): UserPart[] {
  const part = parsePart(block, warnings)
  block.drop()
  if (!part) return []
  warnings.place(part, block.at, PART_NAMES)
  return [part]
}

function parsePart(block: Fields, warnings: Warnings): UserPart | undefined {
  const type = block.text('type')
  switch (type) {
    case 'text':
      block.ignore('citations') // has a meaning in an answer only
      return parseText(block, warnings)
    case 'image':
      return defined<ImagePart>({ type, source: parseSource(block, warnings), cache: parseMark(block, warnings) })
    case 'document':
      return defined<FilePart>({
        type: 'file',
        source: parseSource(block, warnings),
        name: block.text('title'),
        context: block.text('context'),
        citable: isCitable(block),
        cache: parseMark(block, warnings),
      })
    case 'search_result':
      return defined<SearchResultPart>({
        type: 'search-result',
        source: block.text('source') ?? '',
        title: block.text('title') ?? '',
        content: parseTexts(block, 'content', warnings),
        citable: isCitable(block),
        cache: parseMark(block, warnings),
      })
    case 'tool_reference': // a deferred tool that was found; all tools are declared anyway
      warnings.noteChanged(block.at, 'replaced')
      return { type: 'text', text: block.text('tool_name') ?? '' }
    default:
      return warnings.refuse(block.path('type'), `"${type}" is no type of content that can be passed on.`)
  }
}

export function parseText(block: Fields, warnings: Warnings): TextPart | undefined {
  const text = block.text('text')
  return text ? defined<TextPart>({ type: 'text', text, cache: parseMark(block, warnings) }) : undefined
}

/** Parses a list that may contain only texts: instructions, or the content of a search result. */
export function parseTexts(holder: Fields, name: string, warnings: Warnings): TextPart[] {
  return blocksOf(holder, name, warnings).flatMap((block) => {
    const type = block.text('type')
    if (type === 'tool_addition' || type === 'tool_removal') {
      warnings.noteDropped(block.at) // all tools are declared from the beginning
      return []
    }
    if (type !== 'text') warnings.refuse(block.path('type'), `"${type}" has no place here.`)
    const part = parseText(block, warnings)
    block.ignore('citations')
    block.drop()
    return part ?? []
  })
}

const isCitable = (block: Fields): true | undefined => block.fields('citations')?.flag('enabled') || undefined

/** Parses `source` of an image or a document. */
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

/** The text of a document that consists of blocks. */
function parseContent(source: Fields, warnings: Warnings): string {
  if (typeof source.any('content') === 'string') return source.text('content') ?? ''
  const texts = (source.list('content') ?? []).map((entry, index) => {
    const block = elementFields(entry, `${source.path('content')}[${index}]`, warnings)
    return block.text('text') ?? warnings.refuse(block.at, 'only text can be passed on within a document.')
  })
  return texts.join('\n\n')
}
