import { gatewayError } from '../../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { AnswerStarts, BEGUN_ANEW } from '../answer-starts.ts'
import type { TokenUsage } from '../canonical/answer.ts'
import { reportedCost } from '../canonical/reported-cost.ts'
import { hasTokenCount, tokenCount } from '../canonical/values.ts'
import { embeddedError } from '../errors/embedded.ts'
import { newStreamProgress, type StreamState } from '../format.ts'

/** An event that clients of the format ignore. */
export const KEEP_ALIVE = 'event: ping\ndata: {"type": "ping"}\n\n'

/** Parses Anthropic's `usage`; `undefined` where it says nothing. Its three input counts are separate; the canonical input count includes the cached tokens. */
export function messageUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const cost = reportedCost(usage)
  const { input_tokens, output_tokens, cache_read_input_tokens } = usage
  if (cost.costUsd === undefined && !hasTokenCount(input_tokens, output_tokens, cache_read_input_tokens))
    return undefined
  const details = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {}
  const cacheReadTokens = tokenCount(usage.cache_read_input_tokens)
  const cacheWriteTokens = tokenCount(usage.cache_creation_input_tokens)
  const writes = isObject(usage.cache_creation) ? usage.cache_creation : {}
  const cacheWrite1hTokens = Math.min(tokenCount(writes.ephemeral_1h_input_tokens), cacheWriteTokens)
  return {
    inputTokens: tokenCount(usage.input_tokens) + cacheReadTokens + cacheWriteTokens,
    outputTokens: tokenCount(usage.output_tokens),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: tokenCount(details.thinking_tokens),
    ...(cacheWrite1hTokens > 0 && { cacheWrite1hTokens }),
    ...cost,
  }
}

/** Merges the counts of one stream event into `counts`: they are cumulative and replace earlier ones; null replaces nothing. */
export function mergeCounts(counts: JsonObject, usage: unknown): void {
  if (!isObject(usage)) return
  for (const name in usage) if (usage[name] !== null) counts[name] = usage[name]
}

/** Follows the events of a stream for its starts; `type` is that of the event. Returns what a `message_start` is in it. */
export function createMessageStarts(): (
  type: unknown,
  event: JsonObject,
) => ReturnType<AnswerStarts['start']> | undefined {
  const starts = new AnswerStarts()
  return (type, { message, delta }) => {
    switch (type) {
      case 'message_start':
        return starts.start(isObject(message) ? message.id : undefined)
      case 'content_block_start':
      case 'content_block_delta':
        starts.content()
        return undefined
      case 'message_delta':
        if (isObject(delta) && delta.stop_reason) starts.complete()
        return undefined
      case 'message_stop':
        starts.complete()
        return undefined
      default:
        return undefined
    }
  }
}

/**
 * Follows a stream of named events, from `message_start` to `message_stop`. Neither an empty text block nor a normal end after it starts the
 * answer. `observe` throws `UPSTREAM_CUT` when the message begins anew before that; later, the keeper and the reader see to it.
 */
export function createMessageStreamState(): StreamState {
  const state = { ...newStreamProgress(), hasBegunUsage: false, observe }
  const counts: JsonObject = {}
  const startOf = createMessageStarts()

  function observe({ event, data }: SseEvent) {
    const message = tryParseJson(data)
    if (!isObject(message)) return // holds nothing that a client could read
    const type = message.type ?? event
    if (startOf(type, message) === 'anew' && !state.started) throw gatewayError('UPSTREAM_CUT', { message: BEGUN_ANEW })
    switch (type) {
      case 'ping':
        return
      case 'message_start': {
        const { usage, content } = isObject(message.message) ? message.message : {}
        state.started ||= Array.isArray(content) && content.some(isMeaningfulBlock)
        state.hasBegunUsage = true
        return count(usage)
      }
      case 'content_block_start':
        state.started ||= isMeaningfulBlock(message.content_block)
        return
      case 'content_block_stop':
        return
      case 'message_delta': {
        count(message.usage)
        if (isObject(message.usage)) state.hasBegunUsage = false
        const { stop_reason: reason } = isObject(message.delta) ? message.delta : {}
        if (reason) state.ended = true
        state.started ||= Boolean(reason) && reason !== 'end_turn'
        return
      }
      case 'message_stop':
        state.ended = state.closed = true
        return
      case 'error':
        state.error ??= embeddedError(message.error) ?? { message: 'The provider reported an error.', status: 502 }
        return
      default:
        if (message.error) state.error ??= embeddedError(message.error)
        else state.started ||= !isObject(message.delta) || message.delta.text !== ''
    }
  }

  function count(usage: unknown) {
    if (!isObject(usage)) return
    mergeCounts(counts, usage)
    state.usage = messageUsage(counts)
  }

  return state
}

function isMeaningfulBlock(block: unknown): boolean {
  if (!isObject(block)) return true
  if (block.type === 'text') return block.text !== ''
  if (block.type === 'thinking') return Boolean(block.thinking || block.signature)
  return true
}
