import { decodeUtf8Lenient } from '../lib/bytes.ts'
import { type JsonObject, tryParseJson } from '../lib/json.ts'
import { createSseParser, type SseEvent } from '../lib/sse.ts'
import type { ContentFields, Endpoint, ResponseReader, TokenUsage } from '../protocols/formats/format.ts'
import { getBound } from '../protocols/kinds/request-bounds.ts'
import type { ModelReference } from '../protocols/providers/catalog-model.ts'
import { countContentTokens, countImageTokens, countStreamTokens, createRepeatCounter } from './content-tokens.ts'
import { boundInputTokens, isCounted } from './input-bound.ts'

export { estimateTokens } from '../lib/text-tokens.ts'
export { createRepeatCounter, TOKENS_PER_IMAGE } from './content-tokens.ts'

/** The parts of a request that determine its input tokens. */
interface InputRequest {
  readonly endpoint: Endpoint
  readonly body: JsonObject
  readonly text: string
  /** The size of the body in bytes. */
  readonly bytes: number
}

/** Estimates a request's input tokens if its provider doesn't report them. */
export function estimateInput(
  { endpoint, body }: Pick<InputRequest, 'endpoint' | 'body'>,
  target: ModelReference,
): number {
  const estimate = () => boundInputTokens(body, target)
  return getBound(endpoint).inputTokens?.(body, estimate) ?? estimate()
}

/** Counts a request's billable units other than tokens, if its provider doesn't report them. */
export const countUnits = ({ endpoint, body }: Pick<InputRequest, 'endpoint' | 'body'>): TokenUsage['units'] =>
  getBound(endpoint).units?.(body)

/**
 * Prepares `estimateInput` for the end of a stream. The returned function lives as long as the stream, so it doesn't keep a large body in memory.
 * Instead, it estimates a large body without limits or media from its size.
 */
export function createInputEstimate(call: InputRequest, { provider, model }: ModelReference): () => number {
  const target = { provider, model }
  const { endpoint, text } = call
  if (isCounted(call.body) || (text.length > MAX_KEPT_LENGTH && MEDIA_PATTERN.test(text))) {
    const tokens = estimateInput(call, target)
    return () => tokens
  }
  if (text.length > MAX_KEPT_LENGTH) {
    const tokens = Math.ceil(call.bytes / BYTES_PER_TOKEN)
    return () => tokens
  }
  return createTextEstimate(endpoint, text, target)
}

/** A separate function, so the closure doesn't keep the parsed body alive. */
const createTextEstimate = (endpoint: Endpoint, text: string, target: ModelReference) => () =>
  estimateInput({ endpoint, body: JSON.parse(text) }, target)

/** Bodies up to this length, in characters, are kept during a stream. */
const MAX_KEPT_LENGTH = 8_192
/** Bytes per token. Lower than for most text, so the estimate is never too low. */
const BYTES_PER_TOKEN = 3
const MEDIA_PATTERN = /;base64,|"(?:data|bytes|file_data)"\s*:/

/**
 * Estimates a complete response's output tokens if its provider doesn't report them. `events` contains the server-sent events if the response was a
 * stream; `json` is then absent.
 */
export function estimateOutput(
  { json, events }: { json: JsonObject; events?: readonly SseEvent[] | undefined },
  { contentFields }: ResponseReader,
): number {
  if (!contentFields || contentFields.complete.length === 0) return 0
  if (!events) return countContentTokens(json, contentFields.complete) + countImageTokens(json)
  return countEventTokens(events, contentFields)
}

function countEventTokens(events: readonly SseEvent[], contentFields: ContentFields): number {
  const repeats = createRepeatCounter(contentFields)
  let tokens = 0
  let imageTokens = 0
  for (const { data } of events) {
    const value = tryParseJson(data)
    tokens += countContentTokens(value, contentFields.streamed)
    imageTokens += countImageTokens(value)
    repeats.add(value)
  }
  return Math.max(tokens, repeats.getTokens()) + imageTokens
}

/** Estimates the output tokens in an entire server-sent event stream. */
export function estimateStreamOutput(bytes: Uint8Array, contentFields: ContentFields): number {
  const events: SseEvent[] = []
  const parser = createSseParser((event) => void events.push(event))
  parser.push(decodeUtf8Lenient(bytes))
  parser.end()
  return countEventTokens(events, contentFields)
}

/** Estimates the output tokens in a stream's complete server-sent events, including images. */
export const countStreamedTokens = (events: Uint8Array, names: readonly string[]): number =>
  countStreamTokens(events, names, countImageTokens)
