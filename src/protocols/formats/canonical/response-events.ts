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
  const { started, text } = splitPart(part)
  yield { type: 'part-start', key, candidate, part: started }
  const logprobs = part.type === 'text' ? part.logprobs : undefined
  if (text !== '') yield { type: 'part-delta', key, text, ...(logprobs && { logprobs }) }
  if (part.type === 'text') for (const citation of part.citations ?? []) yield { type: 'part-citation', key, citation }
  if ('state' in part && part.state && part !== started) yield { type: 'part-state', key, state: part.state }
  yield { type: 'part-end', key }
}

function splitPart(part: AssistantPart): { started: AssistantPart; text: string } {
  switch (part.type) {
    case 'text': {
      const { citations, logprobs, state, ...rest } = part
      return { started: { ...rest, text: '' }, text: part.text }
    }
    case 'reasoning': {
      const { state, ...rest } = part
      return { started: { ...rest, text: '' }, text: part.text }
    }
    case 'refusal':
      return { started: { ...part, text: '' }, text: part.text }
    case 'tool-call': {
      const { state, ...rest } = part
      return { started: { ...rest, arguments: '' }, text: part.arguments }
    }
    case 'server-tool':
    case 'compaction':
    case 'image':
    case 'audio':
      return { started: part, text: '' }
    default:
      return assertNever(part)
  }
}

/** Joins stream events into complete parts. */
interface PartCollector {
  take(event: PartEvent): void
  /** Returns each candidate's parts, in the order in which they started. */
  contents(): AssistantPart[][]
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

  function take(event: PartEvent): void {
    if (event.type === 'part-start') {
      parts.set(event.key, { candidate: event.candidate, part: event.part, texts: [], logprobs: [], citations: [] })
      return
    }
    const open = parts.get(event.key)
    if (!open) return
    if (event.type === 'part-delta') {
      open.texts.push(event.text)
      open.logprobs.push(event.logprobs ?? [])
    } else if (event.type === 'part-state') open.part = addState(open.part, event.state)
    else if (event.type === 'part-citation') open.citations.push(event.citation)
  }

  function contents(): AssistantPart[][] {
    const all: AssistantPart[][] = []
    for (const open of parts.values()) {
      while (all.length <= open.candidate) all.push([])
      all[open.candidate]?.push(joinPart(open))
    }
    return all
  }

  return { take, contents }
}

function joinPart({ part, texts, logprobs, citations }: CollectedPart): AssistantPart {
  const text = texts.join('')
  switch (part.type) {
    case 'text': {
      const tokens = [...(part.logprobs ?? []), ...logprobs.flat()]
      const cited = [...(part.citations ?? []), ...citations]
      return {
        ...part,
        text: part.text + text,
        ...(tokens.length > 0 && { logprobs: tokens }),
        ...(cited.length > 0 && { citations: cited }),
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
