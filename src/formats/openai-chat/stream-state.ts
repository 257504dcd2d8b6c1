import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { TokenUsage } from '../canonical/answer.ts'
import { mediaTokens } from '../canonical/media-tokens.ts'
import { reportedCost } from '../canonical/reported-cost.ts'
import { hasTokenCount, tokenCount } from '../canonical/values.ts'
import { embeddedError } from '../errors/embedded.ts'
import { newStreamProgress, type StreamState } from '../format.ts'

/** A comment, which clients of the format ignore. */
export const KEEP_ALIVE = ': keep-alive\n\n'

/** Parses `usage`; `undefined` where it says nothing. Prompt tokens include the cached ones, for which vendors have four fields. */
export function chatUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const cost = reportedCost(usage)
  const { prompt_tokens, completion_tokens, total_tokens } = usage
  if (cost.costUsd === undefined && !hasTokenCount(prompt_tokens, completion_tokens, total_tokens)) return undefined
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const completion = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {}
  const cached = prompt.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens ?? usage.num_cached_tokens
  const inputTokens = tokenCount(usage.prompt_tokens)
  const reasoningTokens = tokenCount(completion.reasoning_tokens)
  const cacheReadTokens = Math.min(tokenCount(cached), inputTokens) // some vendors count blocks, of which the last one is not full
  return {
    inputTokens,
    outputTokens: outputOf(usage, inputTokens, reasoningTokens),
    cacheReadTokens,
    // Some vendors report tokens that were read as written, too; no token is both.
    cacheWriteTokens: Math.min(tokenCount(prompt.cache_write_tokens), inputTokens - cacheReadTokens),
    reasoningTokens,
    ...mediaTokens(prompt, completion),
    ...cost,
  }
}

/** xAI does not count reasoning as completion tokens; some compatible APIs do not count an answer of reasoning alone. */
function outputOf(
  { completion_tokens, total_tokens }: JsonObject,
  inputTokens: number,
  reasoningTokens: number,
): number {
  const outputTokens = tokenCount(completion_tokens)
  const rest = tokenCount(total_tokens) - inputTokens
  return outputTokens === 0 || outputTokens + reasoningTokens === rest ? Math.max(outputTokens, rest) : outputTokens
}

/** Parses the usage in a chunk, if it has any; Groq and Moonshot put it into fields of their own. */
export function chunkUsage({ usage, x_groq, choices }: JsonObject): TokenUsage | undefined {
  if (usage) return chatUsage(usage)
  if (isObject(x_groq) && x_groq.usage) return chatUsage(x_groq.usage)
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  return isObject(choice) && choice.usage ? chatUsage(choice.usage) : undefined
}

/** The JSON of an event. Google wraps its errors in arrays, in its compatible API, too. */
export function chunkIn(data: string): unknown {
  const value = tryParseJson(data)
  const first: unknown = Array.isArray(value) ? value[0] : undefined
  return isObject(first) && first.error ? first : value
}

/** The error in a chunk or an answer; some inference servers send it without an envelope. */
export const errorOf = (chunk: JsonObject): unknown => chunk.error ?? (chunk.object === 'error' ? chunk : undefined)

/** The error of a choice: OpenRouter and Z.ai report an upstream failure by a finish reason. */
export const failureOf = ({ error, finish_reason: reason }: JsonObject): unknown =>
  error || (reason === 'error' || reason === 'network_error' ? FAILED_CHOICE : undefined)

const FAILED_CHOICE = 'The provider says that its answer ended in an error.'

/** The error in an event that is named `error`; providers of this format name no other events. */
export const namedError = (chunk: unknown, data: string): unknown =>
  (isObject(chunk) ? (chunk.error ?? chunk) : data) || 'The provider reported an error.'

/**
 * Follows a stream of chunks with `choices[].delta`, which ends with a finish reason or `[DONE]`. The answer does not start with a chunk that
 * only names the role, nor with the end of an empty turn; a legacy completion may be empty.
 */
export function createChatStreamState(): StreamState {
  const state = { ...newStreamProgress(), observe }

  function observe({ event, data }: SseEvent) {
    if (data === '[DONE]') {
      state.ended = state.closed = true
      return
    }
    const chunk = chunkIn(data)
    if (event === 'error') state.error ??= embeddedError(namedError(chunk, data))
    if (!isObject(chunk)) return // holds nothing that a client could read
    const error = errorOf(chunk) ?? errorInChoices(chunk.choices)
    if (error) state.error ??= embeddedError(error)
    if (data.includes('"usage"')) state.usage = chunkUsage(chunk) ?? state.usage
    if (error || !Array.isArray(chunk.choices)) return
    for (const choice of chunk.choices) {
      if (!isObject(choice)) continue
      const { delta, text, finish_reason: finish } = choice
      if (finish) state.ended = true
      state.started ||= hasContent(delta) || Boolean(text) || Boolean(finish && !(delta && finish === 'stop'))
    }
  }

  return state
}

export function errorInChoices(choices: unknown): unknown {
  if (!Array.isArray(choices)) return undefined
  for (const choice of choices) {
    const failure = isObject(choice) && failureOf(choice)
    if (failure) return failure
  }
  return undefined
}

function hasContent(delta: unknown): boolean {
  if (!isObject(delta)) return false
  for (const name in delta) {
    const value = delta[name]
    if (name !== 'role' && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)) return true
  }
  return false
}
