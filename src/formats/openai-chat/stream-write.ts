import { quoted } from '../../lib/json.ts'
import { createTextBuffer, type TextBuffer } from '../../lib/text-buffer.ts'
import type { Citation } from '../canonical/citations.ts'
import { detachStream } from '../canonical/detach.ts'
import type { AssistantPart, ReasoningPart, TokenLogprob } from '../canonical/parts.ts'
import type { EndEvent, PartStartEvent, StreamEvent } from '../canonical/stream.ts'
import { writeError } from '../openai-error.ts'
import type { StreamWriter, WriteContext } from '../translator.ts'
import { wireAnnotation } from './annotations.ts'
import { hasResults, wireImage, writeFinish } from './answer-write.ts'
import { wireAudio } from './audio.ts'
import { KEEP_ALIVE } from './keep-alive.ts'
import { wireLogprobs } from './logprobs.ts'
import { createPlaces, wireDetail } from './reasoning-details.ts'
import { wireUsage } from './usage.ts'
import type { WireAnnotation, WireDelta, WireDetail } from './wire.ts'

/** What is known of a part that is being told. */
interface OpenPart {
  candidate: Candidate
  type: AssistantPart['type']
  /** Of a call: its place among the calls of the answer. */
  callIndex: number
  isFreeForm: boolean
  hasText: boolean
  /** Of a thought: what its detail will say at the end, and the text for it. */
  thought: ReasoningPart | undefined
  thoughtText: TextBuffer | undefined
  place: number
  citations: Citation[]
  /** Length of the content before it and with it. */
  from: number
  to: number
}

/** The longest thought whose detail is written, in characters. */
const MAX_DETAIL = 1024 * 1024

interface Candidate {
  index: number
  calls: number
  length: number
  annotations: WireAnnotation[]
  details: WireDetail[]
  placeOf: (part: AssistantPart) => number
}

/**
 * Writes chunks: a role first, then what is said; then what only makes sense as a whole, the finish, the tokens if the client asked, and
 * `[DONE]`. The id, the type and the name of a call are said once.
 */
