import { gatewayError, isGatewayError } from '../errors.ts'
import { type SseEvent, type StreamFraming, sseFraming } from '../lib/sse.ts'
import type { Answer } from './canonical/answer.ts'
import { createGatheredParts } from './canonical/answer-events.ts'
import type { CanonicalError } from './canonical/errors.ts'
import { notTooDeep } from './canonical/exact-json.ts'
import { createSequence } from './canonical/sequence.ts'
import type { EndEvent, StartEvent, StreamEvent } from './canonical/stream.ts'
import { kindOfStatus, meaningOf } from './errors/kinds.ts'
import type { ClientTranslator, ReadContext, UpstreamTranslator, WriteContext } from './translator.ts'

/** The formats of a translated stream. */
export interface StreamTranslation {
  /** The provider's format. */
  from: UpstreamTranslator
  /** How the provider's stream is divided into events; default: server-sent events. */
  framing?: StreamFraming | undefined
  /** The client's format. */
  to: ClientTranslator
  read: ReadContext
  write: WriteContext
  /** Reverts in the answer what `prepareRequest` has changed in the request. */
  restore?(emit: (event: StreamEvent) => void): (event: StreamEvent) => void
}

/** Takes a provider's stream and sends the translated one to the client. */
interface StreamTranslator {
  /** Takes the next bytes, cut anywhere. Throws `UPSTREAM_INVALID` if an event is longer than 16 MiB. */
  push(chunk: Uint8Array): void
  /** The provider's stream has ended. If its end is missing, the client gets an error. */
  end(): void
  /** Ends the client's stream with this error. */
  fail(error: CanonicalError): void
  /** The text to send to the client while the provider is silent. */
  keepAlive(): string
}

/** Translates a provider's stream for a client of another format; calls `out` with one whole server-sent event at a time. */
export function translateStream(
  { from, framing = sseFraming, to, read, write, restore }: StreamTranslation,
  out: (event: string) => void,
): StreamTranslator {
  const writer = to.createWriter(write, out)
  const sequence = createSequence(restore ? restore(writer.push) : writer.push, write.request.options.candidates ?? 1)
  const reader = from.createReader(read, sequence.take)
  const parser = framing((event) => {
    notTooDeep(event.data)
    writer.pushRaw?.(event.data)
    reader.observe(event)
  })
  return {
    push: parser.push,
    end() {
      parser.end()
      reader.end()
      sequence.end()
    },
    fail: sequence.fail,
    keepAlive: writer.keepAlive,
  }
}

/** A thrown error in canonical form; one that is not the gateway's own becomes a bare 500. */
export function errorOf(thrown: unknown): CanonicalError {
  if (!isGatewayError(thrown)) return { kind: 'server', status: 500, message: 'Internal server error' }
  const { status, code, message, data } = thrown
  const error: CanonicalError = { kind: meaningOf(kindOfStatus(status)).error, status, code, message }
  if (typeof data.param === 'string') error.param = data.param
  return error
}

interface GatherOptions {
  from: UpstreamTranslator
  read: ReadContext
  /** The number of candidates that the client has asked for; default 1. */
  candidates: number | undefined
}

/** The whole answer that the events of a provider's stream make up. Throws `UPSTREAM_INVALID` if they cannot be read or have no normal end. */
export function gatherStream(events: readonly SseEvent[], { from, read, candidates = 1 }: GatherOptions): Answer {
  for (const { data } of events) notTooDeep(data)
  const repeated = from.answerInStream?.(events)
  if (repeated) return from.parseAnswer(repeated, read)
  const parts = createGatheredParts()
  let start: StartEvent | undefined
  let end: EndEvent | undefined
  let message = 'The provider sent a stream that cannot be read.'

  function push(event: StreamEvent) {
    if (event.type === 'start') start = event
    else if (event.type === 'end') end = event
    else if (event.type === 'error')
      message = event.error.code?.startsWith('UPSTREAM_') ? event.error.message : message // a message of the gateway itself
    else parts.take(event)
  }

  const sequence = createSequence(push, candidates)
  const reader = from.createReader(read, sequence.take)
  for (const event of events) reader.observe(event)
  reader.end()
  sequence.end()
  if (!end) throw gatewayError('UPSTREAM_INVALID', { message })
  const contents = parts.contents()
  const { id, model } = start ?? {}
  return {
    ...(id && { id }),
    ...(model && { model }),
    choices: end.finishes.map((finish, index) => ({ content: contents[index] ?? [], finish })),
    ...(end.usage && { usage: end.usage }),
  }
}
