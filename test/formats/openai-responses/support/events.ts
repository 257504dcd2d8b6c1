import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import type { FinishReason } from '../../../../src/protocols/formats/canonical/canonical-response.ts'
import type { StreamEvent } from '../../../../src/protocols/formats/canonical/canonical-stream.ts'
import { responsesTranslator } from '../../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { contexts } from '../../support/contexts.ts'
import { ours } from './streams.ts'

export const usage = { inputTokens: 3, outputTokens: 4 }

interface Telling {
  reason?: FinishReason
  cut?: () => number
  isMixed?: boolean
}

/** Creates a response's events. `cut` returns the length of the next delta; `isMixed` interleaves the parts. */
export function getEvents(
  content: readonly AssistantPart[],
  { reason = 'stop', cut = () => 3, isMixed = false }: Telling = {},
): StreamEvent[] {
  const lanes = content.map((part, key) => eventsOfPart(part, key, cut))
  const recorded = isMixed ? interleaved(lanes) : lanes.flat()
  return [{ type: 'start' }, ...recorded, { type: 'end', finishes: [{ reason }], usage }]
}

function eventsOfPart(part: AssistantPart, key: number, cut: () => number): StreamEvent[] {
  const text = part.type === 'tool-call' ? part.arguments : 'text' in part ? part.text : ''
  const events: StreamEvent[] = [{ type: 'part-start', key, candidate: 0, part: started(part) }]
  for (let index = 0; index < text.length; ) {
    const end = index + Math.max(1, cut())
    events.push({ type: 'part-delta', key, text: text.slice(index, end) })
    index = end
  }
  if (part.type === 'text')
    for (const citation of part.citations ?? []) events.push({ type: 'part-citation', key, citation })
  if (part.type === 'reasoning' && part.state) events.push({ type: 'part-state', key, state: part.state })
  return [...events, { type: 'part-end', key }]
}

function started(part: AssistantPart): AssistantPart {
  if (part.type === 'tool-call') return { ...part, arguments: '' }
  if (part.type === 'reasoning') {
    const { state: _, ...rest } = part
    return { ...rest, text: '' }
  }
  if (part.type !== 'text') return part.type === 'refusal' ? { ...part, text: '' } : part
  const { citations: _, ...rest } = part
  return { ...rest, text: '' }
}

/** Interleaves the events of all parts. Each part's events stay in order. */
function interleaved(lanes: readonly StreamEvent[][]): StreamEvent[] {
  const starts = lanes.flatMap(([start]) => (start ? [start] : []))
  const longest = Math.max(0, ...lanes.map(({ length }) => length))
  const rest = Array.from({ length: longest }, (_, index) => lanes.flatMap((lane) => lane.slice(index + 1, index + 2)))
  return [...starts, ...rest.flat()]
}

/** Serializes the events as a client receives them. */
export function written(events: readonly StreamEvent[], request: Partial<CanonicalRequest> = {}): string[] {
  const { write } = contexts(responsesTranslator, ours)
  const out: string[] = []
  const writer = responsesTranslator.createWriter(write(request), (event) => out.push(event))
  for (const event of events) writer.push(event)
  return out
}
