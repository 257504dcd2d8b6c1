import { escapeJson } from '../../../../lib/json.ts'
import { createTextBuffer, type TextBuffer } from '../../../../lib/text-buffer.ts'
import type { AssistantPart, Citation, TokenLogprob, ToolCallPart } from '../../canonical/canonical-parts.ts'
import { omitTurns } from '../../canonical/canonical-request.ts'
import type { OpaqueState } from '../../canonical/canonical-state.ts'
import type { EndEvent, PartStartEvent, StreamEvent } from '../../canonical/canonical-stream.ts'
import { BLANK_KEEP_ALIVE } from '../../keep-alive-texts.ts'
import type { StreamWriter, WriterContext } from '../../translator.ts'
import { type CitedTextPart, writeGrounding } from '../gemini-citations.ts'
import { writeError } from '../gemini-errors.ts'
import { writeLogprobs, writeUsage } from '../gemini-fields.ts'
import { writeSignature } from '../gemini-reasoning.ts'
import type { WireCandidate, WirePart } from '../gemini-wire.ts'
import { hidesReasoning, writeFinish, writePart } from './gemini-client-response.ts'

interface BufferedPart {
  candidate: CandidateState
  part: AssistantPart
  /** For a call, its arguments so far; the call is written once it is complete. For a text part, the text so far, which its citations need. */
  buffer: TextBuffer
  citations: Citation[]
  state: OpaqueState | undefined
}

/** A call that is written once it is complete and all earlier calls have been written. */
interface BufferedCall extends BufferedPart {
  part: ToolCallPart
  isComplete: boolean
  nextCall: BufferedCall | undefined
}

interface CandidateState {
  index: number
  /** The first call that isn't written yet, and the last call that has started. */
  firstCall: BufferedCall | undefined
  lastCall: BufferedCall | undefined
  partCount: number
  texts: CitedTextPart[]
  queries: string[]
  hasRefusal: boolean
}

