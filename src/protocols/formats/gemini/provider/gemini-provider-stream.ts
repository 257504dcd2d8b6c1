import { isObject, type JsonObject } from '../../../../lib/json.ts'
import type { SseEvent } from '../../../../lib/sse.ts'
import { MALFORMED_CALL } from '../../canonical/canonical-errors.ts'
import { createBase64Source } from '../../canonical/canonical-media.ts'
import type { AssistantPart, ReasoningPart, TextPart, ToolCallPart } from '../../canonical/canonical-parts.ts'
import type { OpaqueState } from '../../canonical/canonical-state.ts'
import type { ReaderEvent } from '../../canonical/canonical-stream.ts'
import { createHostedToolPart } from '../../canonical/canonical-tools.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import { parseExactly } from '../../canonical/exact-json.ts'
import { readCandidateIndex } from '../../canonical/stream-reader.ts'
import type { ReaderContext, StreamReader } from '../../translator.ts'
import { type CitedText, hasSources, parseGrounding } from '../gemini-citations.ts'
import { parseStreamError } from '../gemini-errors.ts'
import { isUnspecifiedReason, parseBlockedPrompt, parseFinish, parseLogprobs } from '../gemini-fields.ts'
import { type CompleteCall, createCallAssembler } from '../gemini-function-calls.ts'
import { toMediaPart } from '../gemini-media.ts'
import { readGeminiUsage } from '../gemini-response.ts'

/** Creates a reader for chunks. Usage is cumulative, a blocked prompt has no candidates, and only a finish reason marks the end. */
export function createReader(context: ReaderContext, emit: (event: ReaderEvent) => void): StreamReader {
  const { observe, end } = createResponseReader(context, emit)
  return {
    end,
    observe({ data }) {
      if (data === '[DONE]') return end() // sent by some proxies; only the finish reason counts
      const chunk = parseExactly(data)
      if (chunk === undefined && data.trim() !== '') return emit({ type: 'unreadable' })
      for (const part of Array.isArray(chunk) ? chunk : [chunk]) if (isObject(part)) observe(part)
    },
  } satisfies { observe(event: SseEvent): void; end(): void }
}

