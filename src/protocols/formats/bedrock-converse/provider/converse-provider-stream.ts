import { isObject, type JsonObject, tryParseJson } from '../../../../lib/json.ts'
import type { SseEvent } from '../../../../lib/sse.ts'
import type { ReaderEvent } from '../../canonical/canonical-stream.ts'
import { readStringOrEmpty } from '../../canonical/canonical-values.ts'
import { addCharges } from '../../canonical/reported-cost.ts'
import {
  type BlockReader,
  createBlockCollection,
  createPartEvents,
  createReasoningEmitter,
  createTextEmitter,
  type PartEvents,
} from '../../canonical/stream-reader.ts'
import { RestartDetector, restartError } from '../../restart-detector.ts'
import type { ReaderContext, StreamReader } from '../../translator.ts'
import { parseStreamError, readException } from '../converse-errors.ts'
import { parseFinish, readConverseUsage } from '../converse-fields.ts'
import { parseCitation, SERVER_TOOL } from './converse-provider-response.ts'

/** Creates a reader for events from `messageStart` to `metadata`. Only tool calls have a start event. Other blocks start with their first delta. */
export function createReader(context: ReaderContext, emit: (event: ReaderEvent) => void): StreamReader {
  const blocks = createBlockCollection()
  const starts = new RestartDetector()
  const blockContext = { ...context, ...createPartEvents(emit) }

  function observe({ event, data }: SseEvent) {
    const exception = readException(event, data)
    if (exception) return emit({ type: 'error', error: parseStreamError(exception) })
    const payload = tryParseJson(data)
    if (payload === undefined && data.trim() !== '') return emit({ type: 'unreadable' })
    if (!isObject(payload)) return // an event without a payload has no content
    switch (event) {
      case 'messageStart':
        if (starts.recordStart() === 'restart') return emit({ type: 'error', error: restartError })
        return emit({ type: 'start' })
      case 'contentBlockStart':
        return startBlock(payload.contentBlockIndex, isObject(payload.start) ? payload.start : {})
      case 'contentBlockDelta':
        return addDelta(payload.contentBlockIndex, isObject(payload.delta) ? payload.delta : {})
      case 'contentBlockStop':
        return blocks.end(payload.contentBlockIndex)
      case 'messageStop':
        blocks.endAll()
        starts.recordCompletion()
        return emit({
          type: 'finish',
          candidate: 0,
          finish: parseFinish(payload.stopReason, payload.additionalModelResponseFields),
        })
      case 'metadata': {
        const usage = addCharges(readConverseUsage(payload.usage), payload)
        if (usage) emit({ type: 'usage', usage })
        return emit({ type: 'done' })
      }
    }
  }

  function startBlock(index: unknown, block: JsonObject) {
    starts.recordContent()
    blocks.start(index, () => createBlockReader(block, blockContext))
  }

  function addDelta(index: unknown, delta: JsonObject) {
    if (blocks.addDelta(index, delta)) return
    startBlock(index, delta)
    blocks.addDelta(index, delta)
  }

  return { observe, end: blocks.endAll }
}

interface ConverseBlockContext extends ReaderContext, PartEvents {}

/** Creates a reader for a block. Its type is known from its start, or from its first delta if it has no start. */
function createBlockReader(block: JsonObject, context: ConverseBlockContext): BlockReader {
  if (isObject(block.toolUse) && block.toolUse.type !== SERVER_TOOL && readStringOrEmpty(block.toolUse.name) !== '')
    return readCall(block.toolUse, context)
  if (isObject(block.reasoningContent)) return readReasoning(context)
  if (typeof block.text === 'string' || isObject(block.citation)) return readText(context)
  context.responseWarnings.recordDrop(Object.keys(block)[0] ?? 'content')
  return { addDelta() {}, end() {} }
}

function readText(context: ConverseBlockContext): BlockReader {
  const part = createTextEmitter(context)
  return {
    addDelta(delta) {
      part.append(readStringOrEmpty(delta.text))
      if (delta.citation === undefined) return
      const citation = isObject(delta.citation) ? parseCitation(delta.citation) : undefined
      if (citation) part.addCitation(citation)
      else context.responseWarnings.recordDrop('citations')
    },
    end: part.end,
  }
}

function readReasoning(context: ConverseBlockContext): BlockReader {
  const { start, emit, origin } = context
  const part = createReasoningEmitter(context, origin)
  return {
    addDelta({ reasoningContent }) {
      if (!isObject(reasoningContent)) return
      const { redactedContent } = reasoningContent
      part.setSignature(readStringOrEmpty(reasoningContent.signature))
      part.append(readStringOrEmpty(reasoningContent.text))
      if (typeof redactedContent !== 'string') return
      const state = { origin, kind: 'redacted', data: redactedContent } as const
      emit({ type: 'part-end', key: start({ type: 'reasoning', text: '', state }) })
    },
    end: part.end,
  }
}

/** Creates a reader for a call. A call without arguments has no delta, or an empty one. */
function readCall(call: JsonObject, { start, emit, newId }: ConverseBlockContext): BlockReader {
  const id = readStringOrEmpty(call.toolUseId) || `tooluse_${newId()}`
  const key = start({ type: 'tool-call', id, name: readStringOrEmpty(call.name), arguments: '' })
  return {
    addDelta({ toolUse }) {
      const delta = isObject(toolUse) ? readStringOrEmpty(toolUse.input) : ''
      if (delta !== '') emit({ type: 'part-delta', key, text: delta })
    },
    end: () => emit({ type: 'part-end', key }),
  }
}
