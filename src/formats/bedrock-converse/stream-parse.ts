import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { createBlocks } from '../canonical/blocks.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import { createPartEvents } from '../canonical/streamed-parts.ts'
import type { ReadContext, StreamReader } from '../translator.ts'
import { createBlockReader } from './block-reader.ts'
import { exceptionIn, streamError } from './error.ts'
import { parseStop } from './stop-reason.ts'
import { converseUsage } from './usage.ts'

/** Reads events from `messageStart` to `metadata`. Only blocks that call tools are announced; the others begin with their first delta. */
export function createReader(context: ReadContext, emit: (event: ReaderEvent) => void): StreamReader {
  const blocks = createBlocks()
  const blockContext = { ...context, ...createPartEvents(emit) }

  function observe({ event, data }: SseEvent) {
    const exception = exceptionIn(event, data)
    if (exception) return emit({ type: 'error', error: streamError(exception) })
    const said = tryParseJson(data)
    if (said === undefined && data.trim() !== '') return emit({ type: 'unreadable' })
    if (!isObject(said)) return // says nothing that a client could read
    switch (event) {
      case 'messageStart':
        return emit({ type: 'start' })
      case 'contentBlockStart':
        return startBlock(said.contentBlockIndex, isObject(said.start) ? said.start : {})
      case 'contentBlockDelta':
        return addTo(said.contentBlockIndex, isObject(said.delta) ? said.delta : {})
      case 'contentBlockStop':
        return blocks.end(said.contentBlockIndex)
      case 'messageStop':
        blocks.endAll()
        return emit({
          type: 'finish',
          candidate: 0,
          finish: parseStop(said.stopReason, said.additionalModelResponseFields),
        })
      case 'metadata': {
        const usage = converseUsage(said.usage)
        if (usage) emit({ type: 'usage', usage })
        return emit({ type: 'done' })
      }
    }
  }

  function startBlock(index: unknown, block: JsonObject) {
    blocks.start(index, () => createBlockReader(block, blockContext))
  }

  function addTo(index: unknown, delta: JsonObject) {
    if (blocks.add(index, delta)) return
    startBlock(index, delta)
    blocks.add(index, delta)
  }

  return { observe, end: blocks.endAll }
}
