import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { embeddedError } from '../embedded-error.ts'
import { type StreamWatch, untouchedStream } from '../format.ts'
import { mergeCounts, messageUsage } from './usage.ts'

/** Named events from `message_start` to `message_stop`. An empty text block is not yet an answer, nor is the end of the turn behind it. */
export function watchMessageStream(): StreamWatch {
  const watch = { ...untouchedStream(), observe }
  const counts: JsonObject = {}

  function observe({ event, data }: SseEvent) {
    const message = tryParseJson(data)
    if (!isObject(message)) return // says nothing that a client could read
    switch (message.type ?? event) {
      case 'ping':
        return
      case 'message_start': {
        const { usage, content } = isObject(message.message) ? message.message : {}
        watch.started ||= Array.isArray(content) && content.some(isMeaningfulBlock)
        return count(usage)
      }
      case 'content_block_start':
        watch.started ||= isMeaningfulBlock(message.content_block)
        return
      case 'content_block_stop':
        return
      case 'message_delta': {
        count(message.usage)
        const { stop_reason: reason } = isObject(message.delta) ? message.delta : {}
        if (reason) watch.ended = true
        watch.started ||= Boolean(reason) && reason !== 'end_turn'
        return
      }
      case 'message_stop':
        watch.ended = watch.closed = true
        return
      case 'error':
        watch.error ??= embeddedError(message.error) ?? { message: 'The provider reported an error.', status: 502 }
        return
      default:
        if (message.error) watch.error ??= embeddedError(message.error)
        else watch.started ||= !isObject(message.delta) || message.delta.text !== ''
    }
  }

  function count(usage: unknown) {
    if (!isObject(usage)) return
    mergeCounts(counts, usage)
    watch.usage = messageUsage(counts)
  }

  return watch
}

function isMeaningfulBlock(block: unknown): boolean {
  if (!isObject(block)) return true
  if (block.type === 'text') return block.text !== ''
  if (block.type === 'thinking') return Boolean(block.thinking || block.signature)
  return true
}
