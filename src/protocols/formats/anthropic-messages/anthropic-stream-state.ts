import { gatewayError } from '../../../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { readTokenCount } from '../canonical/canonical-values.ts'
import { NO_REASON_MESSAGE, pickStreamError } from '../canonical/late-reason.ts'
import { isBlankUsage } from '../canonical/reported-usage.ts'
import { toEmbeddedError } from '../errors/load-error-readers.ts'
import { createStreamProgress, type StreamState } from '../format.ts'
import { RESTARTED_MESSAGE, RestartDetector } from '../restart-detector.ts'
import { parseMessageUsage } from './anthropic-response.ts'

/**
 * Merges a stream event's counts into `counts`. They are cumulative and replace earlier ones, except that null and 0 replace nothing. Some vendors
 * start with only the total, so input counts with separate cached tokens replace all earlier ones if they add up to at least as much.
 */
export function mergeCounts(counts: JsonObject, usage: unknown): void {
  if (!isObject(usage)) return
  const previousInput = sumInputTokens(counts)
  const isFullCount =
    CACHE_COUNTS.some((name) => typeof usage[name] === 'number') && sumInputTokens(usage) >= previousInput
  for (const name in usage) {
    const value = usage[name]
    if (
      value !== null &&
      ((value !== 0 && value !== '0') || !counts[name] || (isFullCount && INPUT_COUNTS.includes(name)))
    )
      counts[name] = value
  }
  if (isFullCount && sumInputTokens(usage) === previousInput)
    for (const name of INPUT_COUNTS) if (!Object.hasOwn(usage, name)) delete counts[name]
  if (isFullCount || usage.input_tokens !== 0) return
  const uncachedTokens = readTokenCount(counts.input_tokens)
  counts.input_tokens = Math.max(0, Math.min(uncachedTokens, previousInput - sumInputTokens(counts) + uncachedTokens)) // preserves the total
}

const CACHE_COUNTS = ['cache_read_input_tokens', 'cache_creation_input_tokens']
const INPUT_COUNTS = ['input_tokens', ...CACHE_COUNTS]

/** Sums the input tokens, including cached ones. */
const sumInputTokens = (usage: JsonObject): number =>
  INPUT_COUNTS.reduce((sum, name) => sum + readTokenCount(usage[name]), 0)

/** Returns whether a stream event's usage counts anything. */
export function hasTokenCounts(usage: unknown): boolean {
  const counts = parseMessageUsage(usage)
  return counts !== undefined && !isBlankUsage(counts)
}

/** Creates a function that tracks a stream's events and returns the kind of each `message_start`. */
export function createRestartTracker(): (
  type: unknown,
  event: JsonObject,
) => ReturnType<RestartDetector['recordStart']> | undefined {
  const detector = new RestartDetector()
  return (type, event) => {
    switch (type) {
      case 'content_block_delta': // checked first, because nearly all events are deltas
      case 'content_block_start':
        detector.recordContent()
        return undefined
      case 'message_start':
        return detector.recordStart(isObject(event.message) ? event.message.id : undefined)
      case 'message_delta':
        if (isObject(event.delta) && event.delta.stop_reason) detector.recordCompletion()
        return undefined
      case 'message_stop':
        detector.recordCompletion()
        return undefined
      default:
        return undefined
    }
  }
}

/**
 * Tracks a stream of named events, from `message_start` to `message_stop`. An empty text block followed by a normal stop doesn't count as the start
 * of the response. `observe` throws `UPSTREAM_CUT` if the message restarts before the response has started. After that, the filter and the reader
 * handle a restart.
 */
export function createMessageStreamState(): StreamState {
  const state = { ...createStreamProgress(), hasPreliminaryUsage: false, observe }
  const counts: JsonObject = {}
  const trackRestart = createRestartTracker()

  function observe({ event, data }: SseEvent) {
    const message = tryParseJson(data)
    if (!isObject(message)) return // data that isn't a JSON object has no content
    const type = message.type ?? event
    if (trackRestart(type, message) === 'restart' && !state.hasStarted)
      throw gatewayError('UPSTREAM_CUT', { message: RESTARTED_MESSAGE })
    switch (type) {
      case 'ping':
        return
      case 'message_start': {
        const { usage, content } = isObject(message.message) ? message.message : {}
        state.hasStarted ||= Array.isArray(content) && content.some(isMeaningfulBlock)
        addUsage(usage)
        state.hasPreliminaryUsage = true
        return
      }
      case 'content_block_start':
        state.hasStarted ||= isMeaningfulBlock(message.content_block)
        return
      case 'content_block_stop':
        return
      case 'message_delta': {
        addUsage(message.usage)
        const { stop_reason: reason } = isObject(message.delta) ? message.delta : {}
        if (reason) state.hasEnded = true
        state.hasStarted ||= Boolean(reason) && reason !== 'end_turn'
        return
      }
      case 'message_stop':
        state.hasEnded = state.isClosed = true
        return
      case 'error':
        addUsage(message.usage)
        state.error = pickStreamError(
          state.error,
          toEmbeddedError(message.error) ?? { message: NO_REASON_MESSAGE, status: 502, isVague: true },
        )
        return
      default:
        if (message.error) state.error = pickStreamError(state.error, toEmbeddedError(message.error))
        else state.hasStarted ||= !isObject(message.delta) || message.delta.text !== ''
    }
  }

  function addUsage(usage: unknown) {
    if (!isObject(usage)) return
    mergeCounts(counts, usage)
    state.usage = parseMessageUsage(counts)
    if (hasTokenCounts(usage)) state.hasPreliminaryUsage = false
  }

  return state
}

function isMeaningfulBlock(block: unknown): boolean {
  if (!isObject(block)) return true
  if (block.type === 'text') return block.text !== ''
  if (block.type === 'thinking') return Boolean(block.thinking || block.signature)
  return true
}
