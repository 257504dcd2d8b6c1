import { createEventSequencer } from '../../../../src/protocols/formats/canonical/canonical-sequence.ts'
import type { StreamEvent } from '../../../../src/protocols/formats/canonical/canonical-stream.ts'
import { chatTranslator } from '../../../../src/protocols/formats/openai-chat/chat-translator.ts'
import { contexts } from '../../support/contexts.ts'

/** Reads a stream of chunks, and joins the fragments of each call and text. */
export function read(chunks: readonly (object | '[DONE]')[]) {
  const { read: context, responseWarnings } = contexts(chatTranslator)
  const events: StreamEvent[] = []
  const sequence = createEventSequencer((event) => events.push(event))
  const reader = chatTranslator.createReader(context, sequence.push)
  for (const chunk of chunks)
    reader.observe({ event: undefined, data: chunk === '[DONE]' ? chunk : JSON.stringify(chunk) })
  reader.end()
  sequence.end()
  return { events, responseWarnings: responseWarnings.list(), ...summary(events) }
}

function summary(events: readonly StreamEvent[]) {
  const output = new Map<number, string>()
  const parts: [key: number, head: string][] = []
  for (const event of events) {
    if (event.type === 'part-start') parts.push([event.key, formatHead(event)])
    if (event.type === 'part-delta') output.set(event.key, (output.get(event.key) ?? '') + event.text)
  }
  const last = events.at(-1)
  return {
    parts: parts.map(([key, head]) => `${head}: ${output.get(key) ?? ''}`),
    finish: last?.type === 'end' ? last.finishes.map(({ reason }) => reason).join() : `${last?.type}`,
    usage: last?.type === 'end' ? last.usage : undefined,
  }
}

function formatHead({ part, candidate }: StreamEvent & { type: 'part-start' }) {
  const location = candidate > 0 ? `[${candidate}] ` : ''
  return location + (part.type === 'tool-call' ? `${part.name}#${part.id}` : part.type)
}

/** Creates a chunk for the first choice. */
export const delta = (fields: object, finish: string | null = null) => ({
  id: 'chatcmpl-1',
  model: 'm',
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
})
/** Creates a chunk with a fragment of one tool call. */
export const call = (fields: object) => delta({ tool_calls: [fields] })
/** Creates a tool call's function. */
export const fn = (name: string, args: unknown) => ({ function: { name, arguments: args } })
/** The chunk that ends a response. */
export const stop = delta({}, 'stop')
