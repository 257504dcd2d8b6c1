import { isObject, type JsonObject } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { candidateIndex } from '../canonical/candidate-index.ts'
import { parseExactly } from '../canonical/exact-json.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import type { ReadContext, StreamReader } from '../translator.ts'
import { type CandidateReader, createCandidateReader } from './candidate-reader.ts'
import { streamError } from './error-parse.ts'
import { blockedFinish } from './finish-reason.ts'
import { geminiUsage } from './usage.ts'

/**
 * Reads chunks that are each an answer of their own with some more parts. Their tokens are of the answer so far; a prompt that was blocked has
 * no candidates; nothing but a finish reason says the end.
 */
export function createReader(context: ReadContext, emit: (event: ReaderEvent) => void): StreamReader {
  const { observe, end } = createAnswerReader(context, emit)
  return {
    end,
    observe({ data }) {
      if (data === '[DONE]') return end() // a layer over Google's may say so; the finish reason decides
      const chunk = parseExactly(data)
      if (chunk === undefined && data.trim() !== '') return emit({ type: 'unreadable' })
      for (const part of Array.isArray(chunk) ? chunk : [chunk]) if (isObject(part)) observe(part)
    },
  } satisfies { observe(event: SseEvent): void; end(): void }
}

/** The same of chunks that are JSON already. */
export function createAnswerReader(context: ReadContext, emit: (event: ReaderEvent) => void) {
  const candidates: (CandidateReader | undefined)[] = []
  const shared = { ...context, keys: { next: 0 }, ids: new Set<string>() }
  let isStarted = false

  function observe(chunk: JsonObject) {
    if (chunk.error) return emit({ type: 'error', error: streamError(chunk.error) })
    start(chunk)
    const usage = chunk.usageMetadata ? geminiUsage(chunk.usageMetadata) : undefined
    if (usage) emit({ type: 'usage', usage })
    if (Array.isArray(chunk.candidates))
      for (const candidate of chunk.candidates) if (isObject(candidate)) readerOf(candidate).observe(candidate)
    const { promptFeedback: feedback } = chunk
    const blocked = isObject(feedback) ? blockedFinish(feedback.blockReason, feedback.blockReasonMessage) : undefined
    if (blocked) emit({ type: 'finish', candidate: 0, finish: blocked })
  }

  function start({ responseId, modelVersion }: JsonObject) {
    if (isStarted) return
    isStarted = true
    emit({
      type: 'start',
      ...(typeof responseId === 'string' && { id: responseId }),
      ...(typeof modelVersion === 'string' && { model: modelVersion }),
    })
  }

  function readerOf({ index }: JsonObject): CandidateReader {
    const candidate = candidateIndex(index)
    const reader = candidates[candidate] ?? createCandidateReader({ ...shared, candidate }, emit)
    candidates[candidate] = reader
    return reader
  }

  function end() {
    for (const candidate of candidates) candidate?.end()
  }

  return { observe, end }
}
