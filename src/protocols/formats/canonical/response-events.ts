import { assertNever } from '../../../lib/assert-never.ts'
import type { AssistantPart, Citation, TokenLogprob } from './canonical-parts.ts'
import type { CanonicalResponse } from './canonical-response.ts'
import type { OpaqueState } from './canonical-state.ts'
import type { PartEvent, StreamEvent } from './canonical-stream.ts'

/** Converts a complete response to stream events. */
export function toStreamEvents({ id, model, choices, usage }: CanonicalResponse): StreamEvent[] {
  const events: StreamEvent[] = [{ type: 'start', ...(id && { id }), ...(model && { model }) }]
  let key = 0
  choices.forEach(({ content }, candidate) => {
    for (const part of content) events.push(...toPartEvents(part, { key: key++, candidate }))
  })
  const finishes = choices.map(({ finish }) => finish)
  events.push(usage ? { type: 'end', finishes, usage } : { type: 'end', finishes })
  return events
}

function* toPartEvents(
  part: AssistantPart,
  { key, candidate }: { key: number; candidate: number },
): Iterable<StreamEvent> {
  const { startedPart, text } = splitPart(part)
  yield { type: 'part-start', key, candidate, part: startedPart }
  const logprobs = part.type === 'text' ? part.logprobs : undefined
  if (text !== '') yield { type: 'part-delta', key, text, ...(logprobs && { logprobs }) }
  if (part.type === 'text') for (const citation of part.citations ?? []) yield { type: 'part-citation', key, citation }
  if ('state' in part && part.state && part !== startedPart) yield { type: 'part-state', key, state: part.state }
  yield { type: 'part-end', key }
}

function splitPart(part: AssistantPart): { startedPart: AssistantPart; text: string } {
  switch (part.type) {
    case 'text': {
      const { citations, logprobs, state, ...rest } = part
      return { startedPart: { ...rest, text: '' }, text: part.text }
    }
    case 'reasoning': {
      const { state, ...rest } = part
      return { startedPart: { ...rest, text: '' }, text: part.text }
    }
    case 'refusal':
      return { startedPart: { ...part, text: '' }, text: part.text }
    case 'tool-call': {
      const { state, ...rest } = part
      return { startedPart: { ...rest, arguments: '' }, text: part.arguments }
    }
    case 'server-tool':
    case 'compaction':
    case 'image':
    case 'audio':
      return { startedPart: part, text: '' }
    default:
      return assertNever(part)
  }
}

/** Joins stream events into complete parts. */
interface PartCollector {
  push(event: PartEvent): void
  /** Returns each candidate's parts, in the order in which they started. */
  getContents(): AssistantPart[][]
}

interface CollectedPart {
  candidate: number
  part: AssistantPart
  /** Joined once at the end, because a call's arguments may arrive in many thousands of deltas. */
  texts: string[]
  logprobs: TokenLogprob[][]
  citations: Citation[]
}

export function createPartCollector(): PartCollector {
  const parts = new Map<number, CollectedPart>()

  function push(event: PartEvent): void {
    if (event.type === 'part-start') {
      parts.set(event.key, { candidate: event.candidate, part: event.part, texts: [], logprobs: [], citations: [] })
      return
    }
    const collectedPart = parts.get(event.key)
    if (!collectedPart) return
    if (event.type === 'part-delta') {
      collectedPart.texts.push(event.text)
      collectedPart.logprobs.push(event.logprobs ?? [])
    } else if (event.type === 'part-state') collectedPart.part = addState(collectedPart.part, event.state)
    else if (event.type === 'part-citation') collectedPart.citations.push(event.citation)
  }

  function getContents(): AssistantPart[][] {
    const contents: AssistantPart[][] = []
    for (const collectedPart of parts.values()) {
      while (contents.length <= collectedPart.candidate) contents.push([])
      contents[collectedPart.candidate]?.push(joinPart(collectedPart))
    }
    return contents
  }

  return { push, getContents }
}

function joinPart({ part, texts, logprobs, citations }: CollectedPart): AssistantPart {
  const text = texts.join('')
  switch (part.type) {
    case 'text': {
      const allLogprobs = [...(part.logprobs ?? []), ...logprobs.flat()]
      const allCitations = [...(part.citations ?? []), ...citations]
      return {
        ...part,
        text: part.text + text,
        ...(allLogprobs.length > 0 && { logprobs: allLogprobs }),
        ...(allCitations.length > 0 && { citations: allCitations }),
      }
    }
    case 'reasoning':
    case 'refusal':
      return { ...part, text: part.text + text }
    case 'tool-call':
      return { ...part, arguments: part.arguments + text }
    case 'server-tool':
    case 'compaction':
    case 'image':
    case 'audio':
      return part
    default:
      return assertNever(part)
  }
}

const addState = (part: AssistantPart, state: OpaqueState): AssistantPart =>
  part.type === 'text' || part.type === 'reasoning' || part.type === 'tool-call' || part.type === 'image'
    ? { ...part, state }
    : part
