import { ResponseStream } from 'openai/lib/responses/ResponseStream'
import { Stream } from 'openai/streaming'
import { encodeUtf8 } from '../../../../src/lib/bytes.ts'
import { createSseParser } from '../../../../src/lib/sse.ts'
import type { AssistantPart } from '../../../../src/protocols/formats/canonical/canonical-parts.ts'
import { type Finish, resolveFinish } from '../../../../src/protocols/formats/canonical/canonical-response.ts'
import { createEventSequencer } from '../../../../src/protocols/formats/canonical/canonical-sequence.ts'
import type { StreamEvent } from '../../../../src/protocols/formats/canonical/canonical-stream.ts'
import { responsesTranslator } from '../../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { translateStream } from '../../../../src/protocols/formats/translate-stream.ts'
import { contexts } from '../../support/contexts.ts'

export const ours = { format: 'openai-responses' } as const

/** Splits bytes into chunks; `size` returns the length of the next chunk. */
export function pieces(bytes: Uint8Array, size: () => number): Uint8Array[] {
  const cut: Uint8Array[] = []
  for (let index = 0; index < bytes.length; ) {
    const end = index + Math.max(1, size())
    cut.push(bytes.subarray(index, end))
    index = end
  }
  return cut
}

/** Translates a stream to the canonical format and back. */
export function translate(sse: string, size = () => Number.POSITIVE_INFINITY): string[] {
  const { read, write } = contexts(responsesTranslator, ours)
  const events: string[] = []
  const translation = {
    from: responsesTranslator,
    to: responsesTranslator,
    readerContext: read,
    writerContext: write(),
  }
  const stream = translateStream(translation, (event) => events.push(event))
  for (const piece of pieces(encodeUtf8(sse), size)) stream.push(piece)
  stream.end()
  return events
}

/** Reads a stream with OpenAI's client. */
export function receivedBy(events: readonly string[]) {
  const stream = Stream.fromSSEResponse(new Response(events.join('')), new AbortController())
  return ResponseStream.fromReadableStream(stream.toReadableStream()).finalResponse()
}

/** Reads a stream, and returns its events and the joined parts. */
export function readStream(sse: string) {
  const { read, responseWarnings } = contexts(responsesTranslator, ours)
  const events: StreamEvent[] = []
  const sequence = createEventSequencer((event) => events.push(event))
  const reader = responsesTranslator.createReader(read, sequence.push)
  const parser = createSseParser(reader.observe)
  parser.push(sse)
  parser.end()
  reader.end()
  sequence.end()
  return { events, responseWarnings: responseWarnings.list(), ...answerOf(events) }
}

/** Merges the events into a response. */
export function answerOf(events: readonly StreamEvent[]) {
  const parts = new Map<number, AssistantPart>()
  const last = events.at(-1)
  for (const event of events) {
    if (event.type === 'part-start') parts.set(event.key, { ...event.part })
    const part = 'key' in event ? parts.get(event.key) : undefined
    if (!part) continue
    if (event.type === 'part-delta') {
      if (part.type === 'tool-call') part.arguments += event.text
      else if ('text' in part) part.text += event.text
      if (part.type === 'text' && event.logprobs) part.logprobs = [...(part.logprobs ?? []), ...event.logprobs]
    }
    if (event.type === 'part-state' && part.type === 'reasoning') part.state = event.state
    if (event.type === 'part-citation' && part.type === 'text')
      part.citations = [...(part.citations ?? []), event.citation]
  }
  const content = [...parts.values()]
  const hasCalls = content.some(({ type }) => type === 'tool-call')
  const finish: Finish | undefined = last?.type === 'end' ? resolveFinish(last.finishes[0], hasCalls) : undefined
  return {
    content,
    finish,
    usage: last?.type === 'end' ? last.usage : undefined,
    error: last?.type === 'error' ? last.error : undefined,
  }
}

/** Parses the payloads of written events. */
export const payloads = (events: readonly string[]): Record<string, unknown>[] =>
  events.map((event) => JSON.parse(event.slice(event.indexOf('\ndata: ') + '\ndata: '.length)))
