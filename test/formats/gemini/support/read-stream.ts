import { createEventSequencer } from '../../../../src/protocols/formats/canonical/canonical-sequence.ts'
import type { StreamEvent } from '../../../../src/protocols/formats/canonical/canonical-stream.ts'
import { geminiTranslator } from '../../../../src/protocols/formats/gemini/gemini-translator.ts'
import { contexts } from '../../support/contexts.ts'

/** Reads a stream of chunks, and joins its parts. */
export function read(chunks: readonly unknown[]) {
  const { read: context, responseWarnings } = contexts(geminiTranslator)
  const events: StreamEvent[] = []
  const sequence = createEventSequencer((event) => events.push(event))
  const reader = geminiTranslator.createReader(context, sequence.push)
  for (const chunk of chunks)
    reader.observe({ event: undefined, data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) })
  reader.end()
  sequence.end()
  return { events, responseWarnings: responseWarnings.list(), ...summary(events) }
}

function summary(events: readonly StreamEvent[]) {
  const parts = new Map<number, { head: string; output: string; tail: string }>()
  for (const event of events) {
    if (event.type === 'part-start') parts.set(event.key, { head: getHead(event), output: '', tail: '' })
    const part = 'key' in event ? parts.get(event.key) : undefined
    if (!part) continue
    if (event.type === 'part-delta') part.output += event.text
    if (event.type === 'part-state') part.tail += ` <${event.state.data}>`
    if (event.type === 'part-citation') part.tail += ` ${JSON.stringify(event.citation)}`
  }
  const last = events.at(-1)
  return {
    parts: [...parts.values()].map(({ head, output, tail }) => `${head}: ${output}${tail}`),
    finish: last?.type === 'end' ? last.finishes.map(({ reason }) => reason).join() : `${last?.type}`,
    last,
  }
}

function getHead({ part, candidate }: StreamEvent & { type: 'part-start' }) {
  const location = candidate > 0 ? `[${candidate}] ` : ''
  const state = 'state' in part && part.state ? `<${part.state.data}>` : ''
  return location + (part.type === 'tool-call' ? `${part.name}#${part.id}${state}` : part.type + state)
}

/** Creates a chunk for the first candidate. `extra` contains other fields of the candidate. */
export const chunk = (parts: object[], extra: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...extra }],
  modelVersion: 'gemini-x',
  responseId: 'r1',
})
/** Creates a chunk with a single text part. */
export const text = (text: string, extra: object = {}) => chunk([{ text }], extra)
/** The chunk that ends a response. */
export const stop = text('', { finishReason: 'STOP' })
/** Creates a chunk with a single function call. `extra` contains other fields of its part. */
export const call = (functionCall: object, extra: object = {}) => chunk([{ functionCall, ...extra }])