export function createWriter(context: WriteContext, write: (event: string) => void): StreamWriter {
  const { request, model, now, losses } = context
  const isLegacy = request.client?.functions === true
  const head = `data: {"id":${JSON.stringify(`chatcmpl-${context.newId()}`)},"object":"chat.completion.chunk","created":${now},"model":${JSON.stringify(model)},`
  const tail = request.streamUsage ? ',"usage":null}\n\n' : '}\n\n'
  const candidates: Candidate[] = []
  const parts = new Map<number, OpenPart>()

  function chunk(index: number, delta: string, finish = 'null', logprobs?: TokenLogprob[]) {
    const tokens = logprobs ? JSON.stringify({ content: wireLogprobs(logprobs), refusal: null }) : 'null'
    write(
      `${head}"choices":[{"index":${index},"delta":${delta},"logprobs":${tokens},"finish_reason":${finish}}]${tail}`,
    )
  }

  const say = ({ index }: Candidate, delta: WireDelta) => chunk(index, JSON.stringify(delta))

  function candidateAt(index: number): Candidate {
    const known = candidates[index]
    if (known) return known
    const candidate = { index, calls: 0, length: 0, annotations: [], details: [], placeOf: createPlaces() }
    candidates[index] = candidate
    say(candidate, { role: 'assistant', content: '' })
    return candidate
  }

  function open({ key, candidate: index, part }: PartStartEvent) {
    const candidate = candidateAt(index)
    const { length } = candidate
    const isCall = part.type === 'tool-call'
    if (isCall && isLegacy && candidate.calls > 0) return losses.dropped('tool_calls') // clients would join the arguments of all
    parts.set(key, {
      ...{ candidate, type: part.type, callIndex: isCall ? candidate.calls : 0, hasText: false },
      isFreeForm: isCall && part.isFreeForm === true,
      thought: part.type === 'reasoning' ? { ...part } : undefined,
      thoughtText: part.type === 'reasoning' ? createTextBuffer(MAX_DETAIL) : undefined,
      ...{ place: candidate.placeOf(part), citations: [], from: length, to: length },
    })
    if (isCall) {
      const { id, name } = part
      const call = part.isFreeForm
        ? { index: candidate.calls++, id, type: 'custom' as const, custom: { name, input: '' } }
        : { index: candidate.calls++, id, type: 'function' as const, function: { name, arguments: '' } }
      say(candidate, isLegacy ? { function_call: { name, arguments: '' } } : { tool_calls: [call] })
    } else if (part.type === 'image') say(candidate, { images: wireImage(part, losses) })
    else if (part.type === 'audio') {
      const audio = wireAudio(part, losses)
      if (audio) say(candidate, { audio })
    } else if (hasResults(part)) losses.dropped('web_search_results')
  }

  function add(part: OpenPart, text: string, logprobs: TokenLogprob[] | undefined) {
    const { candidate, type } = part
    const json = quoted(text)
    part.hasText = true
    if (type === 'text') {
      candidate.length += text.length
      part.to = candidate.length
      return chunk(candidate.index, `{"content":${json}}`, 'null', logprobs)
    }
    if (type === 'refusal') return chunk(candidate.index, `{"refusal":${json}}`)
    if (type === 'tool-call') return chunk(candidate.index, argumentsDelta(part, json))
    part.thoughtText?.add(text)
    return chunk(candidate.index, `{"reasoning_content":${json}}`)
  }

  function argumentsDelta({ callIndex, isFreeForm }: OpenPart, json: string): string {
    if (isLegacy) return `{"function_call":{"arguments":${json}}}`
    const said = isFreeForm ? `"custom":{"input":${json}}` : `"function":{"arguments":${json}}`
    return `{"tool_calls":[{"index":${callIndex},${said}}]}`
  }

  function close(key: number, part: OpenPart) {
    parts.delete(key)
    const { candidate, thought, citations, from, to } = part
    if (part.type === 'tool-call' && !part.hasText && !part.isFreeForm) add(part, '{}', undefined)
    const span = { offset: from, length: to - from }
    for (const citation of citations) candidate.annotations.push(...wireAnnotation(citation, span, losses))
    const detail = thought && detailOf(thought, part)
    if (detail) candidate.details.push(detail)
  }

  /** None where there is more text than is kept: a detail without all of it cannot be used again. */
  function detailOf(thought: ReasoningPart, { thoughtText, place }: OpenPart): WireDetail | undefined {
    const text = thoughtText?.text
    if (text === undefined) losses.dropped('reasoning_details')
    return text === undefined ? undefined : wireDetail({ ...thought, text: thought.text + text }, place)
  }

  function end({ finishes, usage }: EndEvent) {
    finishes.forEach((finish, index) => {
      const candidate = candidateAt(index)
      const { details, annotations } = candidate
      // Whole and once: clients that know no better keep the last of what they are given under a name.
      if (details.length > 0) say(candidate, { reasoning_details: details })
      if (annotations.length > 0) say(candidate, { annotations })
      chunk(index, '{}', JSON.stringify(writeFinish(finish, context)))
    })
    if (request.streamUsage && usage) write(`${head}"choices":[],"usage":${JSON.stringify(wireUsage(usage))}}\n\n`)
    context.beforeEnd?.()
    write('data: [DONE]\n\n')
  }

  function push(event: StreamEvent) {
    switch (event.type) {
      case 'start':
        return void candidateAt(0)
      case 'part-start':
        return open(event)
      case 'end':
        return end(event)
      case 'error':
        context.beforeEnd?.()
        return write(`data: ${JSON.stringify(writeError(event.error).body)}\n\n`)
    }
    const part = parts.get(event.key)
    if (!part) return
    if (event.type === 'part-delta') add(part, event.text, event.logprobs)
    else if (event.type === 'part-citation') part.citations.push(event.citation)
    else if (event.type === 'part-end') close(event.key, part)
    else if (part.thought) part.thought.state = event.state
  }

  return { push: detachStream(push), keepAlive: () => KEEP_ALIVE }
}
