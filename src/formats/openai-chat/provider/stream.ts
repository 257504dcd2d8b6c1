import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { exactObject } from '../../canonical/exact-json.ts'
import { sourceOfUrl } from '../../canonical/media.ts'
import type { AssistantPart, Citation } from '../../canonical/parts.ts'
import type { ReaderEvent } from '../../canonical/stream.ts'
import { candidateIndex } from '../../canonical/stream-reader.ts'
import { textIn } from '../../canonical/values.ts'
import { parseEmbeddedError } from '../../errors/parse.ts'
import type { ReadContext, StreamReader } from '../../translator.ts'
import { finishOf, textOfContent } from '../fields.ts'
import { chunkIn, chunkUsage, errorOf, failureOf, namedError } from '../stream-state.ts'
import { audioPart, dropUnknownParts, parseAnnotations, parseLogprobs, parseSources } from './answer.ts'
import { createToolCallReader, type StreamChoiceContext } from './stream-calls.ts'
import { createReasoningReader } from './stream-reasoning.ts'

/**
 * Reads chunks with `choices[].delta`, from OpenAI and from compatible vendors: choices may be empty or lack their delta, the end mark may be
 * missing, and any chunk may hold the usage.
 */
export function createReader(context: ReadContext, emit: (event: ReaderEvent) => void): StreamReader {
  const choices: (ChoiceReader | undefined)[] = []
  const keys = { next: 0 }
  let id: string | undefined
  let model: string | undefined
  let isStarted = false
  let sources: unknown

  function observe({ event, data }: SseEvent) {
    if (data === '[DONE]') {
      end()
      return emit({ type: 'done' })
    }
    const chunk = chunkIn(data)
    if (event === 'error') return emit({ type: 'error', error: parseEmbeddedError(namedError(chunk, data)) })
    if (chunk === undefined && data.trim() !== '') return emit({ type: 'unreadable' })
    if (!isObject(chunk)) return // holds nothing that a client could read
    const error = errorOf(chunk)
    if (error) return emit({ type: 'error', error: parseEmbeddedError(error) })
    id ||= textIn(chunk.id)
    model ||= textIn(chunk.model)
    const usage = chunkUsage(chunk)
    if (usage) emit({ type: 'usage', usage })
    sources = chunk.search_results ?? chunk.citations ?? sources
    const { choices: list } = withExactArguments(data, chunk)
    if (!Array.isArray(list)) return
    for (const choice of list) if (isObject(choice)) observeChoice(choice)
  }

  function observeChoice(choice: JsonObject) {
    const index = candidateIndex(choice.index)
    const failure = failureOf(choice)
    if (failure) return emit({ type: 'error', error: parseEmbeddedError(failure) })
    start()
    const reader = choices[index] ?? createChoiceReader({ ...context, candidate: index, keys }, emit)
    choices[index] = reader
    // A message beside the delta repeats the whole answer so far (Perplexity).
    const delta = isObject(choice.delta) ? choice.delta : reader.isEmpty() ? choice.message : undefined
    if (isObject(delta)) reader.observe(delta, choice.logprobs)
    if (isObject(delta) && delta.annotations) reader.cite(parseAnnotations(delta.annotations, context.responseWarnings))
    if (typeof choice.finish_reason !== 'string' || choice.finish_reason === '') return
    if (sources !== undefined) reader.cite(parseSources({ citations: sources }))
    sources = undefined
    reader.finish(choice.finish_reason)
  }

  function start() {
    if (isStarted) return
    isStarted = true
    emit({ type: 'start', ...(id && { id }), ...(model && { model }) })
  }

  function end() {
    for (const choice of choices) choice?.end()
  }

  return { observe, end }
}

/** Reads the deltas of one candidate. */
interface ChoiceReader {
  observe(delta: JsonObject, logprobs: unknown): void
  cite(citations: readonly Citation[]): void
  finish(reason: string): void
  /** Has no part of the candidate begun yet? */
  isEmpty(): boolean
  /** Emits what was held back and ends the open parts. */
  end(): void
}

