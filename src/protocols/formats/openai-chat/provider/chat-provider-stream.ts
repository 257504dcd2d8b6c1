import { isObject, type JsonObject } from '../../../../lib/json.ts'
import type { SseEvent } from '../../../../lib/sse.ts'
import { parseMediaUrl } from '../../canonical/canonical-media.ts'
import type { AssistantPart, Citation } from '../../canonical/canonical-parts.ts'
import type { ReaderEvent } from '../../canonical/canonical-stream.ts'
import { readString } from '../../canonical/canonical-values.ts'
import { parseExactObject } from '../../canonical/exact-json.ts'
import { readCandidateIndex } from '../../canonical/stream-reader.ts'
import { parseEmbeddedError } from '../../errors/parse-error.ts'
import type { ReaderContext, StreamReader } from '../../translator.ts'
import { getContentText, parseFinish } from '../chat-fields.ts'
import { getChoiceError, getChunkError } from '../chat-response.ts'
import { createUsageReader, getNamedError, parseChunk } from '../chat-stream-state.ts'
import {
  dropUnknownParts,
  parseAnnotations,
  parseAudio,
  parseLogprobs,
  parseSources,
} from './chat-provider-response.ts'
import { createToolCallReader, type StreamChoiceContext } from './chat-provider-stream-calls.ts'
import { createReasoningReader } from './chat-provider-stream-reasoning.ts'

/**
 * Reads chunks with `choices[].delta` from OpenAI and compatible vendors. Choices can be empty or lack a delta, `[DONE]` can be missing, and any
 * chunk can contain the usage.
 */
export function createReader(context: ReaderContext, emit: (event: ReaderEvent) => void): StreamReader {
  const readers: (ChoiceReader | undefined)[] = []
  const keys = { nextKey: 0 }
  const readUsage = createUsageReader()
  let id: string | undefined
  let model: string | undefined
  let isStarted = false
  let sources: unknown

  function observe({ event, data }: SseEvent) {
    if (data === '[DONE]') {
      endChoices()
      return emit({ type: 'done' })
    }
    const chunk = parseChunk(data)
    const usage = isObject(chunk) ? readUsage(chunk) : undefined
    if (usage) emit({ type: 'usage', usage })
    if (event === 'error') return emit({ type: 'error', error: parseEmbeddedError(getNamedError(chunk, data)) })
    if (chunk === undefined && data.trim() !== '') return emit({ type: 'unreadable' })
    if (!isObject(chunk)) return // such a chunk has no content
    const error = getChunkError(chunk)
    if (error) return emit({ type: 'error', error: parseEmbeddedError(error) })
    id ||= readString(chunk.id)
    model ||= readString(chunk.model)
    sources = chunk.search_results ?? chunk.citations ?? sources
    const { choices } = restoreExactArguments(data, chunk)
    if (!Array.isArray(choices)) return
    for (const choice of choices) if (isObject(choice)) observeChoice(choice)
  }

  function observeChoice(choice: JsonObject) {
    const index = readCandidateIndex(choice.index)
    const failure = getChoiceError(choice)
    if (failure) return emit({ type: 'error', error: parseEmbeddedError(failure) })
    start()
    const reader = readers[index] ?? createChoiceReader({ ...context, candidate: index, keys }, emit)
    readers[index] = reader
    // Perplexity adds a message that repeats the entire response so far.
    const delta = isObject(choice.delta) ? choice.delta : reader.isEmpty() ? choice.message : undefined
    if (isObject(delta)) reader.observe(delta, choice.logprobs)
    if (isObject(delta) && delta.annotations)
      reader.addCitations(parseAnnotations(delta.annotations, context.responseWarnings))
    if (typeof choice.finish_reason !== 'string' || choice.finish_reason === '') return
    if (sources !== undefined) reader.addCitations(parseSources({ citations: sources }))
    sources = undefined
    reader.finish(choice.finish_reason)
  }

  function start() {
    if (isStarted) return
    isStarted = true
    emit({ type: 'start', ...(id && { id }), ...(model && { model }) })
  }

  function endChoices() {
    for (const reader of readers) reader?.end()
  }

  return { observe, end: endChoices }
}

interface ChoiceReader {
  observe(delta: JsonObject, logprobs: unknown): void
  addCitations(citations: readonly Citation[]): void
  finish(reason: string): void
  /** Returns whether none of the candidate's parts has begun. */
  isEmpty(): boolean
  /** Emits buffered audio, and ends the open parts. */
  end(): void
}

