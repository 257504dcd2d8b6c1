import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { embeddedError } from '../embedded-error.ts'
import { type StreamWatch, untouchedStream } from '../format.ts'
import { brokenBy, hasContent } from './broken.ts'
import { geminiUsage } from './usage.ts'

/** Chunks with candidates, ended by a finish reason or by a prompt that was blocked; there is no end mark. To stop without a word is no answer. */
export function watchGeminiStream(): StreamWatch {
  const watch = { ...untouchedStream(), observe }

  function observe({ data }: SseEvent) {
    const value = tryParseJson(data)
    for (const chunk of Array.isArray(value) ? value : [value]) if (isObject(chunk)) observeChunk(chunk)
  }

  function observeChunk({ candidates, error, promptFeedback, usageMetadata }: JsonObject) {
    watch.error ??= embeddedError(error)
    watch.usage = geminiUsage(usageMetadata) ?? watch.usage
    if (error) return
    if (isObject(promptFeedback) && promptFeedback.blockReason) watch.started = watch.ended = true
    if (!Array.isArray(candidates)) return
    for (const candidate of candidates) {
      if (!isObject(candidate)) continue
      if (hasContent(candidate)) watch.started = true
      if (candidate.finishReason) end(candidate)
    }
  }

  function end(candidate: JsonObject) {
    const error = brokenBy(candidate, watch.started)
    watch.ended = true
    if (error) watch.error ??= error
    else watch.started ||= candidate.finishReason !== 'STOP'
  }

  return watch
}
