import type { StreamState, TokenUsage } from '../formats/format.ts'
import type { ByteStream, UpstreamAnswer } from '../lib/exchange.ts'
import type { JsonObject } from '../lib/json.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { Failure } from './failure.ts'

/** A response for the client: whole, or a stream that has begun. */
export type ReceivedResponse = WholeResponse | StreamedResponse

/** A response whose stream has begun. */
export interface StreamedResponse {
  kind: 'stream'
  head: UpstreamAnswer
  body: ByteStream
  committed: Committed
}

/**
 * A stream whose first content has arrived: the chunks held back until then, and the state of the stream after them. Or one that has ended
 * without any content: its state has not `started`.
 */
export interface Committed {
  head: Uint8Array[]
  state: StreamState
}

/** A response that was read to its end, a JSON object. */
export interface WholeResponse {
  kind: 'whole'
  head: UpstreamAnswer
  bytes: Uint8Array
  /** The parsed bytes. */
  json: JsonObject
  usage: TokenUsage | undefined
  /** What came in place of them, from a provider that streams whatever it is asked; `bytes` and `json` are empty then. */
  events?: readonly SseEvent[]
  /** Of a divided request: the responses to all its calls in their order. This is the first, with the usage of all. */
  parts?: readonly WholeResponse[]
}

/** A call that brought no response for the client. */
export interface FailedResponse {
  kind: 'failure'
  failure: Failure
  /** The head of the provider's response, if there was one. */
  head?: UpstreamAnswer
  /** What the provider has reported in a whole response that is no answer. */
  usage?: TokenUsage | undefined
  /** The response, if its only defect is that it is empty. */
  empty?: ReceivedResponse
}