function createChoiceReader(context: StreamChoiceContext, emit: (event: ReaderEvent) => void): ChoiceReader {
  const { candidate, keys, responseWarnings } = context
  let openPart: { type: 'text' | 'refusal'; key: number } | undefined
  let isEmpty = true
  let audio: JsonObject | undefined
  const reasoning = createReasoningReader(context, start, emit)
  const calls = createToolCallReader(context, start, emit)

  function start(part: AssistantPart): number {
    const key = keys.nextKey++
    isEmpty = false
    emit({ type: 'part-start', key, candidate, part })
    return key
  }

  function addText(type: 'text' | 'refusal', text: string, logprobs: unknown) {
    if (openPart?.type !== type) {
      closePart()
      reasoning.close()
      calls.closeComplete()
      openPart = { type, key: start({ type, text: '' }) }
    }
    const tokens = logprobs ? parseLogprobs(logprobs, responseWarnings) : undefined
    const { key } = openPart
    emit(tokens ? { type: 'part-delta', key, text, logprobs: tokens } : { type: 'part-delta', key, text })
  }

  function closePart() {
    if (openPart) emit({ type: 'part-end', key: openPart.key })
    openPart = undefined
  }

  function observe(delta: JsonObject, logprobs: unknown) {
    const { content, refusal, tool_calls, function_call } = delta
    if (reasoning.observe(delta)) closePart()
    if (typeof content === 'string') {
      if (content !== '') addText('text', content, logprobs)
    } else if (Array.isArray(content)) {
      dropUnknownParts(content, responseWarnings)
      const text = getContentText(content)
      if (text !== '') addText('text', text, logprobs)
    }
    if (typeof refusal === 'string' && refusal !== '') addText('refusal', refusal, logprobs)
    if (Array.isArray(tool_calls) && tool_calls.length > 0) {
      closePart()
      reasoning.close()
      for (const call of tool_calls) if (isObject(call)) calls.observe(call)
    } else if (isObject(function_call) && (function_call.name || function_call.arguments)) {
      closePart()
      calls.observe({ index: 0, function: function_call })
    }
    if (isObject(delta.audio)) audio = joinAudio(audio, delta.audio)
    if (Array.isArray(delta.images)) for (const image of delta.images) emitImage(image)
  }

  function emitImage(image: unknown) {
    const url = isObject(image) && isObject(image.image_url) ? image.image_url.url : undefined
    if (typeof url !== 'string') return responseWarnings.recordDrop('images')
    closePart()
    emit({ type: 'part-end', key: start({ type: 'image', source: parseMediaUrl(url, 'image/png') }) })
  }

  function endChoice() {
    const part = audio && parseAudio(audio, responseWarnings)
    audio = undefined
    if (part) emit({ type: 'part-end', key: start(part) })
    closePart()
    reasoning.close()
    calls.end()
  }

  return {
    observe,
    end: endChoice,
    isEmpty: () => isEmpty,
    addCitations(citations) {
      if (citations.length === 0) return
      if (openPart?.type !== 'text') {
        closePart()
        openPart = { type: 'text', key: start({ type: 'text', text: '' }) }
      }
      for (const citation of citations) emit({ type: 'part-citation', key: openPart.key, citation })
    },
    finish(reason) {
      endChoice()
      emit({ type: 'finish', candidate, finish: parseFinish(reason) })
    },
  }
}

/** Joins audio, which arrives as pieces of base64 (each of whole bytes) and pieces of the transcript. */
function joinAudio(previous: JsonObject | undefined, delta: JsonObject): JsonObject {
  const joinedAudio = { ...previous, ...delta }
  for (const name of ['data', 'transcript']) {
    const previousValue = previous?.[name]
    const addedValue = delta[name]
    joinedAudio[name] =
      typeof previousValue === 'string'
        ? previousValue + (typeof addedValue === 'string' ? addedValue : '')
        : addedValue
  }
  return joinedAudio
}

/** Restores exact integers in tool arguments, which some vendors send as an object instead of a string. */
const restoreExactArguments = (data: string, chunk: JsonObject): JsonObject =>
  Array.isArray(chunk.choices) && chunk.choices.some(hasObjectArguments) ? parseExactObject(data, chunk) : chunk

function hasObjectArguments(choice: unknown): boolean {
  const delta = isObject(choice) ? (choice.delta ?? choice.message) : undefined
  const calls = isObject(delta) ? delta.tool_calls : undefined
  return (
    Array.isArray(calls) &&
    calls.some((call) => isObject(call) && isObject(call.function) && isObject(call.function.arguments))
  )
}
