import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { MALFORMED_CALL } from '../../canonical/errors.ts'
import { parseExactly } from '../../canonical/exact-json.ts'
import { base64Source } from '../../canonical/media.ts'
import type { AssistantPart, ReasoningPart, TextPart, ToolCallPart } from '../../canonical/parts.ts'
import type { OpaqueState } from '../../canonical/state.ts'
import type { ReaderEvent } from '../../canonical/stream.ts'
import { candidateIndex } from '../../canonical/stream-reader.ts'
import { hostedPart } from '../../canonical/tools.ts'
import { defined } from '../../canonical/values.ts'
import type { ReadContext, StreamReader } from '../../translator.ts'
import { type CitedText, namesSources, parseGrounding } from '../citations.ts'
import { streamError } from '../errors.ts'
import { blockedFinish, finishOf, isVagueEnd, parseLogprobs } from '../fields.ts'
import { createCallAssembler, type WholeCall } from '../function-calls.ts'
import { mediaPart } from '../media.ts'
import { geminiUsage } from '../stream-state.ts'

/**
 * Creates a reader of chunks, each of which is an answer with some more parts. Their usage is that of the answer so far; a blocked prompt has
 * no candidates; only a finish reason marks the end.
 */
export function createReader(context: ReadContext, emit: (event: ReaderEvent) => void): StreamReader {
  const { observe, end } = createAnswerReader(context, emit)
  return {
    end,
    observe({ data }) {
      if (data === '[DONE]') return end() // sent by some proxies; the finish reason decides
      const chunk = parseExactly(data)
      if (chunk === undefined && data.trim() !== '') return emit({ type: 'unreadable' })
      for (const part of Array.isArray(chunk) ? chunk : [chunk]) if (isObject(part)) observe(part)
    },
  } satisfies { observe(event: SseEvent): void; end(): void }
}

/** `createReader` for chunks that are parsed already. */
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

/** Reads one candidate, chunk by chunk; a whole answer is one chunk. */
interface CandidateReader {
  observe(candidate: JsonObject): void
  /** Emits the parts that were held back. */
  end(): void
}

interface CandidateContext extends ReadContext {
  candidate: number
  /** Parts are numbered over all candidates. */
  keys: { next: number }
  /** The ids of the calls so far, which must be unique. */
  ids: Set<string>
}

interface OpenText {
  type: 'text' | 'reasoning'
  key: number
  texts: string[]
  partIndex: number
  /** Has the part a signature? A signature ends its part, so that more text belongs to a new part. */
  isSigned: boolean
}

