import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { pickStreamError } from '../canonical/late-reason.ts'
import { updateUsage } from '../canonical/reported-usage.ts'
import { toEmbeddedError } from '../errors/load-error-readers.ts'
import { createStreamProgress, type StreamState } from '../format.ts'
import { hasContent, readGeminiUsage, toMalformedError } from './gemini-response.ts'

/** Tracks a stream of chunks, which ends with a finish reason or a blocked prompt. A stop without content doesn't start the response. */
export function createGeminiStreamState(): StreamState {
  const state = { ...createStreamProgress(), observe }

  function observe({ data }: SseEvent) {
    const value = tryParseJson(data)
    for (const chunk of Array.isArray(value) ? value : [value]) if (isObject(chunk)) observeChunk(chunk)
  }

  function observeChunk({ candidates, error, promptFeedback, usageMetadata }: JsonObject) {
    state.error = pickStreamError(state.error, toEmbeddedError(error))
    state.usage = updateUsage(state.usage, readGeminiUsage(usageMetadata))
    if (error) return
    if (isObject(promptFeedback) && promptFeedback.blockReason) state.hasStarted = state.hasEnded = true
    if (!Array.isArray(candidates)) return
    for (const candidate of candidates) {
      if (!isObject(candidate)) continue
      if (hasContent(candidate)) state.hasStarted = true
      if (candidate.finishReason) recordFinish(candidate)
    }
  }

  function recordFinish(candidate: JsonObject) {
    const error = toMalformedError(candidate, state.hasStarted)
    state.hasEnded = true
    if (error) state.error ??= error
    else state.hasStarted ||= candidate.finishReason !== 'STOP'
  }

  return state
}
