import { gatewayError } from '../../errors.ts'
import { concatBytes, decodeUtf8Lenient } from '../../lib/bytes.ts'
import type { ByteStream } from '../../lib/exchange.ts'
import { isObject, tryParseJson, tryParseShallow } from '../../lib/json.ts'
import { matchesSchema } from '../../lib/matches-schema.ts'
import { type SseEvent, sseFraming } from '../../lib/sse.ts'
import type { OutputFormat } from '../../protocols/formats/canonical/canonical-request.ts'
import type { CanonicalResponse, Choice } from '../../protocols/formats/canonical/canonical-response.ts'
import { isBlankUsage } from '../../protocols/formats/canonical/reported-usage.ts'
import { readErrorResponse } from '../../protocols/formats/errors/error-kinds.ts'
import { isContentRejected } from '../../protocols/formats/errors/error-words.ts'
import { operations } from '../../protocols/formats/model-operations.ts'
import type { AttemptLog } from '../attempt-log.ts'
import { type Failure, toFailure } from '../codec/call-failure.ts'
import type { Codec } from '../codec/codec.ts'
import {
  type BufferedResponse,
  createTooLargeError,
  type FailedResponse,
  type ReceivedResponse,
  type StreamedResponse,
} from '../codec/response.ts'
import type { ModelRequest } from '../model-request.ts'
import type { Route } from '../routing/group.ts'
import { loadFailureReader } from './read-response.ts'
import { createObserver } from './receive-stream.ts'

interface JudgeOptions {
  request: ModelRequest
  route: Route
  codec: Codec
  log: Pick<AttemptLog, 'followProgress' | 'recordEstimate' | 'recordUsage'>
}

type JudgedResponse = ReceivedResponse | FailedResponse

/**
 * Applies the response conditions (`on`) of the combos that led to the target. A response that a content filter cut off, that isn't JSON matching the
 * request's schema, or that a guard or function rejects becomes a failure that keeps the response. If the response must be JSON, or if a guard or
 * function checks it, a stream is buffered until it is complete, so the attempt fails if the stream is cut off. Otherwise, only the part that arrived
 * with the stream's first content is checked. Rejects as the stream's body does, and with `UPSTREAM_CUT` if it ends prematurely.
 */
export async function judgeResponse(received: JudgedResponse, options: JudgeOptions): Promise<JudgedResponse> {
  const { request, route } = options
  const { on = [] } = route
  const isBuffered = on.includes('function') || (on.includes('refused') && request.log.responseChecks.length > 0)
  if (request.call.endpoint.operation !== operations.generate) return received
  if (received.kind === 'failure') return on.includes('content') ? judgeFailure(received, request) : received
  const translation = await request.context.loadTranslation()
  const output = on.includes('schema') ? await translation.getOutputFormat(request) : undefined
  if (received.kind === 'whole') {
    const recordUsage = () => recordResponseUsage(received, options)
    const failure = await findFailure(await translation.readCanonicalResponse(received, options), {
      ...options,
      on,
      output,
      recordUsage,
    })
    return failure ? { kind: 'failure', failure, unusedResponse: received, usage: received.usage } : received
  }
  const mayBeFiltered = on.includes('content') && (await translation.isFiltered(received.start.head, options))
  if (!output && !mayBeFiltered && !isBuffered) return received
  return judgeStream(received, { ...options, on, output })
}

/** Judges an error: if the provider's content filter rejected the request, another provider may accept it. */
function judgeFailure(failed: FailedResponse, { context }: ModelRequest): FailedResponse {
  const { failure, head } = failed
  if (failure.class !== 'client' || !head) return failed
  const text = failure.body ? decodeUtf8Lenient(failure.body) : failure.message
  const response = { status: failure.status, body: tryParseShallow(text) ?? text, nowMs: context.clock.now() }
  const { kind, error } = readErrorResponse({ ...response, header: (name) => head.header(name) })
  const isRejectedByFilter = kind === 'content-refused' || isContentRejected(error)
  return isRejectedByFilter ? { ...failed, failure: { ...failure, class: 'filtered' } } : failed
}

interface Conditions {
  on: NonNullable<Route['on']>
  output: OutputFormat | undefined
}

/** Records the usage of a complete response, because the request ends before the attempt records it. */
async function recordResponseUsage(received: BufferedResponse, { request, codec, log }: JudgeOptions): Promise<void> {
  const { usage } = received
  if (usage && !isBlankUsage(usage)) return log.recordUsage(usage)
  if (!codec.reader.contentFields) return
  const { estimateOutput } = await request.context.estimates.load()
  log.recordEstimate(undefined, estimateOutput(received, codec.reader))
}

