import type { Answer } from './answer.ts'
import type { AssistantPart } from './parts.ts'
import type { StreamEvent } from './stream.ts'

/** A whole answer as stream events. */
export function answerEvents({ id, model, choices, usage }: Answer): StreamEvent[] {
  const events: StreamEvent[] = [{ type: 'start', ...(id && { id }), ...(model && { model }) }]
  let key = 0
  choices.forEach(({ content }, candidate) => {
    for (const part of content) events.push(...partEvents(part, { key: key++, candidate }))
  })
  const finishes = choices.map(({ finish }) => finish)
  events.push(usage ? { type: 'end', finishes, usage } : { type: 'end', finishes })
  return events
}

function* partEvents(
  part: AssistantPart,
  { key, candidate }: { key: number; candidate: number },
): Iterable<StreamEvent> {
  const { started, text } = opened(part)
  yield { type: 'part-start', key, candidate, part: started }
  const logprobs = part.type === 'text' ? part.logprobs : undefined
  if (text !== '') yield { type: 'part-delta', key, text, ...(logprobs && { logprobs }) }
  if (part.type === 'text') for (const citation of part.citations ?? []) yield { type: 'part-citation', key, citation }
  if ('state' in part && part.state && part !== started) yield { type: 'part-state', key, state: part.state }
  yield { type: 'part-end', key }
}

/** The start of a part, and the text that follows as deltas. */
function opened(part: AssistantPart): { started: AssistantPart; text: string } {
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
    default:
      return { started: part, text: '' }
  }
}
