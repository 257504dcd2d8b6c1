import { assertNever } from '../../../../lib/assert-never.ts'
import { escapeJson } from '../../../../lib/json.ts'
import { createTextBuffer, type TextBuffer } from '../../../../lib/text-buffer.ts'
import type { AssistantPart, Citation, ReasoningPart, TokenLogprob } from '../../canonical/canonical-parts.ts'
import { omitTurns } from '../../canonical/canonical-request.ts'
import type { EndEvent, PartStartEvent, StreamEvent } from '../../canonical/canonical-stream.ts'
import { moveStreamStateToReasoning } from '../../canonical/state-in-reasoning.ts'
import { COMMENT_KEEP_ALIVE } from '../../keep-alive-texts.ts'
import { writeError } from '../../openai-errors.ts'
import type { StreamWriter, WriterContext } from '../../translator.ts'
import { writeUsage } from '../chat-fields.ts'
import type { WireAnnotation, WireDelta, WireDetail } from '../chat-wire.ts'
import { createPartIndexer, writeDetail } from './chat-client-reasoning-details.ts'
import {
  hasSearchResults,
  writeAnnotation,
  writeAudio,
  writeFinish,
  writeImage,
  writeLogprobs,
} from './chat-client-response.ts'

interface OpenPart {
  candidate: Candidate
  type: AssistantPart['type']
  /** The index among the candidate's calls. */
  callIndex: number
  isFreeForm: boolean
  hasText: boolean
  /** For reasoning: the part without its text, and the text. Its detail is written at the end. */
  reasoning: ReasoningPart | undefined
  reasoningText: TextBuffer | undefined
  /** The index among the turn's parts. */
  index: number
  citations: Citation[]
  /** The length of the candidate's text before this part (`startOffset`) and including it (`endOffset`). */
  startOffset: number
  endOffset: number
}

/** The maximum length of reasoning for which a detail is written, in characters. */
const MAX_DETAIL_LENGTH = 1024 * 1024

interface Candidate {
  index: number
  callCount: number
  /** The length of the text so far. */
  textLength: number
  annotations: WireAnnotation[]
  details: WireDetail[]
  indexPart: (part: AssistantPart) => number
}

/**
 * Writes chunks: the role, the content, the details and annotations, the finish reason, the usage if the client requested it, and `[DONE]`. A call's
 * ID, type, and name are sent once.
 */
