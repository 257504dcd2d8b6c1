import type { Citation } from './citations.ts'
import type { AssistantPart, TokenLogprob } from './parts.ts'
import type { OpaqueState } from './state.ts'
import type { PartEvent } from './stream.ts'

/** The parts that the events of a stream make up. */
export interface GatheredParts {
  take(event: PartEvent): void
  /** What each candidate has said, in the order of its parts. */
  contents(): AssistantPart[][]
}

interface OpenPart {
  candidate: number
  part: AssistantPart
  /** These are joined once, at the end: an argument may come in many thousands of pieces. */
  texts: string[]
  logprobs: TokenLogprob[][]
  citations: Citation[]
}

export function createGatheredParts(): GatheredParts {
  const parts = new Map<number, OpenPart>()

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
    } else if (event.type === 'part-state') open.part = withState(open.part, event.state)
    else if (event.type === 'part-citation') open.citations.push(event.citation)
  }

  function contents(): AssistantPart[][] {
    const all: AssistantPart[][] = []
    for (const open of parts.values()) {
      while (all.length <= open.candidate) all.push([])
      all[open.candidate]?.push(wholePart(open))
    }
    return all
  }

  return { take, contents }
}

function wholePart({ part, texts, logprobs, citations }: OpenPart): AssistantPart {
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
    default:
      return part
  }
}

const withState = (part: AssistantPart, state: OpaqueState): AssistantPart =>
  part.type === 'text' || part.type === 'reasoning' || part.type === 'tool-call' || part.type === 'image'
    ? { ...part, state }
    : part
