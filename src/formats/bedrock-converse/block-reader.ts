import { isObject, type JsonObject } from '../../lib/json.ts'
import type { BlockReader } from '../canonical/blocks.ts'
import { createTextPart, createThoughtPart, type PartEvents } from '../canonical/streamed-parts.ts'
import type { ReadContext } from '../translator.ts'
import { SERVER_TOOL } from './answer-parse.ts'
import { parseCitation } from './citations.ts'

export interface BlockContext extends ReadContext, PartEvents {}

/** Reads a block of the type that its start names, or its first delta where it has no start. */
export function createBlockReader(block: JsonObject, context: BlockContext): BlockReader {
  if (isObject(block.toolUse) && block.toolUse.type !== SERVER_TOOL && text(block.toolUse.name) !== '')
    return readCall(block.toolUse, context)
  if (isObject(block.reasoningContent)) return readThought(context)
  if (typeof block.text === 'string' || isObject(block.citation)) return readText(context)
  context.losses.dropped(Object.keys(block)[0] ?? 'content')
  return { add() {}, end() {} }
}

function readText(context: BlockContext): BlockReader {
  const part = createTextPart(context)
  return {
    add(delta) {
      part.say(text(delta.text))
      if (delta.citation === undefined) return
      const citation = isObject(delta.citation) ? parseCitation(delta.citation) : undefined
      if (citation) part.cite(citation)
      else context.losses.dropped('citations')
    },
    end: part.end,
  }
}

function readThought(context: BlockContext): BlockReader {
  const { start, emit, origin } = context
  const part = createThoughtPart(context, origin)
  return {
    add({ reasoningContent }) {
      if (!isObject(reasoningContent)) return
      const { redactedContent } = reasoningContent
      part.sign(text(reasoningContent.signature))
      part.say(text(reasoningContent.text))
      if (typeof redactedContent !== 'string') return
      const state = { origin, kind: 'redacted', data: redactedContent } as const
      emit({ type: 'part-end', key: start({ type: 'reasoning', text: '', state }) })
    },
    end: part.end,
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