/** Resolves to why the response isn't acceptable, or to `undefined` if it is, or if it can't be read. */
async function findFailure(
  response: CanonicalResponse | undefined,
  { on, output, request, route, recordUsage }: JudgeOptions & Conditions & { recordUsage(): Promise<void> },
): Promise<Failure | undefined> {
  const [choice] = response?.choices ?? []
  if (!choice) return undefined
  if (on.includes('content') && isFiltered(choice))
    return createUnwantedFailure('filtered', "The provider's content filter stopped the response.")
  if (output && !matchesOutput(choice, output))
    return createUnwantedFailure('schema', "The response is not JSON that matches the request's schema.")
  try {
    if (on.includes('refused'))
      for (const isRejected of request.log.responseChecks)
        if (await isRejected(response?.choices ?? []))
          return createUnwantedFailure('filtered', 'A guard rejected the response.')
    if (!on.includes('function')) return undefined
    const { isResponseUnwanted } = await import('../function-conditions.ts')
    const isUnwanted = await isResponseUnwanted({ choice, usage: response?.usage }, request, route)
    return isUnwanted ? createUnwantedFailure('unwanted', 'A function of the combo rejected the response.') : undefined
  } catch (error) {
    await recordUsage()
    request.client.cancel(error) // ends the request, because the guard or the function would also fail for the next target
    return toFailure(error)
  }
}

const createUnwantedFailure = (failureClass: 'filtered' | 'schema' | 'unwanted', message: string): Failure => ({
  class: failureClass,
  status: 502,
  upstreamStatus: 200,
  message,
  isUnwanted: true,
})

const isFiltered = ({ finish, content }: Choice) =>
  finish.reason === 'content-filter' || content.some(({ type }) => type === 'refusal')

/** Returns whether the response is JSON in the required form, or a tool call, because the actual response is still to come. */
function matchesOutput({ content }: Choice, output: OutputFormat): boolean {
  if (content.some(({ type }) => type === 'tool-call')) return true
  const value = tryParseJson(content.map((part) => (part.type === 'text' ? part.text : '')).join(''))
  if (value === undefined) return false
  return output.type === 'json' ? isObject(value) : matchesSchema(value, output.schema)
}

/** Buffers a stream until it is complete, then judges it. */
async function judgeStream(stream: StreamedResponse, options: JudgeOptions & Conditions): Promise<JudgedResponse> {
  const { codec, request, log } = options
  const { head, body, start } = stream
  const { maxResponseBytes } = request.context.limits
  const { framing = sseFraming } = codec.format
  const watchStream = await codec.reader.loadStateFactory()
  const state = watchStream()
  log.followProgress(state)
  const { observe, failure } = createObserver(state, {
    watchStream,
    onEvents: (progress) => log.followProgress(progress),
  })
  const events: SseEvent[] = []
  const parser = framing((event) => {
    events.push(event)
    observe(event)
  })
  const laterChunks: Uint8Array[] = []
  let size = 0
  for (const chunk of start.head) parser.push(chunk)
  while (!state.isClosed && !failure()) {
    const chunk = await body.next()
    if (!chunk) break
    laterChunks.push(chunk)
    size += chunk.length
    if (size > maxResponseBytes) throw createTooLargeError(maxResponseBytes)
    parser.push(chunk)
  }
  parser.end()
  body.cancel() // everything has arrived, although the provider may keep the connection open
  if (state.error) {
    const { format } = codec
    const { operation } = request.call.endpoint
    const { clock } = request.context
    return (await loadFailureReader()).readEmbeddedError(state.error, head, { format, operation, clock })
  }
  if (!state.hasEnded)
    throw gatewayError('UPSTREAM_CUT', { message: 'The provider ended the stream before the response was complete.' })
  const replayedResponse: StreamedResponse = { ...stream, body: replay(laterChunks) }
  const { readCanonicalResponse } = await request.context.loadTranslation()
  async function recordUsage() {
    const { usage, hasPreliminaryUsage } = state
    const { contentFields } = codec.reader
    if (!contentFields || (usage && !hasPreliminaryUsage && !isBlankUsage(usage))) return
    const { estimateStreamOutput } = await request.context.estimates.load()
    log.recordEstimate(usage, estimateStreamOutput(concatBytes([...start.head, ...laterChunks]), contentFields))
  }
  const response = await readCanonicalResponse({ json: {}, bytes: EMPTY_BYTES, events }, options)
  const conditionFailure = await findFailure(response, { ...options, recordUsage })
  if (!conditionFailure) return replayedResponse
  await recordUsage()
  return { kind: 'failure', failure: conditionFailure, unusedResponse: replayedResponse }
}

const EMPTY_BYTES = new Uint8Array(0)

/** Replays the chunks that have arrived as a stream. */
function replay(chunks: Uint8Array[]): ByteStream {
  return {
    next: async () => chunks.shift(),
    cancel() {
      chunks.length = 0
    },
  }
}
