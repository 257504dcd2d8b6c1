import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { BlockReader } from '../canonical/blocks.ts'
import type { AssistantPart } from '../canonical/parts.ts'
import { createTextPart, createThoughtPart, type PartEvents } from '../canonical/streamed-parts.ts'
import type { ReadContext } from '../translator.ts'
import { parseCitation } from './citations.ts'
import { createInputReader } from './input-reader.ts'
import { parseSearchResults, queryOf } from './search.ts'

export interface BlockContext extends ReadContext, PartEvents {
  /** The queries of the provider's searches that have found nothing so far, by the ids of the searches. */
  queries: Map<string, string>
}

/** Reads a block by the type that its start names; some vendors put all of its content there. */
export function createBlockReader(block: JsonObject, context: BlockContext): BlockReader {
  switch (block.type) {
    case 'text':
      return readText(block, context)
    case 'thinking':
      return readThinking(block, context)
    case 'redacted_thinking':
      return readWhole(
        { type: 'reasoning', text: '', state: { origin: context.origin, kind: 'redacted', data: text(block.data) } },
        context,
      )
    case 'tool_use':
      return text(block.name) === '' ? readNothing('tool_use', context) : readCall(block, context)
    case 'server_tool_use':
      return block.name === 'web_search' ? readSearch(block, context) : readNothing('server_tool_use', context)
    case 'web_search_tool_result':
      return readWhole(parseSearchResults(block, context.queries), context)
    default:
      return readNothing(text(block.type) || 'content', context)
  }
}

function readText(block: JsonObject, context: BlockContext): BlockReader {
  const part = createTextPart(context)
  const cite = (said: unknown) => {
    const citation = isObject(said) ? parseCitation(said) : undefined
    if (citation) part.cite(citation)
    else context.losses.dropped('citations')
  }
  part.say(text(block.text))
  if (Array.isArray(block.citations)) for (const citation of block.citations) cite(citation)
  return {
    add(delta) {
      if (delta.type === 'citations_delta') cite(delta.citation)
      else part.say(text(delta.text))
    },
    end: part.end,
  }
}

function readThinking(block: JsonObject, context: BlockContext): BlockReader {
  const part = createThoughtPart(context, context.origin)
  part.sign(text(block.signature))
  part.say(text(block.thinking))
  return {
    add(delta) {
      if (delta.type === 'signature_delta') part.sign(text(delta.signature))
      else part.say(text(delta.thinking))
    },
    end: part.end,
  }
}

function readCall(block: JsonObject, { start, emit, newId }: BlockContext): BlockReader {
  const id = text(block.id) || `toolu_${newId()}`
  const key = start({ type: 'tool-call', id, name: text(block.name), arguments: '' })
  const input = createInputReader(block.input, (more) => emit({ type: 'part-delta', key, text: more }))
  return {
    add: ({ partial_json }) => input.add(text(partial_json)),
    end() {
      input.end()
      emit({ type: 'part-end', key })
    },
  }
}

/** The search is told together with what it found. */
function readSearch({ id, input }: JsonObject, { queries }: BlockContext): BlockReader {
  const pieces: string[] = []
  const said = createInputReader(input, (more) => void pieces.push(more))
  return {
    add: ({ partial_json }) => said.add(text(partial_json)),
    end() {
      said.end()
      queries.set(text(id), queryOf(tryParseJson(pieces.join(''))))
    },
  }
}

function readWhole(part: AssistantPart, { start, emit }: BlockContext): BlockReader {
  const key = start(part)
  return { add() {}, end: () => emit({ type: 'part-end', key }) }
}

function readNothing(type: string, { losses }: BlockContext): BlockReader {
  losses.dropped(type)
  return { add() {}, end() {} }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
