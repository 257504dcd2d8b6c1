import { type GatewayError, gatewayError } from '../../errors.ts'
import type { ByteStream, UpstreamResponse } from '../../lib/exchange.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { StreamState, TokenUsage } from '../../protocols/formats/format.ts'
import type { Failure } from './call-failure.ts'

/** A response for the client: complete, or a stream that has begun. */
export type ReceivedResponse = BufferedResponse | StreamedResponse

/** A streamed response that has begun. */
export interface StreamedResponse {
  kind: 'stream'
  head: UpstreamResponse
  body: ByteStream
  start: StreamStart
}

/**
 * The start of a stream: the chunks buffered until the first content, and the stream's state after them. If the stream ended without content,
 * `state.hasStarted` is false.
 */
export interface StreamStart {
  head: Uint8Array[]
  state: StreamState
}

/** A response that was read completely, as a JSON object. */
export interface BufferedResponse {
  kind: 'whole'
  head: UpstreamResponse
  bytes: Uint8Array
  /** The parsed `bytes`. */
  json: JsonObject
  usage: TokenUsage | undefined
  /** The events of a provider that streams even though no stream was requested. `bytes` and `json` are then empty. */
  events?: readonly SseEvent[]
  /** The responses to all calls of a split request, in order. This response is the first one, with the usage of all. */
  parts?: readonly BufferedResponse[]
}

/** A call without a response for the client. */
export interface FailedResponse {
  kind: 'failure'
  failure: Failure
  /** The head of the provider's response, if there was one. */
  head?: UpstreamResponse
  /** The usage that the provider reported in a complete response that can't be used. */
  usage?: TokenUsage | undefined
  /** The response, if its only defect is that it is empty. */
  unusedResponse?: ReceivedResponse
}

/** Creates the `UPSTREAM_INVALID` error for a response that exceeds the size limit. */
export const createTooLargeError = (maxBytes: number): GatewayError =>
  gatewayError('UPSTREAM_INVALID', { message: `The provider's response is larger than ${maxBytes} bytes.` })
