import type { AnswerReader, Endpoint } from '../formats/format.ts'
import { type JsonObject, tryParseJson } from '../lib/json.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { ModelAt } from '../providers/catalog-model.ts'
import { inputBound, isMeasured } from './input-bound.ts'
import { saidTokens } from './said.ts'

export { streamedTokens } from './said.ts'
export { likelyTokens } from './text-tokens.ts'

/** The parts of a request that its input depends on. */
interface InputRequest {
  readonly endpoint: Endpoint
  readonly body: JsonObject
  readonly text: string
  /** The size of the body. */
  readonly bytes: number
}

/** The tokens of a request's input, where its provider does not report them. */
export function inputOf({ endpoint, body }: InputRequest, target: ModelAt): number {
  const estimate = () => inputBound(body, target)
  return endpoint.bound?.inputTokens?.(body, estimate) ?? estimate()
}

/**
 * The same for when a stream is over. What is returned lives as long as the stream, and does not refer to a body that is large. A large one
 * that has no limits, and no media, counts by its size alone.
 */
export function inputLater(call: InputRequest, { provider, model }: ModelAt): () => number {
  const target = { provider, model }
  if (isMeasured(call.body) || (call.text.length > SMALL && HAS_MEDIA.test(call.text))) {
    const tokens = inputOf(call, target)
    return () => tokens
  }
  if (call.text.length > SMALL) {
    const tokens = Math.ceil(call.bytes / BYTES_PER_TOKEN)
    return () => tokens
  }
  return ofText(call.endpoint, call.text, target)
}

const ofText = (endpoint: Endpoint, text: string, target: ModelAt) => () =>
  inputOf({ endpoint, text, body: JSON.parse(text), bytes: text.length }, target)

/** Characters of a body that may be kept for as long as its stream. */
const SMALL = 8_192
/** Fewer than in most texts, as the whole is to be no less than what was counted. */
const BYTES_PER_TOKEN = 3
const HAS_MEDIA = /;base64,|"(?:data|bytes|file_data)"\s*:/

/** The tokens of a whole answer, where its provider does not report them. `events`: what came in its place. */
export function outputOf(
  { json, events }: { json: JsonObject; events?: readonly SseEvent[] | undefined },
  { said }: AnswerReader,
): number {
  if (!said || said.whole.length === 0) return 0
  if (!events) return saidTokens(json, said.whole)
  return events.reduce((tokens, { data }) => tokens + saidTokens(tryParseJson(data), said.streamed), 0)
}
