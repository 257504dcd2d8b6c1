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
  readerContext: ReaderContext
  writerContext: WriterContext
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
  readonly usageReport: Pick<ReturnType<typeof createEventSequencer>, 'usage' | 'hasReportedUsage'>
}

/** Translates a provider's stream for a client with another format. Calls `send` with one complete server-sent event at a time. */
export function translateStream(
  { from, framing = sseFraming, to, readerContext, writerContext, restore }: StreamTranslation,
  send: (event: string) => void,
): StreamTranslator {
  const writer = to.createWriter(writerContext, send)
  const sequencer = createEventSequencer(
    restore ? restore(writer.push) : writer.push,
    writerContext.request.options.candidates ?? 1,
  )
  const reader = from.createReader(readerContext, sequencer.push)
  const parser = framing((event) => {
    checkDepth(event.data)
    writer.pushRaw?.(event.data)
    reader.observe(event)
    sequencer.countEvent()
  })
  return {
    push: parser.push,
    end() {
      parser.end()
      reader.end()
      sequencer.end()
    },
    fail: sequencer.fail,
    keepAlive: writer.keepAlive,
    usageReport: sequencer,
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
  readerContext: ReaderContext
  /** The number of candidates that the client requested. Default: 1. */
  candidates: number | undefined
}

/** Assembles the complete response from a provider's stream events. Throws `UPSTREAM_INVALID` if they can't be read or don't end normally. */
export function assembleStream(
  events: readonly SseEvent[],
  { from, readerContext, candidates = 1 }: AssembleOptions,
): CanonicalResponse {
  for (const { data } of events) checkDepth(data)
  const repeatedResponse = from.findResponse?.(events)
  if (repeatedResponse) return from.parseResponse(repeatedResponse, readerContext)
  const parts = createPartCollector()
  let startEvent: StartEvent | undefined
  let endEvent: EndEvent | undefined
  let message = 'The provider sent a malformed stream.'

  function push(event: StreamEvent) {
    if (event.type === 'start') startEvent = event
    else if (event.type === 'end') endEvent = event
    else if (event.type === 'error')
      message = event.error.code?.startsWith('UPSTREAM_') ? event.error.message : message // only the gateway's own messages are safe to show
    else parts.push(event)
  }

  const sequencer = createEventSequencer(push, candidates)
  const reader = from.createReader(readerContext, sequencer.push)
  for (const event of events) {
    reader.observe(event)
    sequencer.countEvent()
  }
  reader.end()
  sequencer.end()
  if (!endEvent) throw gatewayError('UPSTREAM_INVALID', { message })
  const contents = parts.getContents()
  const { id, model } = startEvent ?? {}
  return {
    ...(id && { id }),
    ...(model && { model }),
    choices: endEvent.finishes.map((finish, index) => ({ content: contents[index] ?? [], finish })),
    ...(endEvent.usage && { usage: endEvent.usage }),
  }
}
