import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { AnswerStarts, begunAnew } from '../../answer-starts.ts'
import type { ReaderEvent } from '../../canonical/stream.ts'
import {
  type BlockReader,
  createBlocks,
  createPartEvents,
  createReasoningPart,
  createTextPart,
  type PartEvents,
} from '../../canonical/stream-reader.ts'
import { textOrEmpty } from '../../canonical/values.ts'
import type { ReadContext, StreamReader } from '../../translator.ts'
import { exceptionIn, streamError } from '../errors.ts'
import { converseUsage, parseStop } from '../fields.ts'
import { parseCitation, SERVER_TOOL } from './answer.ts'

/** Creates a reader of events from `messageStart` to `metadata`. Only blocks that call tools are announced; others begin with their first delta. */
export function createReader(context: ReadContext, emit: (event: ReaderEvent) => void): StreamReader {
  const blocks = createBlocks()
  const starts = new AnswerStarts()
  const blockContext = { ...context, ...createPartEvents(emit) }

  function observe({ event, data }: SseEvent) {
    const exception = exceptionIn(event, data)
    if (exception) return emit({ type: 'error', error: streamError(exception) })
    const payload = tryParseJson(data)
    if (payload === undefined && data.trim() !== '') return emit({ type: 'unreadable' })
    if (!isObject(payload)) return // holds nothing that a client could read
    switch (event) {
      case 'messageStart':
        if (starts.start() === 'anew') return emit({ type: 'error', error: begunAnew })
        return emit({ type: 'start' })
      case 'contentBlockStart':
        return startBlock(payload.contentBlockIndex, isObject(payload.start) ? payload.start : {})
      case 'contentBlockDelta':
        return addTo(payload.contentBlockIndex, isObject(payload.delta) ? payload.delta : {})
      case 'contentBlockStop':
        return blocks.end(payload.contentBlockIndex)
      case 'messageStop':
        blocks.endAll()
        starts.complete()
        return emit({
          type: 'finish',
          candidate: 0,
          finish: parseStop(payload.stopReason, payload.additionalModelResponseFields),
        })
      case 'metadata': {
        const usage = converseUsage(payload.usage)
        if (usage) emit({ type: 'usage', usage })
        return emit({ type: 'done' })
      }
    }
  }

  function startBlock(index: unknown, block: JsonObject) {
    starts.content()
    blocks.start(index, () => createBlockReader(block, blockContext))
  }

  function addTo(index: unknown, delta: JsonObject) {
    if (blocks.add(index, delta)) return
    startBlock(index, delta)
    blocks.add(index, delta)
  }

  return { observe, end: blocks.endAll }
}

interface BlockContext extends ReadContext, PartEvents {}

/** Creates a reader for a block, whose type is known from its start, or without a start from its first delta. */
function createBlockReader(block: JsonObject, context: BlockContext): BlockReader {
  if (isObject(block.toolUse) && block.toolUse.type !== SERVER_TOOL && textOrEmpty(block.toolUse.name) !== '')
    return readCall(block.toolUse, context)
  if (isObject(block.reasoningContent)) return readReasoning(context)
  if (typeof block.text === 'string' || isObject(block.citation)) return readText(context)
  context.responseWarnings.noteDropped(Object.keys(block)[0] ?? 'content')
  return { add() {}, end() {} }
}

function readText(context: BlockContext): BlockReader {
  const part = createTextPart(context)
  return {
    add(delta) {
      part.append(textOrEmpty(delta.text))
      if (delta.citation === undefined) return
      const citation = isObject(delta.citation) ? parseCitation(delta.citation) : undefined
      if (citation) part.cite(citation)
      else context.responseWarnings.noteDropped('citations')
    },
    end: part.end,
  }
}

function readReasoning(context: BlockContext): BlockReader {
  const { start, emit, origin } = context
  const part = createReasoningPart(context, origin)
  return {
    add({ reasoningContent }) {
      if (!isObject(reasoningContent)) return
      const { redactedContent } = reasoningContent
      part.sign(textOrEmpty(reasoningContent.signature))
      part.append(textOrEmpty(reasoningContent.text))
      if (typeof redactedContent !== 'string') return
      const state = { origin, kind: 'redacted', data: redactedContent } as const
      emit({ type: 'part-end', key: start({ type: 'reasoning', text: '', state }) })
    },
    end: part.end,
  }
}

/** Creates a reader for a call. A call without arguments has no delta, or an empty one. */
function readCall(call: JsonObject, { start, emit, newId }: BlockContext): BlockReader {
  const id = textOrEmpty(call.toolUseId) || `tooluse_${newId()}`
  const key = start({ type: 'tool-call', id, name: textOrEmpty(call.name), arguments: '' })
  return {
    add({ toolUse }) {
      const more = isObject(toolUse) ? textOrEmpty(toolUse.input) : ''
      if (more !== '') emit({ type: 'part-delta', key, text: more })
    },
    end: () => emit({ type: 'part-end', key }),
  }
}
