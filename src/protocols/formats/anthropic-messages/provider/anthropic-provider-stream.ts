import { isObject, type JsonObject, tryParseJson } from '../../../../lib/json.ts'
import type { SseEvent } from '../../../../lib/sse.ts'
import { stringifyObject } from '../../canonical/canonical-arguments.ts'
import type { AssistantPart } from '../../canonical/canonical-parts.ts'
import type { ReaderEvent } from '../../canonical/canonical-stream.ts'
import { readStringOrEmpty } from '../../canonical/canonical-values.ts'
import { parseExactObject } from '../../canonical/exact-json.ts'
import {
  type BlockReader,
  createBlockCollection,
  createPartEvents,
  createReasoningEmitter,
  createTextEmitter,
  type PartEvents,
} from '../../canonical/stream-reader.ts'
import { restartError } from '../../restart-detector.ts'
import type { ReaderContext, StreamReader } from '../../translator.ts'
import { parseCitation } from '../anthropic-citations.ts'
import { parseStreamError } from '../anthropic-errors.ts'
import { isReportedCall, type PendingCalls, parseFinish, parseServerResult } from '../anthropic-fields.ts'
import { parseMessageUsage } from '../anthropic-response.ts'
import { createRestartTracker, hasTokenCounts, mergeCounts } from '../anthropic-stream-state.ts'

/**
 * Reads named events from `message_start` to `message_stop`. Some vendors send blocks without a start, or send the start twice. A message that restarts
 * is an error.
 */
export function createReader(context: ReaderContext, emit: (event: ReaderEvent) => void): StreamReader {
  const blocks = createBlockCollection()
  const counts: JsonObject = {}
  const trackRestart = createRestartTracker()
  const blockContext = { ...context, ...createPartEvents(emit), pendingCalls: new Map<string, JsonObject>() }

  function observe({ event, data }: SseEvent) {
    const payload = tryParseJson(data)
    if (payload === undefined && data.trim() !== '') return emit({ type: 'unreadable' })
    if (!isObject(payload)) return // a start without a message has no content
    const type = payload.type ?? event
    const startKind = trackRestart(type, payload)
    switch (type) {
      case 'content_block_delta': // checked first, because nearly all events are deltas
        if (isObject(payload.delta)) addDelta(payload.index, payload.delta)
        return
      case 'message_start': {
        if (startKind === 'restart') return emit({ type: 'error', error: restartError })
        if (startKind === 'next') return emit({ type: 'done' })
        const { message } = parseExactObject(data, payload) // the start may contain the entire message
        return startMessage(isObject(message) ? message : {}, startKind === 'first')
      }
      case 'content_block_start': {
        const { content_block: block } = parseExactObject(data, payload) // some vendors send a tool's entire input here
        return startBlock(payload.index, isObject(block) ? block : {})
      }
      case 'content_block_stop':
        return blocks.end(payload.index)
      case 'message_delta':
        return endMessage(isObject(payload.delta) ? payload.delta : {}, payload.usage)
      case 'message_stop':
        blocks.endAll()
        return emit({ type: 'done' })
      case 'error':
        reportUsage(payload.usage)
        return emit({ type: 'error', error: parseStreamError(payload.error) })
      default: // a proxy in front of the provider may send its own events
        if (payload.error) emit({ type: 'error', error: parseStreamError(payload.error) })
    }
  }

  function startMessage(message: JsonObject, isFirst: boolean) {
    const { id, model, content, usage } = message
    mergeCounts(counts, usage)
    const startUsage = parseMessageUsage(usage)
    emit({
      type: 'start',
      ...(typeof id === 'string' && id && { id }),
      ...(typeof model === 'string' && model && { model }),
      ...(startUsage && { usage: startUsage }),
    })
    if (isFirst && Array.isArray(content) && content.length > 0) readCompleteMessage(content, message)
  }

  /** Reads a complete message from its start. Calls by Anthropic's code execution arrive like this, with all blocks and the stop reason. */
  function readCompleteMessage(content: readonly unknown[], message: JsonObject) {
    for (const block of content) {
      startBlock(undefined, isObject(block) ? block : {})
      blocks.end(undefined)
    }
    const finish = parseFinish(message)
    if (finish) emit({ type: 'finish', candidate: 0, finish })
  }

  function startBlock(index: unknown, block: JsonObject) {
    blocks.start(index, () => createBlockReader(block, blockContext))
  }

  function addDelta(index: unknown, delta: JsonObject) {
    if (blocks.addDelta(index, delta)) return
    startBlock(index, { type: delta.type === 'thinking_delta' ? 'thinking' : 'text' })
    blocks.addDelta(index, delta)
  }

  function endMessage(delta: JsonObject, usage: unknown) {
    reportUsage(usage)
    const finish = parseFinish(delta)
    if (finish && blockContext.pendingCalls.size > 0) context.responseWarnings.recordDrop('server_tool_use') // these calls have no results
    if (finish) emit({ type: 'finish', candidate: 0, finish })
  }

  function reportUsage(usage: unknown) {
    mergeCounts(counts, usage)
    const totalUsage = hasTokenCounts(usage) ? parseMessageUsage(counts) : undefined
    if (totalUsage) emit({ type: 'usage', usage: totalUsage })
  }

  return { observe, end: blocks.endAll }
}