/** Writes chunks. Each is a response with additional parts: text as it arrives, or complete calls. Finish reasons, sources, and usage come last. */
export function createWriter(baseContext: WriterContext, write: (event: string) => void): StreamWriter {
  const context: WriterContext = { ...baseContext, request: omitTurns(baseContext.request) }
  const { request, model } = context
  const frame = request.client?.isArray === true ? createArrayFrame() : sseFrame
  const chunkTail = `"modelVersion":${JSON.stringify(model)},"responseId":${JSON.stringify(context.newId())}}`
  const isReasoningHidden = hidesReasoning(request.options.reasoning)
  const candidates: CandidateState[] = []
  const openParts = new Map<number, BufferedPart | BufferedCall>()

  function writeChunk(index: number, part: string, logprobs = '') {
    const content = `{"role":"model","parts":[${part}]}`
    write(frame.writeChunk(`{"candidates":[{"content":${content},"index":${index}${logprobs}}],${chunkTail}`))
  }

  const writePartChunk = ({ index }: CandidateState, part: WirePart) => writeChunk(index, JSON.stringify(part))

  function getCandidate(index: number): CandidateState {
    const candidate = candidates[index] ?? createCandidate(index)
    candidates[index] = candidate
    return candidate
  }

  function startPart({ key, candidate: index, part }: PartStartEvent) {
    const candidate = getCandidate(index)
    const state = 'state' in part ? part.state : undefined
    const buffer = createTextBuffer(part.type === 'text' ? MAX_CITED_CHARACTERS : undefined)
    const bufferedPart = { candidate, buffer, citations: [], state }
    if (part.type === 'tool-call') {
      const call = { ...bufferedPart, part, isComplete: false, nextCall: undefined }
      if (candidate.lastCall) candidate.lastCall.nextCall = call
      candidate.lastCall = call
      candidate.firstCall ??= call
      openParts.set(key, call)
      return
    }
    openParts.set(key, { ...bufferedPart, part })
    if (part.type === 'server-tool') candidate.queries.push(part.query)
    if (part.type === 'refusal') candidate.hasRefusal = true
    if (part.type === 'image' || part.type === 'audio' || part.type === 'server-tool')
      for (const wirePart of writePart(part, context)) writePartChunk(candidate, wirePart)
  }

  function addDelta({ candidate, part, buffer }: BufferedPart, text: string, logprobs: TokenLogprob[] | undefined) {
    if (part.type === 'reasoning') {
      if (!isReasoningHidden && text !== '')
        writeChunk(candidate.index, `{"text":"${escapeJson(text)}","thought":true}`)
      return
    }
    buffer.append(text)
    if (part.type === 'tool-call') return
    const tokens = logprobs && `,"logprobsResult":${JSON.stringify(writeLogprobs(logprobs))}`
    writeChunk(candidate.index, `{"text":"${escapeJson(text)}"}`, tokens)
  }

  function closePart(key: number, closedPart: BufferedPart | BufferedCall) {
    const { candidate, part, buffer, citations, state } = closedPart
    openParts.delete(key)
    if ('isComplete' in closedPart) writeCompleteCalls(closedPart)
    else if (state && (part.type === 'text' || part.type === 'reasoning')) {
      const signature = { text: '', thoughtSignature: writeSignature(state) }
      writePartChunk(candidate, part.type === 'text' ? signature : { ...signature, thought: true })
    }
    if (part.type === 'text' && citations.length > 0)
      candidate.texts.push({ text: buffer.text ?? '', citations, partIndex: candidate.partCount })
    candidate.partCount++
  }

  function writeCompleteCalls(closedCall: BufferedCall) {
    const { candidate } = closedCall
    closedCall.isComplete = true
    for (; candidate.firstCall?.isComplete; candidate.firstCall = candidate.firstCall.nextCall) {
      const { part, buffer, state } = candidate.firstCall
      for (const call of writePart({ ...part, arguments: buffer.text ?? '', ...(state && { state }) }, context))
        writePartChunk(candidate, call)
    }
  }

  function endStream({ finishes, usage }: EndEvent) {
    const finalCandidates = finishes.map((finish, index): WireCandidate => {
      const { texts, queries, hasRefusal } = getCandidate(index)
      const { finishReason, finishMessage } = writeFinish(finish, hasRefusal, context)
      const groundingMetadata = writeGrounding(texts, queries)
      return {
        content: { role: 'model', parts: [{ text: '' }] },
        finishReason,
        ...(finishMessage !== undefined && { finishMessage }),
        index,
        ...(groundingMetadata && { groundingMetadata }),
      }
    })
    const tokens = usage ? `"usageMetadata":${JSON.stringify(writeUsage(usage))},` : ''
    write(frame.writeChunk(`{"candidates":${JSON.stringify(finalCandidates)},${tokens}${chunkTail}`) + frame.writeEnd())
  }

  function push(event: StreamEvent) {
    if (event.type === 'start') return
    if (event.type === 'part-start') return startPart(event)
    if (event.type === 'end') return endStream(event)
    if (event.type === 'error')
      return write(frame.writeChunk(JSON.stringify(writeError(event.error).body)) + frame.writeEnd())
    const part = openParts.get(event.key)
    if (!part) return
    if (event.type === 'part-delta') addDelta(part, event.text, event.logprobs)
    else if (event.type === 'part-citation') part.citations.push(event.citation)
    else if (event.type === 'part-end') closePart(event.key, part)
    else part.state = event.state
  }

  return { push, keepAlive: frame.keepAlive, contentType: frame.contentType }
}

/** The maximum length of text to keep for its citations. Sources for longer text parts have no position. */
const MAX_CITED_CHARACTERS = 64 * 1024

const createCandidate = (index: number): CandidateState => ({
  index,
  firstCall: undefined,
  lastCall: undefined,
  partCount: 0,
  texts: [],
  queries: [],
  hasRefusal: false,
})

interface StreamFrame {
  contentType: string
  writeChunk(json: string): string
  writeEnd(): string
  keepAlive(): string
}

/** Frames chunks as server-sent events, for clients that request `alt=sse`. */
const sseFrame: StreamFrame = {
  contentType: 'text/event-stream',
  writeChunk: (json) => `data: ${json}\n\n`,
  writeEnd: () => '',
  keepAlive: () => BLANK_KEEP_ALIVE,
}

/** Frames chunks as one growing JSON array, for clients that don't request `alt=sse`. */
function createArrayFrame(): StreamFrame {
  let isOpen = false
  return {
    contentType: 'application/json',
    writeChunk(json) {
      const separator = isOpen ? ',\r\n' : '['
      isOpen = true
      return separator + json
    },
    writeEnd: () => (isOpen ? ']' : '[]'),
    keepAlive: () => '\n',
  }
}