/** Creates a reader for parsed chunks. */
export function createResponseReader(context: ReaderContext, emit: (event: ReaderEvent) => void) {
  const candidates: (CandidateReader | undefined)[] = []
  const sharedContext = { ...context, keys: { nextKey: 0 }, usedIds: new Set<string>() }
  let isStarted = false

  function observe(chunk: JsonObject) {
    const usage = chunk.usageMetadata ? readGeminiUsage(chunk.usageMetadata) : undefined
    if (usage) emit({ type: 'usage', usage })
    if (chunk.error) return emit({ type: 'error', error: parseStreamError(chunk.error) })
    start(chunk)
    if (Array.isArray(chunk.candidates))
      for (const candidate of chunk.candidates) if (isObject(candidate)) getReader(candidate).observe(candidate)
    const { promptFeedback: feedback } = chunk
    const blockedFinish = isObject(feedback)
      ? parseBlockedPrompt(feedback.blockReason, feedback.blockReasonMessage)
      : undefined
    if (blockedFinish) emit({ type: 'finish', candidate: 0, finish: blockedFinish })
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

  function getReader({ index }: JsonObject): CandidateReader {
    const candidate = readCandidateIndex(index)
    const reader = candidates[candidate] ?? createCandidateReader({ ...sharedContext, candidate }, emit)
    candidates[candidate] = reader
    return reader
  }

  function end() {
    for (const candidate of candidates) candidate?.end()
  }

  return { observe, end }
}

/** Reads one candidate, chunk by chunk. A complete response is one chunk. */
interface CandidateReader {
  observe(candidate: JsonObject): void
  /** Emits the buffered parts. */
  end(): void
}

interface CandidateContext extends ReaderContext {
  candidate: number
  /** The next part key. All candidates share one numbering. */
  keys: { nextKey: number }
  /** The IDs of earlier calls. New IDs must differ from them. */
  usedIds: Set<string>
}

interface OpenText {
  type: 'text' | 'reasoning'
  key: number
  texts: string[]
  partIndex: number
  /** Whether the part has a signature. A signature ends the part, so that more text belongs to a new one. */
  isSigned: boolean
}

function createCandidateReader(context: CandidateContext, emit: (event: ReaderEvent) => void): CandidateReader {
  const { candidate: index, keys, usedIds, origin, newId, responseWarnings, hasHostedTools } = context
  const assembler = createCallAssembler(() => responseWarnings.recordDrop('functionCall'))
  let openText: OpenText | undefined
  let closedTexts: OpenText[] = [] // text parts that ended in a chunk that contains sources for them
  let runningCode: JsonObject = {} // the code that Google is running
  let hasCitations = false
  let isEmpty = true
  let isVague = false // whether the last chunk has an unspecified reason and no content
  let isFinished = false
  let partIndex = -1

  function observe(candidate: JsonObject) {
    const { content, logprobsResult, groundingMetadata, citationMetadata } = candidate
    hasCitations = isObject(groundingMetadata) || isObject(citationMetadata)
    partIndex = -1
    let logprobs = logprobsResult ? parseLogprobs(logprobsResult) : undefined
    const parts: unknown[] = isObject(content) && Array.isArray(content.parts) ? content.parts : []
    for (const part of parts) {
      partIndex++
      if (!isObject(part)) continue
      if (part.functionCall !== undefined) addCalls(assembler.addPart(part))
      else if (hasContent(part)) addCalls(assembler.flush())
      if (hasHostedTools && isObject(part.executableCode)) {
        runningCode = part.executableCode
        continue
      }
      if (hasHostedTools && isObject(part.codeExecutionResult)) {
        const call = { name: 'code_execution', input: runningCode, result: part.codeExecutionResult }
        addCompletePart(createHostedToolPart(`call_${newId()}`, call))
        continue
      }
      const canonicalPart = parsePart(part, context)
      if (!canonicalPart) continue
      const isText = canonicalPart.type === 'text' && canonicalPart.text !== ''
      if (isText && logprobs) canonicalPart.logprobs = logprobs
      if (isText) logprobs = undefined
      if (canonicalPart.type === 'text' || canonicalPart.type === 'reasoning') addText(canonicalPart)
      else addCompletePart(canonicalPart)
    }
    if (logprobs && !parts.some((part) => isObject(part) && part.thought === true))
      responseWarnings.recordDrop('logprobsResult') // the logprobs belong to reasoning, where they aren't supported
    if (hasCitations) addCitations(candidate)
    const finish = parseFinish(candidate.finishReason, candidate.finishMessage)
    isVague = isUnspecifiedReason(candidate.finishReason) && !parts.some(hasContent)
    if (!finish) return
    isFinished = true
    endParts()
    if (finish.reason === 'malformed-call' && isEmpty)
      return emit({ type: 'error', error: toMalformedError(finish.explanation) })
    emit({ type: 'finish', candidate: index, finish })
  }

  function startPart(part: AssistantPart): number {
    const key = keys.nextKey++
    isEmpty = false
    emit({ type: 'part-start', key, candidate: index, part })
    return key
  }

  function addText(part: AssistantPart & { type: 'text' | 'reasoning' }) {
    const { type, text, state } = part
    if (openText?.type !== type || openText.isSigned) {
      closeText()
      const key = startPart(type === 'text' ? { type, text: '' } : { type, text: '', isSummary: true })
      openText = { type, key, texts: [], partIndex, isSigned: false }
    }
    const { key } = openText
    if (text !== '') {
      openText.texts.push(text)
      const logprobs = part.type === 'text' ? part.logprobs : undefined
      emit(logprobs ? { type: 'part-delta', key, text, logprobs } : { type: 'part-delta', key, text })
    }
    if (state) setSignature(openText, state)
  }

  function setSignature(part: OpenText, state: OpaqueState) {
    part.isSigned = true
    emit({ type: 'part-state', key: part.key, state })
  }

  function addCompletePart(part: AssistantPart) {
    closeText()
    emit({ type: 'part-end', key: startPart(part) })
  }

  function addCalls(calls: readonly CompleteCall[]) {
    for (const { id: callId, name, arguments: args, signature } of calls) {
      closeText()
      const id = callId !== undefined && !usedIds.has(callId) ? callId : `call_${newId()}`
      usedIds.add(id)
      const part: ToolCallPart = { type: 'tool-call', id, name, arguments: '' }
      if (signature !== undefined) part.state = { origin, kind: 'thought-signature', data: signature }
      const key = startPart(part)
      if (args !== '') emit({ type: 'part-delta', key, text: args })
      emit({ type: 'part-end', key })
    }
  }

  function closeText() {
    if (!openText) return
    if (hasCitations && openText.type === 'text') closedTexts.push(openText)
    else emit({ type: 'part-end', key: openText.key })
    openText = undefined
  }

  /** Emits citations. Sources come last and may refer to text parts that have already ended, so such text parts stay open until then. */
  function addCitations(candidate: JsonObject) {
    const parts = openText?.type === 'text' ? [...closedTexts, openText] : closedTexts
    const texts = parts.map((part): CitedText => ({ ...part, text: part.texts.join('') }))
    const textCitations = parseGrounding(candidate, texts)
    if (textCitations.length === 0 && hasSources(candidate)) responseWarnings.recordDrop('groundingMetadata')
    for (const { key, citation } of textCitations) emit({ type: 'part-citation', key, citation })
    for (const { key } of closedTexts) emit({ type: 'part-end', key })
    closedTexts = []
    hasCitations = false
  }

  function endParts() {
    addCalls(assembler.flush())
    closeText()
  }

  return {
    observe,
    end() {
      endParts()
      if (isVague && !isFinished) emit({ type: 'finish', candidate: index, finish: { reason: 'stop' } })
      isFinished ||= isVague
    },
  }
}

const hasContent = (part: unknown): boolean =>
  isObject(part) && (part.text !== '' || part.thoughtSignature !== undefined)

/** Returns the error for a response without content. Another attempt may succeed. */
const toMalformedError = (explanation = 'The model made a malformed function call.') =>
  ({ kind: 'server', status: 502, code: MALFORMED_CALL, message: explanation }) as const

/** Parses a part. Returns `undefined` for a call or an empty part. Google only shows reasoning summaries, and its own tools only appear in text. */
function parsePart(part: JsonObject, { origin, responseWarnings }: ReaderContext): AssistantPart | undefined {
  const { text, thought, thoughtSignature, functionCall, inlineData } = part
  if (functionCall !== undefined) return undefined
  const state: OpaqueState | undefined =
    typeof thoughtSignature === 'string' && thoughtSignature !== ''
      ? { origin, kind: 'thought-signature', data: thoughtSignature }
      : undefined
  const content = typeof text === 'string' ? text : ''
  if (thought === true && inlineData !== undefined) responseWarnings.recordDrop('inlineData') // a draft of the image
  if (thought === true)
    return content || state
      ? omitUndefined<ReasoningPart>({ type: 'reasoning', text: content, isSummary: true, state })
      : undefined
  if (isObject(inlineData)) {
    const media = parseMedia(inlineData, state)
    if (!media) responseWarnings.recordDrop('inlineData')
    return media
  }
  const unknownField = Object.keys(part).find((name) => !KNOWN_FIELDS.has(name))
  if (unknownField !== undefined) responseWarnings.recordDrop(unknownField)
  return content || (state && !unknownField)
    ? omitUndefined<TextPart>({ type: 'text', text: content, state })
    : undefined
}

const KNOWN_FIELDS: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature', 'partMetadata'])

function parseMedia({ mimeType, data }: JsonObject, state: OpaqueState | undefined): AssistantPart | undefined {
  if (typeof mimeType !== 'string' || typeof data !== 'string') return undefined
  const media = toMediaPart(createBase64Source(mimeType, data))
  if (media.type === 'image') return state ? { ...media, state } : media
  return media.type === 'audio' ? media : undefined
}
