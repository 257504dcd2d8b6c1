import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { begunAnew } from '../../answer-starts.ts'
import { objectText } from '../../canonical/arguments.ts'
import { exactObject } from '../../canonical/exact-json.ts'
import type { AssistantPart } from '../../canonical/parts.ts'
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
import { parseCitation } from '../citations.ts'
import { streamError } from '../errors.ts'
import { isShown, parseServerResult, parseStop, type RunningCalls } from '../fields.ts'
import { createMessageStarts, mergeCounts, messageUsage } from '../stream-state.ts'

/**
 * Reads named events from `message_start` to `message_stop`; some vendors send blocks without a start, or the start twice. A message that
 * begins anew is an error.
 */
export function createReader(context: ReadContext, emit: (event: ReaderEvent) => void): StreamReader {
  const blocks = createBlocks()
  const counts: JsonObject = {}
  const startOf = createMessageStarts()
  const blockContext = { ...context, ...createPartEvents(emit), running: new Map<string, JsonObject>() }

  function observe({ event, data }: SseEvent) {
    const payload = tryParseJson(data)
    if (payload === undefined && data.trim() !== '') return emit({ type: 'unreadable' })
    if (!isObject(payload)) return // holds nothing that a client could read
    const type = payload.type ?? event
    const start = startOf(type, payload)
    switch (type) {
      case 'message_start': {
        if (start === 'anew') return emit({ type: 'error', error: begunAnew })
        if (start === 'next') return emit({ type: 'done' })
        const { message } = exactObject(data, payload) // which may be complete
        return startMessage(isObject(message) ? message : {}, start === 'first')
      }
      case 'content_block_start': {
        const { content_block: block } = exactObject(data, payload) // some vendors send a whole input here
        return startBlock(payload.index, isObject(block) ? block : {})
      }
      case 'content_block_delta':
        if (isObject(payload.delta)) addTo(payload.index, payload.delta)
        return
      case 'content_block_stop':
        return blocks.end(payload.index)
      case 'message_delta':
        return endMessage(isObject(payload.delta) ? payload.delta : {}, payload.usage)
      case 'message_stop':
        blocks.endAll()
        return emit({ type: 'done' })
      case 'error':
        return emit({ type: 'error', error: streamError(payload.error) })
      default: // an event of a proxy before the provider
        if (payload.error) emit({ type: 'error', error: streamError(payload.error) })
    }
  }

  function startMessage(message: JsonObject, isFirst: boolean) {
    const { id, model, content, usage } = message
    mergeCounts(counts, usage)
    const known = messageUsage(usage)
    emit({
      type: 'start',
      ...(typeof id === 'string' && id && { id }),
      ...(typeof model === 'string' && model && { model }),
      ...(known && { usage: known }),
    })
    if (isFirst && Array.isArray(content) && content.length > 0) readWholeMessage(content, message)
  }

  /** Reads a message that is complete in its start: calls by Anthropic's code execution come so, with all blocks and the stop reason. */
  function readWholeMessage(content: readonly unknown[], message: JsonObject) {
    for (const block of content) {
      startBlock(undefined, isObject(block) ? block : {})
      blocks.end(undefined)
    }
    const finish = parseStop(message)
    if (finish) emit({ type: 'finish', candidate: 0, finish })
  }

  function startBlock(index: unknown, block: JsonObject) {
    blocks.start(index, () => createBlockReader(block, blockContext))
  }

  function addTo(index: unknown, delta: JsonObject) {
    if (blocks.add(index, delta)) return
    startBlock(index, { type: delta.type === 'thinking_delta' ? 'thinking' : 'text' })
    blocks.add(index, delta)
  }

  function endMessage(delta: JsonObject, usage: unknown) {
    mergeCounts(counts, usage)
    const finish = parseStop(delta)
    if (finish && blockContext.running.size > 0) context.responseWarnings.noteDropped('server_tool_use') // calls without results
    const whole = isObject(usage) ? messageUsage(counts) : undefined
    if (whole) emit({ type: 'usage', usage: whole })
    if (finish) emit({ type: 'finish', candidate: 0, finish })
  }

  return { observe, end: blocks.endAll }
}

interface BlockContext extends ReadContext, PartEvents {
  running: RunningCalls
}

