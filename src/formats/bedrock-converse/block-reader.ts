import { isObject, type JsonObject } from '../../lib/json.ts'
import type { AssistantPart } from '../canonical/parts.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import type { ReadContext } from '../translator.ts'
import { SERVER_TOOL } from './answer-parse.ts'
import { parseCitation } from './citations.ts'

/** Reads one block of a stream. */
export interface BlockReader {
  add(delta: JsonObject): void
  end(): void
}

export interface BlockContext extends ReadContext {
  /** Tells of a new part; answers its key. */
  start(part: AssistantPart): number
  emit(event: ReaderEvent): void
}

/** What a block is depends on its start, or on its first delta where it has none. */
export function createBlockReader(block: JsonObject, context: BlockContext): BlockReader {
  if (isObject(block.toolUse) && block.toolUse.type !== SERVER_TOOL && text(block.toolUse.name) !== '')
    return readCall(block.toolUse, context)
  if (isObject(block.reasoningContent)) return readThought(context)
  if (typeof block.text === 'string' || isObject(block.citation)) return readText(context)
  context.warnings.dropped(Object.keys(block)[0] ?? 'content')
  return { add() {}, end() {} }
}

/** A text that says nothing is no part. */
function readText({ start, emit }: BlockContext): BlockReader {
  let key: number | undefined
  const open = () => {
    key ??= start({ type: 'text', text: '' })
    return key
  }
  return {
    add({ text: said, citation }) {
      if (text(said) !== '') emit({ type: 'part-delta', key: open(), text: text(said) })
      const cited = isObject(citation) ? parseCitation(citation) : undefined
      if (cited) emit({ type: 'part-citation', key: open(), citation: cited })
    },
    end() {
      if (key !== undefined) emit({ type: 'part-end', key })
    },
  }
}

/** A thought that neither says nor proves anything is no part. */
function readThought({ start, emit, origin }: BlockContext): BlockReader {
  let key: number | undefined
  let signature = ''
  const open = () => {
    key ??= start({ type: 'reasoning', text: '' })
    return key
  }
  return {
    add({ reasoningContent }) {
      if (!isObject(reasoningContent)) return
      const { text: said, redactedContent } = reasoningContent
      signature = text(reasoningContent.signature) || signature
      if (text(said) !== '') emit({ type: 'part-delta', key: open(), text: text(said) })
      if (typeof redactedContent !== 'string') return
      const state = { origin, kind: 'redacted', data: redactedContent } as const
      emit({ type: 'part-end', key: start({ type: 'reasoning', text: '', state }) })
    },
    end() {
      if (signature !== '')
        emit({ type: 'part-state', key: open(), state: { origin, kind: 'signature', data: signature } })
      if (key !== undefined) emit({ type: 'part-end', key })
    },
  }
}

/** Without arguments a call has no delta, or one that is empty. */
function readCall(call: JsonObject, { start, emit, newId }: BlockContext): BlockReader {
  const id = text(call.toolUseId) || `tooluse_${newId()}`
  const key = start({ type: 'tool-call', id, name: text(call.name), arguments: '' })
  return {
    add({ toolUse }) {
      const more = isObject(toolUse) ? text(toolUse.input) : ''
      if (more !== '') emit({ type: 'part-delta', key, text: more })
    },
    end: () => emit({ type: 'part-end', key }),
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