export function createWriter(fullContext: WriterContext, write: (event: string) => void): StreamWriter {
  const context: WriterContext = { ...fullContext, request: omitTurns(fullContext.request) }
  const { request, model, nowSeconds, responseWarnings } = context
  const isLegacy = request.client?.functions === true
  const chunkHead = `data: {"id":${JSON.stringify(`chatcmpl-${context.newId()}`)},"object":"chat.completion.chunk","created":${nowSeconds},"model":${JSON.stringify(model)},`
  const chunkTail = request.streamUsage ? ',"usage":null}\n\n' : '}\n\n'
  const candidates: Candidate[] = []
  const parts = new Map<number, OpenPart>()

  function writeChunk(index: number, delta: string, finish = 'null', logprobs?: TokenLogprob[]) {
    const tokens = logprobs ? JSON.stringify({ content: writeLogprobs(logprobs), refusal: null }) : 'null'
    write(
      `${chunkHead}"choices":[{"index":${index},"delta":${delta},"logprobs":${tokens},"finish_reason":${finish}}]${chunkTail}`,
    )
  }

  const sendDelta = ({ index }: Candidate, delta: WireDelta) => writeChunk(index, JSON.stringify(delta))

  function getCandidate(index: number): Candidate {
    const existing = candidates[index]
    if (existing) return existing
    const candidate = {
      index,
      callCount: 0,
      textLength: 0,
      annotations: [],
      details: [],
      indexPart: createPartIndexer(),
    }
    candidates[index] = candidate
    sendDelta(candidate, { role: 'assistant', content: '' })
    return candidate
  }

  function openPart({ key, candidate: index, part }: PartStartEvent) {
    const candidate = getCandidate(index)
    const { textLength } = candidate
    const isCall = part.type === 'tool-call'
    if (isCall && isLegacy && candidate.callCount > 0) return responseWarnings.recordDrop('tool_calls') // legacy clients would join their arguments
    parts.set(key, {
      ...{ candidate, type: part.type, callIndex: isCall ? candidate.callCount : 0, hasText: false },
      isFreeForm: isCall && part.isFreeForm === true,
      reasoning: part.type === 'reasoning' ? { ...part } : undefined,
      reasoningText: part.type === 'reasoning' ? createTextBuffer(MAX_DETAIL_LENGTH) : undefined,
      ...{ index: candidate.indexPart(part), citations: [], startOffset: textLength, endOffset: textLength },
    })
    if (isCall) {
      const { id, name } = part
      const call = part.isFreeForm
        ? { index: candidate.callCount++, id, type: 'custom' as const, custom: { name, input: '' } }
        : { index: candidate.callCount++, id, type: 'function' as const, function: { name, arguments: '' } }
      sendDelta(candidate, isLegacy ? { function_call: { name, arguments: '' } } : { tool_calls: [call] })
    } else if (part.type === 'image') sendDelta(candidate, { images: writeImage(part, responseWarnings) })
    else if (part.type === 'audio') {
      const audio = writeAudio(part, responseWarnings)
      if (audio) sendDelta(candidate, { audio })
    } else if (hasSearchResults(part)) responseWarnings.recordDrop('web_search_results')
  }

  function addDelta(part: OpenPart, text: string, logprobs: TokenLogprob[] | undefined) {
    const { candidate, type } = part
    const escapedText = escapeJson(text)
    part.hasText = true
    if (type === 'text') {
      candidate.textLength += text.length
      part.endOffset = candidate.textLength
      return writeChunk(candidate.index, `{"content":"${escapedText}"}`, 'null', logprobs)
    }
    if (type === 'refusal') return writeChunk(candidate.index, `{"refusal":"${escapedText}"}`)
    if (type === 'tool-call') return writeChunk(candidate.index, writeArgumentsDelta(part, escapedText))
    part.reasoningText?.append(text)
    return writeChunk(candidate.index, `{"reasoning_content":"${escapedText}"}`)
  }

  function writeArgumentsDelta({ callIndex, isFreeForm }: OpenPart, escapedText: string): string {
    if (isLegacy) return `{"function_call":{"arguments":"${escapedText}"}}`
    const callDelta = isFreeForm ? `"custom":{"input":"${escapedText}"}` : `"function":{"arguments":"${escapedText}"}`
    return `{"tool_calls":[{"index":${callIndex},${callDelta}}]}`
  }

  function closePart(key: number, part: OpenPart) {
    parts.delete(key)
    const { candidate, reasoning, citations, startOffset, endOffset } = part
    if (part.type === 'tool-call' && !part.hasText && !part.isFreeForm) addDelta(part, '{}', undefined)
    const textRange = { offset: startOffset, length: endOffset - startOffset }
    for (const citation of citations)
      candidate.annotations.push(...writeAnnotation(citation, textRange, responseWarnings))
    const detail = reasoning && createDetail(reasoning, part)
    if (detail) candidate.details.push(detail)
  }

  /** Creates reasoning's detail. Returns `undefined` if the text exceeds the limit, because a detail is useless without its entire text. */
  function createDetail(reasoning: ReasoningPart, { reasoningText, index }: OpenPart): WireDetail | undefined {
    const text = reasoningText?.text
    if (text === undefined) responseWarnings.recordDrop('reasoning_details')
    return text === undefined ? undefined : writeDetail({ ...reasoning, text: reasoning.text + text }, index)
  }

  function endStream({ finishes, usage }: EndEvent) {
    finishes.forEach((finish, index) => {
      const candidate = getCandidate(index)
      const { details, annotations } = candidate
      // Some clients keep only the last value of a field, so each of these is sent once, in full.
      if (details.length > 0) sendDelta(candidate, { reasoning_details: details })
      if (annotations.length > 0) sendDelta(candidate, { annotations })
      writeChunk(index, '{}', JSON.stringify(writeFinish(finish, context)))
    })
    if (request.streamUsage && usage)
      write(`${chunkHead}"choices":[],"usage":${JSON.stringify(writeUsage(usage))}}\n\n`)
    context.beforeEnd?.()
    write('data: [DONE]\n\n')
  }

  function push(event: StreamEvent) {
    const part = 'key' in event ? parts.get(event.key) : undefined
    switch (event.type) {
      case 'start':
        return void getCandidate(0)
      case 'part-start':
        return openPart(event)
      case 'part-delta':
        if (part) addDelta(part, event.text, event.logprobs)
        return
      case 'part-citation':
        part?.citations.push(event.citation)
        return
      case 'part-state':
        if (part?.reasoning) part.reasoning.state = event.state
        return
      case 'part-end':
        if (part) closePart(event.key, part)
        return
      case 'end':
        return endStream(event)
      case 'error':
        context.beforeEnd?.()
        return write(`data: ${JSON.stringify(writeError(event.error).body)}\n\n`)
      default:
        return assertNever(event)
    }
  }

  return { push: moveStreamStateToReasoning(push), keepAlive: () => COMMENT_KEEP_ALIVE }
}
