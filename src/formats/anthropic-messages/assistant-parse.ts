import { argumentsText } from '../canonical/arguments.ts'
import { defined } from '../canonical/defined.ts'
import { attachStates } from '../canonical/detach.ts'
import type { Fields } from '../canonical/fields.ts'
import type { AssistantPart, ToolCallPart } from '../canonical/parts.ts'
import { setApart } from '../canonical/set-apart.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { parseCitations } from './citations.ts'
import { parseMark } from './marks.ts'
import { parseSource } from './media.ts'
import { parseText } from './parts-parse.ts'
import { parseSearchResults, queryOf } from './search.ts'
import { serverToolText } from './server-tools.ts'
import { parseRedacted, parseThinking } from './thoughts.ts'

/** What the model said before, as the client gives it back. */
export function parseAssistant(blocks: readonly Fields[], warnings: Warnings): AssistantPart[] {
  const searches: Searches = { queries: new Map(), places: new Map() }
  const told = new Set<AssistantPart>()
  const parts = blocks.flatMap((block) => {
    const part = parsePart(block, searches, warnings)
    block.drop()
    if (!part) return []
    warnings.place(part, block.at)
    if (part.type === 'text' && block.text('type') !== 'text') told.add(part)
    return [part]
  })
  for (const place of searches.places.values()) warnings.dropped(place) // has found nothing so far
  return attachStates(setApart(parts, told))
}

/** The searches that Anthropic made, by their ids, and where those stand whose results have not come yet. */
interface Searches {
  queries: Map<string, string>
  places: Map<string, string>
}

function parsePart(block: Fields, { queries, places }: Searches, warnings: Warnings): AssistantPart | undefined {
  const type = block.text('type')
  switch (type) {
    case 'text': {
      const citations = parseCitations(block.any('citations'))
      const part = parseText(block, warnings)
      return part && citations ? { ...part, citations } : part
    }
    case 'thinking':
      block.ignore('cache_control') // Anthropic refuses it here
      return parseThinking(block.text('thinking') ?? '', block.text('signature') ?? '')
    case 'redacted_thinking':
      return parseRedacted(block.text('data') ?? '')
    case 'tool_use':
      return parseCall(block, warnings)
    case 'image':
      return { type, source: parseSource(block, warnings) }
    case 'web_search_tool_result':
      places.delete(block.text('tool_use_id') ?? '')
      return parseSearchResults(passOver(block), queries)
    case 'fallback': // where another model of Anthropic took over
      passOver(block)
      return void warnings.dropped(block.at)
    case 'server_tool_use':
      if (block.text('name') === 'web_search') {
        const id = block.text('id') ?? ''
        queries.set(id, queryOf(passOver(block).input))
        places.set(id, block.at)
        return undefined
      }
  }
  return parseServerBlock(block, warnings)
}

function parseCall(block: Fields, warnings: Warnings): ToolCallPart {
  const required = (name: string) => block.text(name) ?? warnings.refuse(block.path(name), 'is required.')
  block.ignore('caller')
  return defined<ToolCallPart>({
    type: 'tool-call',
    id: required('id'),
    name: required('name'),
    arguments: argumentsText(block.any('input')),
    cache: parseMark(block, warnings),
  })
}

/** What tools that ran at Anthropic were given and gave, for a model that never had them: its readable text. */
function parseServerBlock(block: Fields, warnings: Warnings): AssistantPart | undefined {
  const text = serverToolText(passOver(block))
  if (text === undefined)
    return warnings.refuse(block.path('type'), `"${block.text('type')}" is no type of content that can be passed on.`)
  warnings.changed(block.at, text === '' ? 'dropped' : 'replaced')
  return text === '' ? undefined : { type: 'text', text }
}

function passOver(block: Fields) {
  block.ignore(...Object.keys(block.value))
  return block.value
}
