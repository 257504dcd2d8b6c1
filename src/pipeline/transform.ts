import type { Operation } from '../formats/endpoint.ts'
import type { TokenUsage, UpstreamFormat } from '../formats/format.ts'
import type { ByteStream } from '../lib/exchange.ts'
import type { Ask } from '../upstream/request.ts'
import type { FailedAttempt, WholeAnswer } from './attempt.ts'
import type { Committed } from './commit.ts'
import type { SpokenRequest } from './model-request.ts'
import type { RelayedStream, StreamTerms } from './relay.ts'

/** How one request is sent to one target, and how its answer is read: unchanged or translated. */
export interface Transform {
  /** The target's format, which reads its streams and errors. */
  format: UpstreamFormat
  ask: Ask
  /** Does the client get the provider's bytes and headers unchanged? */
  isVerbatim: boolean
  /** What the target is asked for, where that is not what the client asks for. */
  operation?: Operation
  /** Set when the answer is not for the client: it makes the transform of the client's own request. */
  next?(answer: WholeAnswer): Promise<Transform>
  /** The tokens that were spent before on behalf of this request. */
  spent?: TokenUsage | undefined
  /** What the translation loses, such as `dropped:seed`. */
  warnings: () => readonly string[]
  /** The answer in the client's format. Throws `UPSTREAM_INVALID` when it cannot be read. */
  whole(answer: WholeAnswer): Uint8Array
  /** The request without the options that the failure refuses; `undefined` when it refuses none that may be left out. */
  withoutRefused?(attempt: FailedAttempt): Promise<Transform | undefined>
  /** A failure with the provider's error in the client's format. */
  failed(attempt: FailedAttempt): FailedAttempt
  streamType: 'text/event-stream' | 'application/json'
  stream(body: ByteStream, committed: Committed, terms: StreamTerms): RelayedStream
}

/** Does the client want a JSON array? Google's stream is one, unless events are asked for. */
export const wantsArray = ({ call, exchange }: SpokenRequest): boolean =>
  call.endpoint.streams === 'always' && !/[?&]alt=sse(&|$)/.test(exchange.query)
