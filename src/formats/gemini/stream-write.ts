import { createTextBuffer, type TextBuffer } from '../../lib/text-buffer.ts'
import type { Citation } from '../canonical/citations.ts'
import type { AssistantPart, TokenLogprob, ToolCallPart } from '../canonical/parts.ts'
import type { OpaqueState } from '../canonical/state.ts'
import type { EndEvent, PartStartEvent, StreamEvent } from '../canonical/stream.ts'
import type { StreamWriter, WriteContext } from '../translator.ts'
import { hidesThoughts, writeFinish, writePart } from './answer-write.ts'
import { writeError } from './error-write.ts'
import { type CitingText, writeGrounding } from './grounding-write.ts'
import { wireLogprobs } from './logprobs.ts'
import { wireSignature } from './signature.ts'
import { createArrayFrame, sseFrame } from './stream-frame.ts'
import { wireUsage } from './usage.ts'
import type { WireCandidate, WirePart } from './wire.ts'

/** What is known of a part that is being told. */
interface OpenPart {
  candidate: Candidate
  part: AssistantPart
  /** Of a call, which is told when it is whole; of a text, for its citations. */
  said: TextBuffer
  citations: Citation[]
  state: OpaqueState | undefined
}

/** A call, which is told once it is whole and all before it are. */
interface OpenCall extends OpenPart {
  part: ToolCallPart
  isWhole: boolean
  /** The one that began after it. */
  next: OpenCall | undefined
}

interface Candidate {
  index: number
  /** The first call that is not told yet, and the last that has begun. */
  firstCall: OpenCall | undefined
  lastCall: OpenCall | undefined
  parts: number
  texts: CitingText[]
  queries: string[]
  hasRefused: boolean
}

/**
 * Writes chunks that are each an answer with some more parts: text as it comes, calls whole, and at the end the reasons, the sources and the
 * tokens. There is no end mark.
 */
export function createWriter(context: WriteContext, write: (event: string) => void): StreamWriter {
  const { request, model } = context
  const frame = request.client?.isArray === true ? createArrayFrame() : sseFrame
  const tail = `"modelVersion":${JSON.stringify(model)},"responseId":${JSON.stringify(context.newId())}}`
  const isHidden = hidesThoughts(request.options.reasoning)
  const candidates: Candidate[] = []
  const open = new Map<number, OpenPart | OpenCall>()

  function say({ index }: Candidate, part: WirePart, logprobs?: TokenLogprob[]) {
    const tokens = logprobs ? `,"logprobsResult":${JSON.stringify(wireLogprobs(logprobs))}` : ''
    const content = `{"role":"model","parts":[${JSON.stringify(part)}]}`
    write(frame.chunk(`{"candidates":[{"content":${content},"index":${index}${tokens}}],${tail}`))
  }

  function candidateAt(index: number): Candidate {
    const known = candidates[index] ?? newCandidate(index)
    candidates[index] = known
    return known
  }

  function start({ key, candidate: index, part }: PartStartEvent) {
    const candidate = candidateAt(index)
    const state = 'state' in part ? part.state : undefined
    const said = createTextBuffer(part.type === 'text' ? CITABLE : undefined)
    const begun = { candidate, said, citations: [], state }
    if (part.type === 'tool-call') {
      const call = { ...begun, part, isWhole: false, next: undefined }
      if (candidate.lastCall) candidate.lastCall.next = call
      candidate.lastCall = call
      candidate.firstCall ??= call
      open.set(key, call)
      return
    }
    open.set(key, { ...begun, part })
    if (part.type === 'server-tool') candidate.queries.push(part.query)
    if (part.type === 'refusal') candidate.hasRefused = true
    if (part.type === 'image' || part.type === 'audio' || part.type === 'server-tool')
      for (const whole of writePart(part, context)) say(candidate, whole)
  }

  function add({ candidate, part, said }: OpenPart, text: string, logprobs: TokenLogprob[] | undefined) {
    if (part.type === 'reasoning') {
      if (!isHidden && text !== '') say(candidate, { text, thought: true })
      return
    }
    said.add(text)
    if (part.type !== 'tool-call') say(candidate, { text }, logprobs)
  }

  function close(key: number, closed: OpenPart | OpenCall) {
    const { candidate, part, said, citations, state } = closed
    open.delete(key)
    if ('isWhole' in closed) tellCalls(closed)
    else if (state && (part.type === 'text' || part.type === 'reasoning')) {
      const signature = { text: '', thoughtSignature: wireSignature(state) }
      say(candidate, part.type === 'text' ? signature : { ...signature, thought: true })
    }
    if (part.type === 'text' && citations.length > 0)
      candidate.texts.push({ text: said.text ?? '', citations, partIndex: candidate.parts })
    candidate.parts++
  }

  function tellCalls(closed: OpenCall) {
    const { candidate } = closed
    closed.isWhole = true
    for (; candidate.firstCall?.isWhole; candidate.firstCall = candidate.firstCall.next) {
      const { part, said, state } = candidate.firstCall
      for (const call of writePart({ ...part, arguments: said.text ?? '', ...(state && { state }) }, context))
        say(candidate, call)
    }
  }

  function end({ finishes, usage }: EndEvent) {
    const ended = finishes.map((finish, index): WireCandidate => {
      const { texts, queries, hasRefused } = candidateAt(index)
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
    const tokens = usage ? `"usageMetadata":${JSON.stringify(wireUsage(usage))},` : ''
    write(frame.chunk(`{"candidates":${JSON.stringify(ended)},${tokens}${tail}`) + frame.end())
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

/** A text of more characters is not kept for its citations: their sources are named without a place. */
const CITABLE = 64 * 1024

const newCandidate = (index: number): Candidate => ({
  index,
  firstCall: undefined,
  lastCall: undefined,
  parts: 0,
  texts: [],
  queries: [],
  hasRefused: false,
})
