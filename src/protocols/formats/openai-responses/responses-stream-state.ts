import { gatewayError } from '../../../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import type { TokenUsage } from '../canonical/canonical-response.ts'
import { NO_REASON_MESSAGE, pickStreamError } from '../canonical/late-reason.ts'
import { addCharges } from '../canonical/reported-cost.ts'
import { updateUsage } from '../canonical/reported-usage.ts'
import { toEmbeddedError } from '../errors/load-error-readers.ts'
import { createStreamProgress, type StreamPosition, type StreamState } from '../format.ts'
import { RESTARTED_MESSAGE, RestartDetector } from '../restart-detector.ts'
import { parseResponseUsage } from './responses-response.ts'
import type { WireOutcome } from './responses-wire.ts'

/** Parses a stream event's usage, which is in its response or, for an error, in the event itself. */
export const parseEventUsage = ({ response, usage }: JsonObject): TokenUsage | undefined =>
  isObject(response) ? addCharges(parseResponseUsage(response.usage), response) : parseResponseUsage(usage)

/** The request fields that a response echoes, with OpenAI's defaults. */
export const echoDefaults = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  presence_penalty: 0,
  frequency_penalty: 0,
}

/** Fields that tell clients that nothing is stored. Every response has them. */
export const STATELESS_FIELDS = { background: false, previous_response_id: null, store: false }

/** The outcome of a response that is in progress. */
export const IN_PROGRESS_OUTCOME: WireOutcome = {
  status: 'in_progress',
  completed_at: null,
  error: null,
  incomplete_details: null,
  output: [],
  usage: null,
}

/**
 * Tracks a stream of named events, from `response.created` to the event with the complete response. An event that only announces an item doesn't
 * start the response. `observe` throws `UPSTREAM_CUT` if the response restarts before it has started. After that, clients rely on the complete
 * response at the end.
 */
export function createResponseStreamState(): StreamState {
  const position: StreamPosition = {}
  const state = { ...createStreamProgress(), position, observe, items: undefined as unknown }
  const restartDetector = new RestartDetector()

  function observe({ event, data }: SseEvent) {
    if (data === '[DONE]') {
      state.hasEnded = state.isClosed = true
      return
    }
    const message = tryParseJson(data)
    if (!isObject(message)) return // such an event has no content
    const response = isObject(message.response) ? message.response : {}
    updatePosition(message, response)
    if (message.response || message.usage) state.usage = updateUsage(state.usage, parseEventUsage(message))
    if (Array.isArray(response.output) && response.output.length > 0) state.items = response.output
    switch (message.type ?? event) {
      case 'response.created':
        if (restartDetector.recordStart(response.id) === 'restart' && !state.hasStarted)
          throw gatewayError('UPSTREAM_CUT', { message: RESTARTED_MESSAGE })
        return
      case 'response.completed':
        restartDetector.recordCompletion() // a stream without content is read again from the beginning when it is forwarded
        state.hasStarted ||= !Array.isArray(response.output) || response.output.some(hasContent)
        state.hasEnded = state.isClosed = true
        return
      case 'response.incomplete':
        state.hasStarted = state.hasEnded = state.isClosed = true
        return
      case 'response.failed':
      case 'response.cancelled':
        return recordError(response.error)
      case 'error':
        return recordError(message.error ?? message)
      case 'response.output_item.added':
        restartDetector.recordContent()
        state.hasStarted ||= hasContentAtStart(message.item)
        return
      case 'response.output_item.done':
        state.hasStarted ||= hasContent(message.item)
        return
      default:
        if (message.error) recordError(message.error)
        else
          state.hasStarted ||=
            message.text !== '' &&
            message.delta !== '' &&
            !(typeof message.type === 'string' && eventsWithoutContent.has(message.type))
    }
  }

  function updatePosition({ sequence_number: sequenceNumber }: JsonObject, { id, created_at, model }: JsonObject) {
    if (typeof sequenceNumber === 'number') position.sequenceNumber = sequenceNumber
    if (id) position.response = { id, created_at, model }
  }

  function recordError(error: unknown) {
    const streamError = toEmbeddedError(error) ?? { message: NO_REASON_MESSAGE, status: 502, isVague: true }
    state.error = pickStreamError(state.error, streamError) // Azure sends the reason in a later event
  }

  return state
}

/** Events that announce content without containing any. */
const eventsWithoutContent: ReadonlySet<string> = new Set([
  'keepalive',
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.content_part.added',
  'response.content_part.done',
  'response.reasoning_part.added',
  'response.reasoning_summary_part.added',
])

/** Returns whether the item has content. Only a message can be empty. */
const hasContent = (item: unknown): boolean =>
  !isObject(item) ||
  item.type !== 'message' ||
  !Array.isArray(item.content) ||
  item.content.some((part) => !isObject(part) || part.text !== '')

/** Returns whether an announced item has content. A call already names its tool, but messages and reasoning are empty. */
const hasContentAtStart = (item: unknown): boolean =>
  isObject(item) && item.type !== 'message' && item.type !== 'reasoning'
