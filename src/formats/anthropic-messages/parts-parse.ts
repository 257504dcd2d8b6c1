import { defined } from '../canonical/defined.ts'
import { elementFields, type Fields } from '../canonical/fields.ts'
import type { FilePart, ImagePart, SearchResultPart, TextPart, UserPart } from '../canonical/parts.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { parseMark } from './marks.ts'
import { parseSource } from './media.ts'

/** The blocks of a `content`; a string is one of text. */
export function blocksOf(holder: Fields, name: string, warnings: Warnings): Fields[] {
  const content = holder.any(name)
  const path = holder.path(name)
  if (content === undefined) return []
  if (typeof content === 'string') return [elementFields({ type: 'text', text: content }, path, warnings)]
  if (!Array.isArray(content)) return warnings.refuse(path, 'must be a string or an array of blocks.')
  return content.map((block: unknown, index) => elementFields(block, `${path}[${index}]`, warnings))
}

const PART_NAMES = { name: 'title', citable: 'citations' }

/** What a user or a tool says. An empty text is no part. */
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
      block.ignore('citations') // means something in an answer only
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
    case 'tool_reference': // a tool that was put off until it was found; all of them are declared here
      warnings.changed(block.at, 'replaced')
      return { type: 'text', text: block.text('tool_name') ?? '' }
    default:
      return warnings.refuse(block.path('type'), `"${type}" is no type of content that can be passed on.`)
  }
}

export function parseText(block: Fields, warnings: Warnings): TextPart | undefined {
  const text = block.text('text')
  return text ? defined<TextPart>({ type: 'text', text, cache: parseMark(block, warnings) }) : undefined
}

/** Where only text has a meaning: instructions, and what was found. */
export function parseTexts(holder: Fields, name: string, warnings: Warnings): TextPart[] {
  return blocksOf(holder, name, warnings).flatMap((block) => {
    const type = block.text('type')
    if (type === 'tool_addition' || type === 'tool_removal') {
      warnings.dropped(block.at) // all tools are declared from the beginning
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
