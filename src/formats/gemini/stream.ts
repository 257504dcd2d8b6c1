import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { embeddedError } from '../embedded-error.ts'
import { type StreamWatch, untouchedStream } from '../format.ts'
import { geminiUsage } from './usage.ts'

/** Chunks with candidates, ended by a finish reason or by a prompt that was blocked; there is no end mark. */
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
      if (candidate.finishReason) watch.started = watch.ended = true
      else if (hasContent(candidate.content)) watch.started = true
    }
  }

  return watch
}

/** An empty text without a signature is nothing yet. */
function hasContent(content: unknown): boolean {
  const parts: unknown[] = isObject(content) && Array.isArray(content.parts) ? content.parts : []
  return parts.some((part) => isObject(part) && (part.text !== '' || Object.keys(part).length > 1))
}
