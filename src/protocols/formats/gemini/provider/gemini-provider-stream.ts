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
  const shared = { ...context, keys: { next: 0 }, ids: new Set<string>() }
  let isStarted = false

  function observe(chunk: JsonObject) {
    const usage = chunk.usageMetadata ? readGeminiUsage(chunk.usageMetadata) : undefined
    if (usage) emit({ type: 'usage', usage })
    if (chunk.error) return emit({ type: 'error', error: parseStreamError(chunk.error) })
    start(chunk)
    if (Array.isArray(chunk.candidates))
      for (const candidate of chunk.candidates) if (isObject(candidate)) getReader(candidate).observe(candidate)
    const { promptFeedback: feedback } = chunk
    const blocked = isObject(feedback)
      ? parseBlockedPrompt(feedback.blockReason, feedback.blockReasonMessage)
      : undefined
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

  function getReader({ index }: JsonObject): CandidateReader {
    const candidate = readCandidateIndex(index)
    const reader = candidates[candidate] ?? createCandidateReader({ ...shared, candidate }, emit)
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
  keys: { next: number }
  /** The IDs of earlier calls. New IDs must differ from them. */
  ids: Set<string>
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
  const { candidate: index, keys, ids, origin, newId, responseWarnings, hasHostedTools } = context
  const assembler = createCallAssembler(() => responseWarnings.recordDrop('functionCall'))
  let open: OpenText | undefined
  let closed: OpenText[] = [] // text parts that ended in a chunk that contains sources for them
  let code: JsonObject = {} // the code that Google is running
  let isCiting = false
  let isEmpty = true
  let isVague = false // whether the last chunk has an unspecified reason and no content
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
      if (hasHostedTools && isObject(part.executableCode)) {
        code = part.executableCode
        continue
      }
      if (hasHostedTools && isObject(part.codeExecutionResult)) {
        const call = { name: 'code_execution', input: code, result: part.codeExecutionResult }
        addComplete(createHostedToolPart(`call_${newId()}`, call))
        continue
      }
      const parsed = parsePart(part, context)
      if (!parsed) continue
      const isText = parsed.type === 'text' && parsed.text !== ''
      if (isText && logprobs) parsed.logprobs = logprobs
      if (isText) logprobs = undefined
      if (parsed.type === 'text' || parsed.type === 'reasoning') addText(parsed)
      else addComplete(parsed)
    }
    if (logprobs && !parts.some((part) => isObject(part) && part.thought === true))
      responseWarnings.recordDrop('logprobsResult') // the logprobs belong to reasoning, where they aren't supported
    if (isCiting) cite(candidate)
    const finish = parseFinish(candidate.finishReason, candidate.finishMessage)
    isVague = isUnspecifiedReason(candidate.finishReason) && !parts.some(hasContent)
    if (!finish) return
    isFinished = true
    end()
    if (finish.reason === 'malformed-call' && isEmpty)
      return emit({ type: 'error', error: toMalformedError(finish.explanation) })
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

  function addComplete(part: AssistantPart) {
    close()
    emit({ type: 'part-end', key: start(part) })
  }

  function addCalls(calls: readonly CompleteCall[]) {
    for (const { id: callId, name, arguments: args, signature } of calls) {
      close()
      const id = callId !== undefined && !ids.has(callId) ? callId : `call_${newId()}`
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

  /** Emits citations. Sources come last and may refer to text parts that have already ended, so such text parts stay open until then. */
  function cite(candidate: JsonObject) {
    const parts = open?.type === 'text' ? [...closed, open] : closed
    const texts = parts.map((part): CitedText => ({ ...part, text: part.texts.join('') }))
    const found = parseGrounding(candidate, texts)
    if (found.length === 0 && hasSources(candidate)) responseWarnings.recordDrop('groundingMetadata')
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
  const other = Object.keys(part).find((name) => !KNOWN_FIELDS.has(name))
  if (other !== undefined) responseWarnings.recordDrop(other)
  return content || (state && !other) ? omitUndefined<TextPart>({ type: 'text', text: content, state }) : undefined
}

const KNOWN_FIELDS: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature', 'partMetadata'])

function parseMedia({ mimeType, data }: JsonObject, state: OpaqueState | undefined): AssistantPart | undefined {
  if (typeof mimeType !== 'string' || typeof data !== 'string') return undefined
  const media = toMediaPart(createBase64Source(mimeType, data))
  if (media.type === 'image') return state ? { ...media, state } : media
  return media.type === 'audio' ? media : undefined
}