function createChoiceReader(context: StreamChoiceContext, emit: (event: ReaderEvent) => void): ChoiceReader {
  const { candidate, keys, responseWarnings } = context
  let open: { type: 'text' | 'refusal'; key: number } | undefined
  let isEmpty = true
  let audio: JsonObject | undefined
  const reasoning = createReasoningReader(context, start, emit)
  const calls = createToolCallReader(context, start, emit)

  function start(part: AssistantPart): number {
    const key = keys.next++
    isEmpty = false
    emit({ type: 'part-start', key, candidate, part })
    return key
  }

  function addText(type: 'text' | 'refusal', text: string, logprobs: unknown) {
    if (open?.type !== type) {
      close()
      reasoning.close()
      calls.closeComplete()
      open = { type, key: start({ type, text: '' }) }
    }
    const tokens = logprobs ? parseLogprobs(logprobs, responseWarnings) : undefined
    const { key } = open
    emit(tokens ? { type: 'part-delta', key, text, logprobs: tokens } : { type: 'part-delta', key, text })
  }

  function close() {
    if (open) emit({ type: 'part-end', key: open.key })
    open = undefined
  }

  function observe(delta: JsonObject, logprobs: unknown) {
    const { content, refusal, tool_calls, function_call } = delta
    if (reasoning.observe(delta)) close()
    if (typeof content === 'string') {
      if (content !== '') addText('text', content, logprobs)
    } else if (Array.isArray(content)) {
      dropUnknownParts(content, responseWarnings)
      const text = textOfContent(content)
      if (text !== '') addText('text', text, logprobs)
    }
    if (typeof refusal === 'string' && refusal !== '') addText('refusal', refusal, logprobs)
    if (Array.isArray(tool_calls) && tool_calls.length > 0) {
      close()
      reasoning.close()
      for (const call of tool_calls) if (isObject(call)) calls.observe(call)
    } else if (isObject(function_call) && (function_call.name || function_call.arguments)) {
      close()
      calls.observe({ index: 0, function: function_call })
    }
    if (isObject(delta.audio)) audio = joinAudio(audio, delta.audio)
    if (Array.isArray(delta.images)) for (const image of delta.images) show(image)
  }

  function show(image: unknown) {
    const url = isObject(image) && isObject(image.image_url) ? image.image_url.url : undefined
    if (typeof url !== 'string') return responseWarnings.noteDropped('images')
    close()
    emit({ type: 'part-end', key: start({ type: 'image', source: sourceOfUrl(url, 'image/png') }) })
  }

  function end() {
    const part = audio && audioPart(audio, responseWarnings)
    audio = undefined
    if (part) emit({ type: 'part-end', key: start(part) })
    close()
    reasoning.close()
    calls.end()
  }

  return {
    observe,
    end,
    isEmpty: () => isEmpty,
    cite(citations) {
      if (citations.length === 0) return
      if (open?.type !== 'text') {
        close()
        open = { type: 'text', key: start({ type: 'text', text: '' }) }
      }
      for (const citation of citations) emit({ type: 'part-citation', key: open.key, citation })
    },
    finish(reason) {
      end()
      emit({ type: 'finish', candidate, finish: finishOf(reason) })
    },
  }
}

/** Joins audio: it comes in pieces of base64, each of whole bytes, with pieces of the transcript. */
function joinAudio(sofar: JsonObject | undefined, delta: JsonObject): JsonObject {
  const joined = { ...sofar, ...delta }
  for (const name of ['data', 'transcript']) {
    const before = sofar?.[name]
    const more = delta[name]
    joined[name] = typeof before === 'string' ? before + (typeof more === 'string' ? more : '') : more
  }
  return joined
}

/** The chunk with exact integers in the arguments of its calls, which some vendors send as an object instead of text. */
const withExactArguments = (data: string, chunk: JsonObject): JsonObject =>
  Array.isArray(chunk.choices) && chunk.choices.some(hasObjectArguments) ? exactObject(data, chunk) : chunk

function hasObjectArguments(choice: unknown): boolean {
  const delta = isObject(choice) ? (choice.delta ?? choice.message) : undefined
  const calls = isObject(delta) ? delta.tool_calls : undefined
  return (
    Array.isArray(calls) &&
    calls.some((call) => isObject(call) && isObject(call.function) && isObject(call.function.arguments))
  )
}
