import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { pathSegment } from '../../lib/urls.ts'
import type { TokenUsage } from '../canonical/answer.ts'
import { mediaTokens } from '../canonical/media-tokens.ts'
import { tokenCount } from '../canonical/values.ts'
import { embeddedError } from '../errors/embedded.ts'
import { type EmbeddedError, newStreamProgress, type StreamState } from '../format.ts'

/** Blank lines, which clients of the format ignore; a comment does not work, since Google's client for Python takes it for a chunk. */
export const KEEP_ALIVE = '\n\n'

/**
 * The path of a model: `/models/name`; a tuned model is in a collection of its own. Throws `INVALID_REQUEST` on a name that cannot be part of
 * a path.
 */
export function modelPath(model: string): string {
  const [, collection = 'models', name = model] = /^(models|tunedModels)\/(.+)$/.exec(model) ?? []
  return `/${collection}/${pathSegment(name)}`
}

/**
 * Parses Google's `usageMetadata`. The prompt includes cached tokens, but not those that Google's own tools have added; the candidates do not
 * include reasoning. `undefined` as long as no tokens are reported, as in the first chunks of Vertex.
 */
export function geminiUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const total = tokenCount(usage.totalTokenCount)
  const inputTokens = tokenCount(usage.promptTokenCount) + tokenCount(usage.toolUsePromptTokenCount)
  const reasoningTokens = tokenCount(usage.thoughtsTokenCount)
  const outputTokens = tokenCount(usage.candidatesTokenCount) + reasoningTokens
  if (total + inputTokens + outputTokens === 0) return undefined
  return {
    inputTokens,
    // Some proxies report a total without the counts that it consists of.
    outputTokens: outputTokens || Math.max(0, total - inputTokens),
    cacheReadTokens: tokenCount(usage.cachedContentTokenCount),
    reasoningTokens,
    ...mediaTokens(usage.promptTokensDetails, usage.candidatesTokensDetails),
  }
}

export const usageIn = (chunk: unknown) => (isObject(chunk) ? geminiUsage(chunk.usageMetadata) : undefined)

export function errorIn(chunk: unknown) {
  if (!isObject(chunk)) return undefined
  if (!Array.isArray(chunk.candidates)) return embeddedError(chunk.error)
  const candidates: JsonObject[] = chunk.candidates.filter(isObject)
  return candidates.some(hasContent) ? undefined : candidates.map((one) => brokenBy(one, false)).find(Boolean)
}

/**
 * Follows a stream of chunks with candidates, which ends with a finish reason or a blocked prompt, without an end mark. A stop without content
 * does not start the answer.
 */
export function createGeminiStreamState(): StreamState {
  const state = { ...newStreamProgress(), observe }

  function observe({ data }: SseEvent) {
    const value = tryParseJson(data)
    for (const chunk of Array.isArray(value) ? value : [value]) if (isObject(chunk)) observeChunk(chunk)
  }

  function observeChunk({ candidates, error, promptFeedback, usageMetadata }: JsonObject) {
    state.error ??= embeddedError(error)
    state.usage = geminiUsage(usageMetadata) ?? state.usage
    if (error) return
    if (isObject(promptFeedback) && promptFeedback.blockReason) state.started = state.ended = true
    if (!Array.isArray(candidates)) return
    for (const candidate of candidates) {
      if (!isObject(candidate)) continue
      if (hasContent(candidate)) state.started = true
      if (candidate.finishReason) end(candidate)
    }
  }

  function end(candidate: JsonObject) {
    const error = brokenBy(candidate, state.started)
    state.ended = true
    if (error) state.error ??= error
    else state.started ||= candidate.finishReason !== 'STOP'
  }

  return state
}

/** Has the candidate content? An empty text without a signature is none yet. */
function hasContent({ content }: JsonObject): boolean {
  const parts: unknown[] = isObject(content) && Array.isArray(content.parts) ? content.parts : []
  return parts.some((part) => isObject(part) && (part.text !== '' || Object.keys(part).length > 1))
}

/** The error that a candidate's finish reason stands for; another attempt may succeed. */
function brokenBy({ finishReason, finishMessage }: JsonObject, isStarted: boolean): EmbeddedError | undefined {
  if (!(isStarted ? BROKEN : BROKEN_IF_EMPTY).test(String(finishReason))) return undefined
  return {
    class: 'content',
    status: 502,
    message: String(finishMessage ?? `The model's answer is broken: ${finishReason}.`),
  }
}

const BROKEN = /^(?:MALFORMED_|UNEXPECTED_TOOL|TOO_MANY_TOOL|MISSING_THOUGHT)/

const BROKEN_IF_EMPTY = new RegExp(`${BROKEN.source}|^(?:OTHER|5|NO_IMAGE)$`)
