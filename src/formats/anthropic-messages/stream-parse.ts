import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { createBlocks } from '../canonical/blocks.ts'
import { exactObject } from '../canonical/exact-json.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import { createPartEvents } from '../canonical/streamed-parts.ts'
import type { ReadContext, StreamReader } from '../translator.ts'
import { createBlockReader } from './block-reader.ts'
import { streamError } from './error-parse.ts'
import { parseStop } from './stop-reason.ts'
import { mergeCounts, messageUsage } from './usage.ts'

/** Reads named events from `message_start` to `message_stop`, and what vendors make of them: blocks without a start, a second start. */
export function createReader(context: ReadContext, emit: (event: ReaderEvent) => void): StreamReader {
  const blocks = createBlocks()
  const counts: JsonObject = {}
  let isStarted = false
  const blockContext = { ...context, ...createPartEvents(emit), queries: new Map<string, string>() }

  function observe({ event, data }: SseEvent) {
    const said = tryParseJson(data)
    if (said === undefined && data.trim() !== '') return emit({ type: 'unreadable' })
    if (!isObject(said)) return // says nothing that a client could read
    switch (said.type ?? event) {
      case 'message_start': {
        const { message } = exactObject(data, said) // which may be there whole
        return startMessage(isObject(message) ? message : {})
      }
      case 'content_block_start': {
        const { content_block: block } = exactObject(data, said) // some followers say all of an input here
        return startBlock(said.index, isObject(block) ? block : {})
      }
      case 'content_block_delta':
        if (isObject(said.delta)) addTo(said.index, said.delta)
        return
      case 'content_block_stop':
        return blocks.end(said.index)
      case 'message_delta':
        return endMessage(isObject(said.delta) ? said.delta : {}, said.usage)
      case 'message_stop':
        blocks.endAll()
        return emit({ type: 'done' })
      case 'error':
        return emit({ type: 'error', error: streamError(said.error) })
      default: // of whoever stands before it
        if (said.error) emit({ type: 'error', error: streamError(said.error) })
    }
  }

  function startMessage(message: JsonObject) {
    const { id, model, content, usage } = message
    mergeCounts(counts, usage)
    const known = messageUsage(usage)
    emit({
      type: 'start',
      ...(typeof id === 'string' && id && { id }),
      ...(typeof model === 'string' && model && { model }),
      ...(known && { usage: known }),
    })
    if (!isStarted && Array.isArray(content) && content.length > 0) sayWhole(content, message)
    isStarted = true
  }

  /** Anthropic tells the calls that a program of its own makes by the start alone: with all blocks, and why it ended. */
  function sayWhole(content: readonly unknown[], message: JsonObject) {
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
    if (finish && blockContext.queries.size > 0) context.losses.dropped('server_tool_use') // has found nothing so far
    const whole = isObject(usage) ? messageUsage(counts) : undefined
    if (whole) emit({ type: 'usage', usage: whole })
    if (finish) emit({ type: 'finish', candidate: 0, finish })
  }

  return { observe, end: blocks.endAll }
}
