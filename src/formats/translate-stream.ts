import { isGatewayError } from '../errors.ts'
import { type StreamFraming, sseFraming } from '../lib/sse.ts'
import { notTooDeep } from './canonical/deep-answer.ts'
import { type CanonicalError, kindOfStatus } from './canonical/errors.ts'
import { createSequence } from './canonical/sequence.ts'
import type { StreamEvent } from './canonical/stream.ts'
import type { ReadContext, Translator, UpstreamTranslator, WriteContext } from './translator.ts'

export interface StreamTranslation {
  from: UpstreamTranslator
  /** How the provider's stream is divided into events; default: server-sent events. */
  framing?: StreamFraming | undefined
  to: Translator
  read: ReadContext
  write: WriteContext
  /** Undoes the changes of `prepareRequest` in the answer. */
  restore?(emit: (event: StreamEvent) => void): (event: StreamEvent) => void
}

/** Translates a provider's stream for a client of another format. `out` is called with one whole server-sent event at a time. */
export interface StreamTranslator {
  /** Takes bytes, which may be cut anywhere. Throws `UPSTREAM_INVALID` when an event is longer than 16 MiB. */
  push(chunk: Uint8Array): void
  /** Ends the provider's stream, which may be an error. */
  end(): void
  fail(error: CanonicalError): void
  /** A sign of life for while the provider is silent. */
  keepAlive(): string
}

export function translateStream(
  { from, framing = sseFraming, to, read, write, restore }: StreamTranslation,
  out: (event: string) => void,
): StreamTranslator {
  const writer = to.createWriter(write, out)
  const sequence = createSequence(restore ? restore(writer.push) : writer.push, write.request.options.candidates ?? 1)
  const reader = from.createReader(read, sequence.take)
  const parser = framing((event) => {
    notTooDeep(event.data)
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

/** An error of the gateway in canonical form. */
export function errorOf(thrown: unknown): CanonicalError {
  if (!isGatewayError(thrown)) return { kind: 'server', status: 500, message: 'Internal server error' }
  const { status, code, message, data } = thrown
  const error: CanonicalError = { kind: kindOfStatus(status), status, code, message }
  if (typeof data.param === 'string') error.param = data.param
  return error
}
