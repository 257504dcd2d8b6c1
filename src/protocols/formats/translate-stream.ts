import { gatewayError, isGatewayError } from '../../errors.ts'
import { type SseEvent, type StreamFraming, sseFraming } from '../../lib/sse.ts'
import type { CanonicalError } from './canonical/canonical-errors.ts'
import type { CanonicalResponse } from './canonical/canonical-response.ts'
import { createEventSequencer } from './canonical/canonical-sequence.ts'
import type { EndEvent, StartEvent, StreamEvent } from './canonical/canonical-stream.ts'
import { checkDepth } from './canonical/exact-json.ts'
import { createPartCollector } from './canonical/response-events.ts'
import { classifyStatus, getErrorMeaning } from './errors/error-kinds.ts'
import type { ClientTranslator, ReaderContext, UpstreamTranslator, WriterContext } from './translator.ts'

/** The formats and contexts for translating a stream. */
export interface StreamTranslation {
  /** The provider's format. */
  from: UpstreamTranslator
  /** Splits the provider's stream into events. Default: server-sent events. */
  framing?: StreamFraming | undefined
  /** The client's format. */
  to: ClientTranslator
  read: ReaderContext
  write: WriterContext
  /** Undoes, in the response, the changes that `prepareRequest` made to the request. */
  restore?(emit: (event: StreamEvent) => void): (event: StreamEvent) => void
}

/** Takes a provider's stream and sends the translated stream to the client. */
interface StreamTranslator {
  /** Takes the next bytes, split anywhere. Throws `UPSTREAM_INVALID` if an event exceeds 16 MiB. */
  push(chunk: Uint8Array): void
  /** Call this when the provider's stream has ended. If it didn't end properly, the client gets an error. */
  end(): void
  /** Ends the client's stream with this error. */
  fail(error: CanonicalError): void
  /** Returns the text to send to the client while the provider is silent. */
  keepAlive(): string
  readonly reported: Pick<ReturnType<typeof createEventSequencer>, 'usage' | 'hasReportedUsage'>
}

/** Translates a provider's stream for a client with another format. Calls `out` with one complete server-sent event at a time. */
export function translateStream(
  { from, framing = sseFraming, to, read, write, restore }: StreamTranslation,
  out: (event: string) => void,
): StreamTranslator {
  const writer = to.createWriter(write, out)
  const sequence = createEventSequencer(
    restore ? restore(writer.push) : writer.push,
    write.request.options.candidates ?? 1,
  )
  const reader = from.createReader(read, sequence.push)
  const parser = framing((event) => {
    checkDepth(event.data)
    writer.pushRaw?.(event.data)
    reader.observe(event)
    sequence.countEvent()
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
    reported: sequence,
  }
}

/** Converts a thrown error to the canonical format. Errors that aren't the gateway's own become a plain 500. */
export function toCanonicalError(cause: unknown): CanonicalError {
  if (!isGatewayError(cause)) return { kind: 'server', status: 500, message: 'Internal server error' }
  const { status, code, message, data } = cause
  const error: CanonicalError = { kind: getErrorMeaning(classifyStatus(status)).error, status, code, message }
  if (typeof data.param === 'string') error.param = data.param
  return error
}

interface AssembleOptions {
  from: UpstreamTranslator
  read: ReaderContext
  /** The number of candidates that the client requested. Default: 1. */
  candidates: number | undefined
}

/** Assembles the complete response from a provider's stream events. Throws `UPSTREAM_INVALID` if they can't be read or don't end normally. */
export function assembleStream(
  events: readonly SseEvent[],
  { from, read, candidates = 1 }: AssembleOptions,
): CanonicalResponse {
  for (const { data } of events) checkDepth(data)
  const repeated = from.findResponse?.(events)
  if (repeated) return from.parseResponse(repeated, read)
  const parts = createPartCollector()
  let start: StartEvent | undefined
  let end: EndEvent | undefined
  let message = 'The provider sent a malformed stream.'

  function push(event: StreamEvent) {
    if (event.type === 'start') start = event
    else if (event.type === 'end') end = event
    else if (event.type === 'error')
      message = event.error.code?.startsWith('UPSTREAM_') ? event.error.message : message // only the gateway's own messages are safe to show
    else parts.push(event)
  }

  const sequence = createEventSequencer(push, candidates)
  const reader = from.createReader(read, sequence.push)
  for (const event of events) {
    reader.observe(event)
    sequence.countEvent()
  }
  reader.end()
  sequence.end()
  if (!end) throw gatewayError('UPSTREAM_INVALID', { message })
  const contents = parts.getContents()
  const { id, model } = start ?? {}
  return {
    ...(id && { id }),
    ...(model && { model }),
    choices: end.finishes.map((finish, index) => ({ content: contents[index] ?? [], finish })),
    ...(end.usage && { usage: end.usage }),
  }
}
