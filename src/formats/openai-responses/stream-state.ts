import { gatewayError } from '../../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { AnswerStarts, BEGUN_ANEW } from '../answer-starts.ts'
import type { TokenUsage } from '../canonical/answer.ts'
import { mediaTokens } from '../canonical/media-tokens.ts'
import { reportedCost } from '../canonical/reported-cost.ts'
import type { CompactionMode } from '../canonical/request.ts'
import { hasTokenCount, tokenCount } from '../canonical/values.ts'
import { embeddedError } from '../errors/embedded.ts'
import { newStreamProgress, type StreamPosition, type StreamState } from '../format.ts'
import type { WireOutcome } from './wire.ts'

/** A comment, which clients of the format ignore. */
export const KEEP_ALIVE = ': keep-alive\n\n'

/** Parses `usage`; `undefined` where it says nothing. Input tokens include the cached ones, output tokens those of reasoning. */
export function responseUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const cost = reportedCost(usage)
  if (cost.costUsd === undefined && !hasTokenCount(usage.input_tokens, usage.output_tokens)) return undefined
  const input = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {}
  const output = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {}
  const inputTokens = tokenCount(usage.input_tokens)
  const cacheReadTokens = Math.min(tokenCount(input.cached_tokens), inputTokens)
  return {
    inputTokens,
    outputTokens: tokenCount(usage.output_tokens),
    cacheReadTokens,
    cacheWriteTokens: Math.min(tokenCount(input.cache_write_tokens), inputTokens - cacheReadTokens), // as in openai-chat
    reasoningTokens: tokenCount(output.reasoning_tokens),
    ...mediaTokens(input, output),
    ...cost,
  }
}

/** Does a request ask for a compaction: `compaction_trigger` as the last item of its input, or `context_management`? */
export function compactionIn({ input, context_management: management }: JsonObject): CompactionMode | undefined {
  const last: unknown = Array.isArray(input) ? input.at(-1) : undefined
  if (isObject(last) && last.type === 'compaction_trigger') return 'now'
  const entries: unknown[] = Array.isArray(management) ? management : []
  const entry = entries.filter(isObject).find(({ type }) => type === 'compaction')
  if (!entry) return undefined
  const { compact_threshold: above } = entry
  return typeof above === 'number' ? { above } : {}
}

/** The fields of its request that a response repeats, with OpenAI's values for those that the client has not set. */
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

/** Fields of every response that say that nothing is stored. */
export const stateless = { background: false, previous_response_id: null, store: false }

/** The outcome of a response that is in progress. */
export const inProgress: WireOutcome = {
  status: 'in_progress',
  completed_at: null,
  error: null,
  incomplete_details: null,
  output: [],
  usage: null,
}

/**
 * Follows a stream of named events, from `response.created` to the one with the whole response. The answer does not start with an event that
 * only announces an item. `observe` throws `UPSTREAM_CUT` when the response begins anew before that; later, clients keep to the whole response
 * at the end.
 */
export function createResponseStreamState(): StreamState {
  const place: StreamPosition = {}
  const state = { ...newStreamProgress(), place, observe }
  const starts = new AnswerStarts()

  function observe({ event, data }: SseEvent) {
    if (data === '[DONE]') {
      state.ended = state.closed = true
      return
    }
    const message = tryParseJson(data)
    if (!isObject(message)) return // holds nothing that a client could read
    const response = isObject(message.response) ? message.response : {}
    locate(message, response)
    state.usage = responseUsage(response.usage) ?? state.usage
    switch (message.type ?? event) {
      case 'response.created':
        if (starts.start(response.id) === 'anew' && !state.started)
          throw gatewayError('UPSTREAM_CUT', { message: BEGUN_ANEW })
        return
      case 'response.completed':
        starts.complete() // a stream without content is looked at again from its beginning when it is passed on
        state.started ||= !Array.isArray(response.output) || response.output.some(hasContent)
        state.ended = state.closed = true
        return
      case 'response.incomplete':
        state.started = state.ended = state.closed = true
        return
      case 'response.failed':
      case 'response.cancelled':
        return fail(response.error)
      case 'error':
        return fail(message.error ?? message)
      case 'response.output_item.added':
        starts.content()
        state.started ||= hasContentAtStart(message.item)
        return
      case 'response.output_item.done':
        state.started ||= hasContent(message.item)
        return
      default:
        if (message.error) fail(message.error)
        else
          state.started ||=
            message.text !== '' &&
            message.delta !== '' &&
            !(typeof message.type === 'string' && eventsWithoutContent.has(message.type))
    }
  }

  function locate({ sequence_number: number }: JsonObject, { id, created_at, model }: JsonObject) {
    if (typeof number === 'number') place.sequence = number
    if (id) place.response = { id, created_at, model }
  }

  function fail(error: unknown) {
    state.error ??= embeddedError(error) ?? { message: 'The provider reported an error.', status: 502 }
  }

  return state
}

/** Events that announce content without holding any. */
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

/** Has the item content? Only a message can be empty. */
const hasContent = (item: unknown): boolean =>
  !isObject(item) ||
  item.type !== 'message' ||
  !Array.isArray(item.content) ||
  item.content.some((part) => !isObject(part) || part.text !== '')

/** Has the item content when it is announced? A call names its tool there; messages and reasoning are empty. */
const hasContentAtStart = (item: unknown): boolean =>
  isObject(item) && item.type !== 'message' && item.type !== 'reasoning'
