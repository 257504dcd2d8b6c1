import type { Codec } from '../../codec/codec.ts'
import { answerTooLarge, type Failure } from '../../codec/failure.ts'
import type { FailedResponse, ReceivedResponse, StreamedResponse } from '../../codec/response.ts'
import { gatewayError } from '../../errors.ts'
import type { Answer, Choice } from '../../formats/canonical/answer.ts'
import type { OutputFormat } from '../../formats/canonical/request.ts'
import { readErrorAnswer } from '../../formats/errors/kinds.ts'
import { isContentRefused } from '../../formats/errors/words.ts'
import { operations } from '../../formats/operations.ts'
import { concatBytes, decodeUtf8Lenient } from '../../lib/bytes.ts'
import type { ByteStream } from '../../lib/exchange.ts'
import { isObject, tryParseJson, tryParseShallow } from '../../lib/json.ts'
import { matchesSchema } from '../../lib/matches-schema.ts'
import { type SseEvent, sseFraming } from '../../lib/sse.ts'
import type { Route } from '../../routing/group.ts'
import type { AttemptLog } from '../attempt-log.ts'
import type { ModelRequest } from '../request.ts'
import { readEmbeddedError } from './read-failure.ts'

interface JudgeTerms {
  request: ModelRequest
  route: Route
  codec: Codec
  log: Pick<AttemptLog, 'follows' | 'estimated'>
}

type JudgedResponse = ReceivedResponse | FailedResponse

/**
 * What a response counts as under the conditions (`on`) of the combos that led to its target: an answer that a content filter has ended, or that is
 * not JSON by the schema of the request, is a failure that keeps the answer. Of a stream, the end is looked for in what has come with its first
 * content; where the answer has to be JSON it is held back until it is whole, so that what breaks off then is a failure of the attempt. Rejects as
 * the body of a stream does, and with `UPSTREAM_CUT` when it ends too early.
 */
export async function judged(received: JudgedResponse, terms: JudgeTerms): Promise<JudgedResponse> {
  const { request, route } = terms
  const { on = [] } = route
  if (request.call.endpoint.operation !== operations.generate) return received
  if (received.kind === 'failure') return on.includes('content') ? judgedFailure(received, request) : received
  const translation = await request.context.translation()
  const output = on.includes('schema') ? await translation.outputOf(request) : undefined
  if (received.kind === 'whole') {
    const failure = failureOf(await translation.answerOf(received, terms), { on, output })
    return failure ? { kind: 'failure', failure, empty: received, usage: received.usage } : received
  }
  const isSuspect = on.includes('content') && (await translation.seemsFiltered(received.committed.head, terms))
  if (!output && !isSuspect) return received
  return judgedStream(received, { ...terms, on, output })
}

/** An error by which a provider's content filter has refused the request: another provider may not. */
function judgedFailure(failed: FailedResponse, { context }: ModelRequest): FailedResponse {
  const { failure, head } = failed
  if (failure.class !== 'client' || !head) return failed
  const text = failure.body ? decodeUtf8Lenient(failure.body) : failure.message
  const answer = { status: failure.status, body: tryParseShallow(text) ?? text, now: context.clock.now() }
  const { kind, error } = readErrorAnswer({ ...answer, header: (name) => head.header(name) })
  const isRefused = kind === 'content-refused' || isContentRefused(error)
  return isRefused ? { ...failed, failure: { ...failure, class: 'filtered' } } : failed
}

type Conditions = { on: NonNullable<Route['on']>; output: OutputFormat | undefined }

/** Why an answer is not the one that is wanted; `undefined` where it is, or cannot be read. */
function failureOf(answer: Answer | undefined, { on, output }: Conditions): Failure | undefined {
  const [choice] = answer?.choices ?? []
  if (!choice) return undefined
  if (on.includes('content') && isFiltered(choice))
    return unwanted('filtered', "The provider's content filter ended the answer.")
  if (output && !isOutput(choice, output))
    return unwanted('schema', 'The answer is not JSON by the schema of the request.')
  return undefined
}

const unwanted = (failureClass: 'filtered' | 'schema', message: string): Failure => ({
  class: failureClass,
  status: 502,
  upstreamStatus: 200,
  message,
  isUnwanted: true,
})

const isFiltered = ({ finish, content }: Choice) =>
  finish.reason === 'content-filter' || content.some(({ type }) => type === 'refusal')

/** Is it JSON of that form, or a call of a tool, after which the answer is still to come? */
function isOutput({ content }: Choice, output: OutputFormat): boolean {
  if (content.some(({ type }) => type === 'tool-call')) return true
  const value = tryParseJson(content.map((part) => (part.type === 'text' ? part.text : '')).join(''))
  if (value === undefined) return false
  return output.type === 'json' ? isObject(value) : matchesSchema(value, output.schema)
}

/** Holds a stream back until it is whole, and judges it then. */
async function judgedStream(stream: StreamedResponse, terms: JudgeTerms & Conditions): Promise<JudgedResponse> {
  const { codec, request, log } = terms
  const { head, body, committed } = stream
  const { maxAnswerBytes } = request.context.limits
  const { framing = sseFraming } = codec.format
  const state = codec.answers.watchStream()
  log.follows(state)
  const events: SseEvent[] = []
  const parser = framing((event) => {
    events.push(event)
    if (!state.error) state.observe(event)
  })
  const rest: Uint8Array[] = []
  let size = 0
  for (const chunk of committed.head) parser.push(chunk)
  while (!state.closed && !state.error) {
    const chunk = await body.next()
    if (!chunk) break
    rest.push(chunk)
    size += chunk.length
    if (size > maxAnswerBytes) throw answerTooLarge(maxAnswerBytes)
    parser.push(chunk)
  }
  parser.end()
  body.cancel() // all of it has come, though the provider may keep the connection open
  if (state.error) return readEmbeddedError(state.error, head, { format: codec.format, clock: request.context.clock })
  if (!state.ended)
    throw gatewayError('UPSTREAM_CUT', { message: 'The provider ended the stream before its answer was complete.' })
  const held: StreamedResponse = { ...stream, body: replay(rest) }
  const { answerOf } = await request.context.translation()
  const failure = failureOf(await answerOf({ json: {}, bytes: NOTHING, events }, terms), terms)
  if (!failure) return held
  const { usage, hasBegunUsage } = state
  const { said } = codec.answers
  if (said && (!usage || hasBegunUsage)) {
    const { streamedTokens } = await request.context.estimates.load()
    log.estimated(usage, streamedTokens(concatBytes([...committed.head, ...rest]), said.streamed))
  }
  return { kind: 'failure', failure, empty: held }
}

const NOTHING = new Uint8Array(0)

/** What has come, chunk by chunk. */
function replay(chunks: Uint8Array[]): ByteStream {
  return {
    next: async () => chunks.shift(),
    cancel() {
      chunks.length = 0
    },
  }
}
