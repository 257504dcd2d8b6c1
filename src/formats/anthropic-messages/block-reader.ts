import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { AssistantPart } from '../canonical/parts.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import type { ReadContext } from '../translator.ts'
import { parseCitation } from './citations.ts'
import { createInputReader } from './input-reader.ts'
import { parseSearchResults, queryOf } from './search.ts'

/** Reads one block of a stream. */
export interface BlockReader {
  add(delta: JsonObject): void
  end(): void
}

export interface BlockContext extends ReadContext {
  /** Of the provider's searches so far, by their ids. */
  queries: Map<string, string>
  /** Tells of a new part; answers its key. */
  start(part: AssistantPart): number
  emit(event: ReaderEvent): void
}

/** What a block is depends on its start; some vendors have all of it there. */
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

/** A text that says nothing is no part. */
function readText(block: JsonObject, { start, emit }: BlockContext): BlockReader {
  let key: number | undefined
  const open = () => {
    key ??= start({ type: 'text', text: '' })
    return key
  }
  function say(said: unknown) {
    if (text(said) !== '') emit({ type: 'part-delta', key: open(), text: text(said) })
  }
  function cite(said: unknown) {
    const citation = isObject(said) ? parseCitation(said) : undefined
    if (citation) emit({ type: 'part-citation', key: open(), citation })
  }
  say(block.text)
  if (Array.isArray(block.citations)) for (const citation of block.citations) cite(citation)
  return {
    add(delta) {
      if (delta.type === 'citations_delta') cite(delta.citation)
      else say(delta.text)
    },
    end() {
      if (key !== undefined) emit({ type: 'part-end', key })
    },
  }
}

/** A thought that neither says nor proves anything is no part. The last signature is the one that counts. */
function readThinking(block: JsonObject, { start, emit, origin }: BlockContext): BlockReader {
  let key: number | undefined
  let signature = text(block.signature)
  const open = () => {
    key ??= start({ type: 'reasoning', text: '' })
    return key
  }
  function say(said: unknown) {
    if (text(said) !== '') emit({ type: 'part-delta', key: open(), text: text(said) })
  }
  say(block.thinking)
  return {
    add(delta) {
      if (delta.type === 'signature_delta') signature = text(delta.signature) || signature
      else say(delta.thinking)
    },
    end() {
      if (signature !== '')
        emit({ type: 'part-state', key: open(), state: { origin, kind: 'signature', data: signature } })
      if (key !== undefined) emit({ type: 'part-end', key })
    },
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

function readNothing(type: string, { warnings }: BlockContext): BlockReader {
  warnings.dropped(type)
  return { add() {}, end() {} }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
