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
  next: BufferedCall | undefined
}

interface CandidateState {
  index: number
  /** The first call that isn't written yet, and the last call that has started. */
  firstCall: BufferedCall | undefined
  lastCall: BufferedCall | undefined
  parts: number
  texts: CitedTextPart[]
  queries: string[]
  hasRefused: boolean
}

/** Writes chunks. Each is a response with additional parts: text as it arrives, or complete calls. Finish reasons, sources, and usage come last. */
export function createWriter(baseContext: WriterContext, write: (event: string) => void): StreamWriter {
  const context: WriterContext = { ...baseContext, request: omitTurns(baseContext.request) }
  const { request, model } = context
  const frame = request.client?.isArray === true ? createArrayFrame() : sseFrame
  const tail = `"modelVersion":${JSON.stringify(model)},"responseId":${JSON.stringify(context.newId())}}`
  const isHidden = hidesReasoning(request.options.reasoning)
  const candidates: CandidateState[] = []
  const open = new Map<number, BufferedPart | BufferedCall>()

  function writeChunk(index: number, part: string, logprobs = '') {
    const content = `{"role":"model","parts":[${part}]}`
    write(frame.chunk(`{"candidates":[{"content":${content},"index":${index}${logprobs}}],${tail}`))
  }

  const writePartChunk = ({ index }: CandidateState, part: WirePart) => writeChunk(index, JSON.stringify(part))

  function getCandidate(index: number): CandidateState {
    const candidate = candidates[index] ?? createCandidate(index)
    candidates[index] = candidate
    return candidate
  }

  function start({ key, candidate: index, part }: PartStartEvent) {
    const candidate = getCandidate(index)
    const state = 'state' in part ? part.state : undefined
    const buffer = createTextBuffer(part.type === 'text' ? MAX_CITED_CHARACTERS : undefined)
    const bufferedPart = { candidate, buffer, citations: [], state }
    if (part.type === 'tool-call') {
      const call = { ...bufferedPart, part, isComplete: false, next: undefined }
      if (candidate.lastCall) candidate.lastCall.next = call
      candidate.lastCall = call
      candidate.firstCall ??= call
      open.set(key, call)
      return
    }
    open.set(key, { ...bufferedPart, part })
    if (part.type === 'server-tool') candidate.queries.push(part.query)
    if (part.type === 'refusal') candidate.hasRefused = true
    if (part.type === 'image' || part.type === 'audio' || part.type === 'server-tool')
      for (const wirePart of writePart(part, context)) writePartChunk(candidate, wirePart)
  }

  function add({ candidate, part, buffer }: BufferedPart, text: string, logprobs: TokenLogprob[] | undefined) {
    if (part.type === 'reasoning') {
      if (!isHidden && text !== '') writeChunk(candidate.index, `{"text":"${escapeJson(text)}","thought":true}`)
      return
    }
    buffer.append(text)
    if (part.type === 'tool-call') return
    const tokens = logprobs && `,"logprobsResult":${JSON.stringify(writeLogprobs(logprobs))}`
    writeChunk(candidate.index, `{"text":"${escapeJson(text)}"}`, tokens)
  }

  function close(key: number, closed: BufferedPart | BufferedCall) {
    const { candidate, part, buffer, citations, state } = closed
    open.delete(key)
    if ('isComplete' in closed) writeCalls(closed)
    else if (state && (part.type === 'text' || part.type === 'reasoning')) {
      const signature = { text: '', thoughtSignature: writeSignature(state) }
      writePartChunk(candidate, part.type === 'text' ? signature : { ...signature, thought: true })
    }
    if (part.type === 'text' && citations.length > 0)
      candidate.texts.push({ text: buffer.text ?? '', citations, partIndex: candidate.parts })
    candidate.parts++
  }

  function writeCalls(closed: BufferedCall) {
    const { candidate } = closed
    closed.isComplete = true
    for (; candidate.firstCall?.isComplete; candidate.firstCall = candidate.firstCall.next) {
      const { part, buffer, state } = candidate.firstCall
      for (const call of writePart({ ...part, arguments: buffer.text ?? '', ...(state && { state }) }, context))
        writePartChunk(candidate, call)
    }
  }

  function end({ finishes, usage }: EndEvent) {
    const finalCandidates = finishes.map((finish, index): WireCandidate => {
      const { texts, queries, hasRefused } = getCandidate(index)
      const { finishReason, finishMessage } = writeFinish(finish, hasRefused, context)
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
    write(frame.chunk(`{"candidates":${JSON.stringify(finalCandidates)},${tokens}${tail}`) + frame.end())
  }

  function push(event: StreamEvent) {
    if (event.type === 'start') return
    if (event.type === 'part-start') return start(event)
    if (event.type === 'end') return end(event)
    if (event.type === 'error') return write(frame.chunk(JSON.stringify(writeError(event.error).body)) + frame.end())
    const part = open.get(event.key)
    if (!part) return
    if (event.type === 'part-delta') add(part, event.text, event.logprobs)
    else if (event.type === 'part-citation') part.citations.push(event.citation)
    else if (event.type === 'part-end') close(event.key, part)
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
  parts: 0,
  texts: [],
  queries: [],
  hasRefused: false,
})

interface Frame {
  contentType: string
  chunk(json: string): string
  end(): string
  keepAlive(): string
}

/** Frames chunks as server-sent events, for clients that request `alt=sse`. */
const sseFrame: Frame = {
  contentType: 'text/event-stream',
  chunk: (json) => `data: ${json}\n\n`,
  end: () => '',
  keepAlive: () => BLANK_KEEP_ALIVE,
}

/** Frames chunks as one growing JSON array, for clients that don't request `alt=sse`. */
function createArrayFrame(): Frame {
  let isOpen = false
  return {
    contentType: 'application/json',
    chunk(json) {
      const opener = isOpen ? ',\r\n' : '['
      isOpen = true
      return opener + json
    },
    end: () => (isOpen ? ']' : '[]'),
    keepAlive: () => '\n',
  }
}
