import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import type { TokenUsage } from '../canonical/canonical-response.ts'
import { NO_REASON_MESSAGE, pickStreamError } from '../canonical/late-reason.ts'
import { addCharges } from '../canonical/reported-cost.ts'
import { updateUsage } from '../canonical/reported-usage.ts'
import { errorReaders, toEmbeddedError } from '../errors/load-error-readers.ts'
import { createStreamProgress, type StreamState } from '../format.ts'
import { findChoiceError, getChunkError, parseChatUsage } from './chat-response.ts'

/**
 * Creates a function that reads a stream's usage, chunk by chunk. For a chunk that reports tokens, it returns everything known so far, because the
 * tier and the cost may arrive in earlier chunks.
 */
export function createUsageReader(): (chunk: JsonObject) => TokenUsage | undefined {
  let metadata: Partial<TokenUsage> = {}
  return (chunk) => {
    const usage = addCharges(parseChunkUsage(chunk), chunk)
    if (!usage && (chunk.service_tier || hasMetadata(chunk))) metadata = { ...metadata, ...addCharges(NO_USAGE, chunk) }
    return usage && { ...metadata, ...usage }
  }
}

const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0 }

const hasMetadata = ({ choices }: JsonObject): boolean => {
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  return isObject(choice) && isObject(choice.delta) && 'provider_metadata' in choice.delta
}

/** Parses a chunk's usage. Groq and Moonshot report it in fields of their own. */
function parseChunkUsage({ usage, x_groq, choices }: JsonObject): TokenUsage | undefined {
  if (usage) return parseChatUsage(usage)
  if (isObject(x_groq) && x_groq.usage) return parseChatUsage(x_groq.usage)
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  return isObject(choice) && choice.usage ? parseChatUsage(choice.usage) : undefined
}

/** Parses an event's JSON. Google wraps errors in arrays, even in its OpenAI-compatible API. */
export function parseChunk(data: string): unknown {
  const value = tryParseJson(data)
  const firstElement: unknown = Array.isArray(value) ? value[0] : undefined
  return isObject(firstElement) && firstElement.error ? firstElement : value
}

/** Returns the error in an event named `error`. This format's providers don't name other events. */
export const getNamedError = (chunk: unknown, data: string): unknown =>
  (isObject(chunk) ? (chunk.error ?? chunk) : data) || NO_REASON_MESSAGE

/**
 * Tracks a stream of chunks with `choices[].delta`, which ends with a finish reason or `[DONE]`. A chunk that only
 * contains the role, or the end of an empty turn, doesn't count as the start of the response. An empty legacy completion does.
 */
export function createChatStreamState(): StreamState {
  const state = { ...createStreamProgress(), observe }
  const readUsage = createUsageReader()

  function observe({ event, data }: SseEvent) {
    if (data === '[DONE]') {
      state.hasEnded = state.isClosed = true
      return
    }
    const chunk = parseChunk(data)
    if (event === 'error') state.error = pickStreamError(state.error, toEmbeddedError(getNamedError(chunk, data)))
    if (!isObject(chunk)) return // such a chunk has no content
    const error = getChunkError(chunk) ?? findChoiceError(chunk.choices)
    state.isUnread ||= !errorReaders && !error && !('choices' in chunk)
    if (error) state.error = pickStreamError(state.error, toEmbeddedError(error))
    state.usage = updateUsage(state.usage, readUsage(chunk))
    if (error || !Array.isArray(chunk.choices)) return
    for (const choice of chunk.choices) {
      if (!isObject(choice)) continue
      const { delta, text, finish_reason: finishReason } = choice
      if (finishReason) state.hasEnded = true
      if (hasContent(delta) || text) {
        state.hasStarted = true
        state.isSilent = false
      } else if (finishReason && !state.hasStarted && !(delta && finishReason === 'stop'))
        state.hasStarted = state.isSilent = true
    }
  }

  return state
}

function hasContent(delta: unknown): boolean {
  if (!isObject(delta)) return false
  for (const name in delta) {
    const value = delta[name]
    if (name !== 'role' && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)) return true
  }
  return false
}
