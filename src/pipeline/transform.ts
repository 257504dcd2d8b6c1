import type { UpstreamFormat } from '../formats/format.ts'
import type { ByteStream } from '../lib/exchange.ts'
import type { Ask } from '../upstream/request.ts'
import type { FailedAttempt, WholeAnswer } from './attempt.ts'
import type { Committed } from './commit.ts'
import type { SpokenRequest } from './model-request.ts'
import type { RelayedStream, StreamTerms } from './relay.ts'

/** How a client's request reaches one target, and how the answer comes back: byte for byte, or translated. */
export interface Transform {
  /** The target's format, by which its streams are judged and its errors read. */
  format: UpstreamFormat
  ask: Ask
  /** Does the client get the provider's bytes, and its headers? */
  isVerbatim: boolean
  /** What is lost on the way there, such as `dropped:seed`. */
  warnings(): readonly string[]
  /** The answer as the client reads it. Throws `UPSTREAM_INVALID` when it cannot be read. */
  whole(answer: WholeAnswer): Uint8Array
  /** A failure with the provider's own error as the client reads it. */
  failed(attempt: FailedAttempt): FailedAttempt
  streamType: 'text/event-stream' | 'application/json'
  stream(body: ByteStream, committed: Committed, terms: StreamTerms): RelayedStream
}

/** Google streams one JSON array to who does not ask for events. */
export const wantsArray = ({ call, exchange }: SpokenRequest): boolean =>
  call.endpoint.streams === 'always' && !/[?&]alt=sse(&|$)/.test(exchange.query)