/** Creates a reader for the block of a given start, in which some vendors put all of its content. */
function createBlockReader(block: JsonObject, context: BlockContext): BlockReader {
  switch (block.type) {
    case 'text':
      return readText(block, context)
    case 'thinking':
      return readThinking(block, context)
    case 'redacted_thinking':
      return readWhole(
        {
          type: 'reasoning',
          text: '',
          state: { origin: context.origin, kind: 'redacted', data: textOrEmpty(block.data) },
        },
        context,
      )
    case 'tool_use':
      return textOrEmpty(block.name) === '' ? readNothing('tool_use', context) : readCall(block, context)
    case 'server_tool_use':
      return isShown(block, context) ? readServerCall(block, context) : readNothing('server_tool_use', context)
  }
  const result = parseServerResult(block, context.running, context)
  return result ? readWhole(result, context) : readNothing(textOrEmpty(block.type) || 'content', context)
}

function readText(block: JsonObject, context: BlockContext): BlockReader {
  const part = createTextPart(context)
  const cite = (given: unknown) => {
    const citation = isObject(given) ? parseCitation(given) : undefined
    if (citation) part.cite(citation)
    else context.responseWarnings.noteDropped('citations')
  }
  part.append(textOrEmpty(block.text))
  if (Array.isArray(block.citations)) for (const citation of block.citations) cite(citation)
  return {
    add(delta) {
      if (delta.type === 'citations_delta') cite(delta.citation)
      else part.append(textOrEmpty(delta.text))
    },
    end: part.end,
  }
}

function readThinking(block: JsonObject, context: BlockContext): BlockReader {
  const part = createReasoningPart(context, context.origin)
  part.sign(textOrEmpty(block.signature))
  part.append(textOrEmpty(block.thinking))
  return {
    add(delta) {
      if (delta.type === 'signature_delta') part.sign(textOrEmpty(delta.signature))
      else part.append(textOrEmpty(delta.thinking))
    },
    end: part.end,
  }
}

function readCall(block: JsonObject, { start, emit, newId }: BlockContext): BlockReader {
  const id = textOrEmpty(block.id) || `toolu_${newId()}`
  const key = start({ type: 'tool-call', id, name: textOrEmpty(block.name), arguments: '' })
  const input = createInputReader(block.input, (more) => emit({ type: 'part-delta', key, text: more }))
  return {
    add: ({ partial_json }) => input.add(textOrEmpty(partial_json)),
    end() {
      input.end()
      emit({ type: 'part-end', key })
    },
  }
}

/** The call is emitted together with its results. */
function readServerCall(block: JsonObject, { running }: BlockContext): BlockReader {
  const pieces: string[] = []
  const reader = createInputReader(block.input, (more) => void pieces.push(more))
  return {
    add: ({ partial_json }) => reader.add(textOrEmpty(partial_json)),
    end() {
      reader.end()
      running.set(textOrEmpty(block.id), { ...block, input: tryParseJson(pieces.join('')) })
    },
  }
}

function readWhole(part: AssistantPart, { start, emit }: BlockContext): BlockReader {
  const key = start(part)
  return { add() {}, end: () => emit({ type: 'part-end', key }) }
}

function readNothing(type: string, { responseWarnings }: BlockContext): BlockReader {
  responseWarnings.noteDropped(type)
  return { add() {}, end() {} }
}

/**
 * Reads the input of a tool from the pieces of its JSON. The object in a block's start is a placeholder, unless the vendor sends no pieces; a
 * first piece `{}` is a placeholder if more follows.
 */
function createInputReader(start: unknown, emit: (more: string) => void): { add(piece: string): void; end(): void } {
  let hasPieces = false
  let isHeld = false

  return {
    add(piece) {
      if (piece === '') return
      if (!hasPieces && !isHeld && piece === '{}') {
        isHeld = true
        return
      }
      if (isHeld && !piece.trimStart().startsWith('{')) emit('{}')
      isHeld = false
      hasPieces = true
      emit(piece)
    },
    end() {
      if (isHeld) emit('{}')
      else if (!hasPieces && isObject(start) && Object.keys(start).length > 0) emit(objectText(start))
    },
  }
}