interface BlockContext extends ReaderContext, PartEvents {
  pendingCalls: PendingCalls
}

/** Creates a reader from a block's start. Some vendors send the entire content in the start. */
function createBlockReader(block: JsonObject, context: BlockContext): BlockReader {
  switch (block.type) {
    case 'text':
      return createTextReader(block, context)
    case 'thinking':
      return createThinkingReader(block, context)
    case 'redacted_thinking':
      return createCompleteReader(
        {
          type: 'reasoning',
          text: '',
          state: { origin: context.origin, kind: 'redacted', data: readStringOrEmpty(block.data) },
        },
        context,
      )
    case 'tool_use':
      return readStringOrEmpty(block.name) === ''
        ? createEmptyReader('tool_use', context)
        : createCallReader(block, context)
    case 'server_tool_use':
      return isReportedCall(block, context)
        ? createServerCallReader(block, context)
        : createEmptyReader('server_tool_use', context)
  }
  const result = parseServerResult(block, context.pendingCalls, context)
  return result
    ? createCompleteReader(result, context)
    : createEmptyReader(readStringOrEmpty(block.type) || 'content', context)
}

function createTextReader(block: JsonObject, context: BlockContext): BlockReader {
  const part = createTextEmitter(context)
  const addCitation = (value: unknown) => {
    const citation = isObject(value) ? parseCitation(value) : undefined
    if (citation) part.addCitation(citation)
    else context.responseWarnings.recordDrop('citations')
  }
  part.append(readStringOrEmpty(block.text))
  if (Array.isArray(block.citations)) for (const citation of block.citations) addCitation(citation)
  return {
    addDelta(delta) {
      if (delta.type === 'citations_delta') addCitation(delta.citation)
      else part.append(readStringOrEmpty(delta.text))
    },
    end: part.end,
  }
}

function createThinkingReader(block: JsonObject, context: BlockContext): BlockReader {
  const part = createReasoningEmitter(context, context.origin)
  part.setSignature(readStringOrEmpty(block.signature))
  part.append(readStringOrEmpty(block.thinking))
  return {
    addDelta(delta) {
      if (delta.type === 'signature_delta') part.setSignature(readStringOrEmpty(delta.signature))
      else part.append(readStringOrEmpty(delta.thinking))
    },
    end: part.end,
  }
}

function createCallReader(block: JsonObject, { start, emit, newId }: BlockContext): BlockReader {
  const id = readStringOrEmpty(block.id) || `toolu_${newId()}`
  const key = start({ type: 'tool-call', id, name: readStringOrEmpty(block.name), arguments: '' })
  const input = createInputReader(block.input, (delta) => emit({ type: 'part-delta', key, text: delta }))
  return {
    addDelta: ({ partial_json }) => input.add(readStringOrEmpty(partial_json)),
    end() {
      input.end()
      emit({ type: 'part-end', key })
    },
  }
}

/** Creates a reader that keeps a call until its results arrive. */
function createServerCallReader(block: JsonObject, { pendingCalls }: BlockContext): BlockReader {
  const inputDeltas: string[] = []
  const reader = createInputReader(block.input, (delta) => void inputDeltas.push(delta))
  return {
    addDelta: ({ partial_json }) => reader.add(readStringOrEmpty(partial_json)),
    end() {
      reader.end()
      pendingCalls.set(readStringOrEmpty(block.id), { ...block, input: tryParseJson(inputDeltas.join('')) })
    },
  }
}

function createCompleteReader(part: AssistantPart, { start, emit }: BlockContext): BlockReader {
  const key = start(part)
  return { addDelta() {}, end: () => emit({ type: 'part-end', key }) }
}

function createEmptyReader(type: string, { responseWarnings }: BlockContext): BlockReader {
  responseWarnings.recordDrop(type)
  return { addDelta() {}, end() {} }
}

/**
 * Creates a reader for a tool's input, which arrives as pieces of JSON. The object in the block's start is a placeholder, unless the vendor sends no
 * pieces. A first piece `{}` is a placeholder if more pieces follow.
 */
function createInputReader(
  initialInput: unknown,
  emitDelta: (delta: string) => void,
): { add(piece: string): void; end(): void } {
  let hasDeltas = false
  let isEmptyObjectPending = false

  return {
    add(delta) {
      if (delta === '') return
      if (!hasDeltas && !isEmptyObjectPending && delta === '{}') {
        isEmptyObjectPending = true
        return
      }
      if (isEmptyObjectPending && !delta.trimStart().startsWith('{')) emitDelta('{}')
      isEmptyObjectPending = false
      hasDeltas = true
      emitDelta(delta)
    },
    end() {
      if (isEmptyObjectPending) emitDelta('{}')
      else if (!hasDeltas && isObject(initialInput) && Object.keys(initialInput).length > 0)
        emitDelta(stringifyObject(initialInput))
    },
  }
}