function createCandidateReader(context: CandidateContext, emit: (event: ReaderEvent) => void): CandidateReader {
  const { candidate: index, keys, ids, origin, newId, responseWarnings, hasHosted } = context
  const assembler = createCallAssembler(() => responseWarnings.noteDropped('functionCall'))
  let open: OpenText | undefined
  let closed: OpenText[] = [] // texts that ended in a chunk with sources for them
  let code: JsonObject = {} // that Google runs
  let isCiting = false
  let isEmpty = true
  let isVague = false // the last chunk has an unspecified reason and no content
  let isFinished = false
  let partIndex = -1

  function observe(candidate: JsonObject) {
    const { content, logprobsResult, groundingMetadata, citationMetadata } = candidate
    isCiting = isObject(groundingMetadata) || isObject(citationMetadata)
    partIndex = -1
    let logprobs = logprobsResult ? parseLogprobs(logprobsResult) : undefined
    const parts: unknown[] = isObject(content) && Array.isArray(content.parts) ? content.parts : []
    for (const part of parts) {
      partIndex++
      if (!isObject(part)) continue
      if (part.functionCall !== undefined) addCalls(assembler.take(part))
      else if (hasContent(part)) addCalls(assembler.flush())
      if (hasHosted && isObject(part.executableCode)) {
        code = part.executableCode
        continue
      }
      if (hasHosted && isObject(part.codeExecutionResult)) {
        const ran = { name: 'code_execution', input: code, result: part.codeExecutionResult }
        addWhole(hostedPart(`call_${newId()}`, ran))
        continue
      }
      const parsed = answerPart(part, context)
      if (!parsed) continue
      const isText = parsed.type === 'text' && parsed.text !== ''
      if (isText && logprobs) parsed.logprobs = logprobs
      if (isText) logprobs = undefined
      if (parsed.type === 'text' || parsed.type === 'reasoning') addText(parsed)
      else addWhole(parsed)
    }
    if (logprobs && !parts.some(isReasoning)) responseWarnings.noteDropped('logprobsResult') // the candidate has no text to which they belong
    if (isCiting) cite(candidate)
    const finish = finishOf(candidate.finishReason, candidate.finishMessage)
    isVague = isVagueEnd(candidate.finishReason) && !parts.some(hasContent)
    if (!finish) return
    isFinished = true
    end()
    if (finish.reason === 'malformed-call' && isEmpty)
      return emit({ type: 'error', error: malformed(finish.explanation) })
    emit({ type: 'finish', candidate: index, finish })
  }

  function start(part: AssistantPart): number {
    const key = keys.next++
    isEmpty = false
    emit({ type: 'part-start', key, candidate: index, part })
    return key
  }

  function addText(part: AssistantPart & { type: 'text' | 'reasoning' }) {
    const { type, text, state } = part
    if (open?.type !== type || open.isSigned) {
      close()
      const key = start(type === 'text' ? { type, text: '' } : { type, text: '', isSummary: true })
      open = { type, key, texts: [], partIndex, isSigned: false }
    }
    const { key } = open
    if (text !== '') {
      open.texts.push(text)
      const logprobs = part.type === 'text' ? part.logprobs : undefined
      emit(logprobs ? { type: 'part-delta', key, text, logprobs } : { type: 'part-delta', key, text })
    }
    if (state) sign(open, state)
  }

  function sign(part: OpenText, state: OpaqueState) {
    part.isSigned = true
    emit({ type: 'part-state', key: part.key, state })
  }

  function addWhole(part: AssistantPart) {
    close()
    emit({ type: 'part-end', key: start(part) })
  }

  function addCalls(calls: readonly WholeCall[]) {
    for (const { id: given, name, arguments: args, signature } of calls) {
      close()
      const id = given !== undefined && !ids.has(given) ? given : `call_${newId()}`
      ids.add(id)
      const part: ToolCallPart = { type: 'tool-call', id, name, arguments: '' }
      if (signature !== undefined) part.state = { origin, kind: 'thought-signature', data: signature }
      const key = start(part)
      if (args !== '') emit({ type: 'part-delta', key, text: args })
      emit({ type: 'part-end', key })
    }
  }

  function close() {
    if (!open) return
    if (isCiting && open.type === 'text') closed.push(open)
    else emit({ type: 'part-end', key: open.key })
    open = undefined
  }

  /** Emits citations. Sources come last, and may be for texts that have ended; such texts stay open until then. */
  function cite(candidate: JsonObject) {
    const parts = open?.type === 'text' ? [...closed, open] : closed
    const texts = parts.map((part): CitedText => ({ ...part, text: part.texts.join('') }))
    const found = parseGrounding(candidate, texts)
    if (found.length === 0 && namesSources(candidate)) responseWarnings.noteDropped('groundingMetadata')
    for (const { key, citation } of found) emit({ type: 'part-citation', key, citation })
    for (const { key } of closed) emit({ type: 'part-end', key })
    closed = []
    isCiting = false
  }

  function end() {
    addCalls(assembler.flush())
    close()
  }

  return {
    observe,
    end() {
      end()
      if (isVague && !isFinished) emit({ type: 'finish', candidate: index, finish: { reason: 'stop' } })
      isFinished ||= isVague
    },
  }
}

const hasContent = (part: unknown): boolean =>
  isObject(part) && (part.text !== '' || part.thoughtSignature !== undefined)

/** Is the part reasoning, for whose logprobs the canonical form has no place? */
const isReasoning = (part: unknown): boolean => isObject(part) && part.thought === true

/** The error of an answer without content, where another attempt may succeed. */
const malformed = (explanation = 'The model made a function call that is malformed.') =>
  ({ kind: 'server', status: 502, code: MALFORMED_CALL, message: explanation }) as const

/**
 * Parses a part of an answer; `undefined` for a call or an empty part. Reasoning is always a summary, since Google shows only summaries.
 * Calls and results of Google's own tools appear in the text only.
 */
function answerPart(part: JsonObject, { origin, responseWarnings }: ReadContext): AssistantPart | undefined {
  const { text, thought, thoughtSignature, functionCall, inlineData } = part
  if (functionCall !== undefined) return undefined
  const state: OpaqueState | undefined =
    typeof thoughtSignature === 'string' && thoughtSignature !== ''
      ? { origin, kind: 'thought-signature', data: thoughtSignature }
      : undefined
  const content = typeof text === 'string' ? text : ''
  if (thought === true && inlineData !== undefined) responseWarnings.noteDropped('inlineData') // a draft of an image
  if (thought === true)
    return content || state
      ? defined<ReasoningPart>({ type: 'reasoning', text: content, isSummary: true, state })
      : undefined
  if (isObject(inlineData)) {
    const media = answerMedia(inlineData, state)
    if (!media) responseWarnings.noteDropped('inlineData')
    return media
  }
  const other = Object.keys(part).find((name) => !NOTES.has(name))
  if (other !== undefined) responseWarnings.noteDropped(other)
  return content || (state && !other) ? defined<TextPart>({ type: 'text', text: content, state }) : undefined
}

const NOTES: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature', 'partMetadata'])

function answerMedia({ mimeType, data }: JsonObject, state: OpaqueState | undefined): AssistantPart | undefined {
  if (typeof mimeType !== 'string' || typeof data !== 'string') return undefined
  const media = mediaPart(base64Source(mimeType, data))
  if (media.type === 'image') return state ? { ...media, state } : media
  return media.type === 'audio' ? media : undefined
}
