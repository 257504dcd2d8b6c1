import type { EmbeddedError, TokenUsage, UpstreamFormat } from '../formats/format.ts'
import { concatBytes, decodeUtf8Lenient, readAll } from '../lib/bytes.ts'
import type { ByteStream, UpstreamAnswer, UpstreamCall } from '../lib/exchange.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { Clock } from '../types.ts'
import { type OpenedUpstream, openUpstream } from '../upstream/open.ts'
import { type Committed, commitStream, type NotCommitted } from './commit.ts'
import type { PipelineContext } from './context.ts'
import type { Operation } from './endpoints.ts'
import { answerTooLarge, contentFailure, emptyAnswer, type Failure, failureOfError } from './failure.ts'

/** An answer for the client: whole, or a stream that has begun. */
export type Answer = WholeAnswer | { kind: 'stream'; head: UpstreamAnswer; body: ByteStream; committed: Committed }

/** An answer that was read to its end, a JSON object. */
export interface WholeAnswer {
  kind: 'whole'
  head: UpstreamAnswer
  bytes: Uint8Array
  /** The parsed bytes. */
  json: JsonObject
  usage: TokenUsage | undefined
  /** What came in place of them, from a provider that streams whatever it is asked; `bytes` and `json` are empty then. */
  events?: readonly SseEvent[]
}

/** The result of an attempt. */
export type AttemptResult = Answer | FailedAttempt

/** An attempt that brought no answer for the client. */
export interface FailedAttempt {
  kind: 'failure'
  failure: Failure
  /** The head of the provider's answer, if there was one. */
  head?: UpstreamAnswer
  /** The answer, where nothing is wrong with it but that it is empty. */
  blank?: Answer
}

/** An attempt under way. `cancel` ends it in any phase, also while its stream is read. */
export interface Attempt {
  result: Promise<AttemptResult>
  cancel(reason: unknown): void
}

/** Error bodies are read up to this size and time, since the status says most. */
const MAX_ERROR_BYTES = 64 * 1024
const ERROR_BODY_MS = 5_000

/** Calls one target once. `result` never rejects: every error becomes a failure with a class. */
export function startAttempt(
  call: UpstreamCall,
  { format, stream, operation }: Pick<Expected, 'format' | 'stream' | 'operation'>,
  context: Pick<PipelineContext, 'fetch' | 'clock' | 'limits'>,
): Attempt {
  const { fetch, clock, limits } = context
  const { headersTimeoutMs, silenceTimeoutMs, totalTimeoutMs } = limits
  const pending = openUpstream(call, {
    fetch,
    clock,
    headersTimeoutMs,
    silenceTimeoutMs,
    totalTimeoutMs: stream ? headersTimeoutMs : totalTimeoutMs,
    stream,
  })
  return { result: receive(pending, { format, stream, operation, limits, clock }), cancel: pending.cancel }
}

/** What is asked for, and how long and how large the answer may be. */
export interface Expected {
  format: UpstreamFormat
  stream: boolean
  operation: Operation
  limits: PipelineContext['limits']
  clock: Clock
}

async function receive(pending: OpenedUpstream, expected: Expected): Promise<AttemptResult> {
  const { format, stream, limits } = expected
  try {
    let head = await pending.answer
    if (head.status < 200 || head.status > 299) {
      pending.hurry(ERROR_BODY_MS)
      return await refused(head, expected)
    }
    if (!stream) return await (saysEvents(head) ? receiveUnasked : receiveWhole)(head, expected)
    if (!maybeStream(head)) {
      pending.setTotal(limits.totalTimeoutMs)
      const { peek } = await import('./mislabelled.ts')
      const { isEvents, body } = await peek(head.body)
      head = { ...head, body }
      if (!isEvents) return await receiveWhole(head, expected)
      pending.setTotal(limits.headersTimeoutMs)
    }
    const committed = await commitStream(head.body, format)
    if (!('watch' in committed)) {
      pending.cancel(committed)
      return await notCommitted(committed, head, expected)
    }
    if (!committed.watch.started) {
      pending.cancel(committed)
      const { blankStream } = await import('./blank-stream.ts')
      return blankStream(head, committed)
    }
    pending.setTotal(Number.POSITIVE_INFINITY)
    return { kind: 'stream', head, body: head.body, committed }
  } catch (thrown) {
    pending.cancel(thrown)
    return { kind: 'failure', failure: failureOfError(thrown) }
  }
}

/** The failure that an error status stands for. */
async function refused(head: UpstreamAnswer, { format, operation, clock }: Expected): Promise<FailedAttempt> {
  const bytes = await readError(head.body)
  const [{ failureOfStatus }, reading] = await Promise.all([import('./failure-said.ts'), format.loadFailures()])
  return { kind: 'failure', failure: failureOfStatus(head, bytes, { reading, operation, now: clock.now() }), head }
}

/** What was no stream: a whole answer under a wrong content type, or a failure. */
async function notCommitted(
  { unread, ...error }: NotCommitted,
  head: UpstreamAnswer,
  expected: Expected,
): Promise<AttemptResult> {
  if (unread) {
    const { wholeIn } = await import('./mislabelled.ts')
    const body = wholeIn(unread)
    if (body) return receiveWhole({ ...head, body }, expected)
  }
  return embedded(error, head, expected)
}

function maybeStream(head: UpstreamAnswer): boolean {
  const mediaType = head.header('content-type')?.toLowerCase() ?? ''
  return !mediaType.includes('json') && !mediaType.includes('html')
}

/** Is it by its content type a stream? A small JSON answer, which can be read at once, is none. */
const saysEvents = ({ body, header }: UpstreamAnswer): boolean =>
  !body.whole && /event-?stream/.test(header('content-type') ?? '')

/** Reads what by its content type is a stream, for which nobody has asked. */
async function receiveUnasked(head: UpstreamAnswer, expected: Expected): Promise<AttemptResult> {
  const { peek } = await import('./mislabelled.ts')
  const { isEvents, body } = await peek(head.body)
  return (isEvents && expected.operation === 'generate' ? receiveEvents : receiveWhole)({ ...head, body }, expected)
}

async function receiveEvents(head: UpstreamAnswer, expected: Expected): Promise<AttemptResult> {
  const { gatherEvents } = await import('./unasked-events.ts')
  const gathered = await gatherEvents(head, expected)
  return 'kind' in gathered ? gathered : embedded(gathered, head, expected)
}

async function receiveWhole(head: UpstreamAnswer, expected: Expected): Promise<AttemptResult> {
  const { format, operation, stream } = expected
  const { maxAnswerBytes } = expected.limits
  const bytes = await readAll(head.body, maxAnswerBytes, () => answerTooLarge(maxAnswerBytes))
  const text = decodeUtf8Lenient(bytes)
  const answer = tryParseJson(text)
  if (!isObject(answer)) {
    const { eventsIn, noJson } = await import('./mislabelled.ts')
    const body = !stream && operation === 'generate' && eventsIn(bytes)
    return body ? receiveEvents({ ...head, body }, expected) : { kind: 'failure', failure: noJson(text) }
  }
  const error = format.errorIn(answer)
  if (error) return await embedded(error, head, expected)
  const isCount = operation === 'count-tokens'
  if (!isCount && !format.isAnswer(answer)) return { kind: 'failure', failure: emptyAnswer }
  const whole: WholeAnswer = { kind: 'whole', head, bytes, json: answer, usage: format.usageOf(answer) }
  if (isCount || SAYS_TEXT.test(text) || !(await isBlank(format, answer))) return whole
  return { kind: 'failure', failure: emptyAnswer, blank: whole }
}

/** Does the answer contain a non-empty text, in any format's fields? Most do, which saves the closer look. */
const SAYS_TEXT = /"(?:content|text)"\s*:\s*"(?!")/

async function isBlank(format: UpstreamFormat, answer: JsonObject): Promise<boolean> {
  const { isBlank } = await format.loadFailures()
  return isBlank(answer)
}

/** The failure that an error in a 200 stands for. */
async function embedded(
  error: EmbeddedError,
  head: UpstreamAnswer,
  { format, clock }: Expected,
): Promise<FailedAttempt> {
  if (error.class) return { kind: 'failure', failure: contentFailure(error.message) }
  const [{ failureOfEmbedded }, reading] = await Promise.all([import('./failure-said.ts'), format.loadFailures()])
  return { kind: 'failure', failure: failureOfEmbedded(error, { head, reading, now: clock.now() }), head }
}

/** As much of an error body as arrives; a body that breaks off, is silent, slow or large does not hide the status. */
async function readError(body: ByteStream): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for (let chunk = await body.next(); chunk; chunk = await body.next()) {
      parts.push(chunk)
      size += chunk.length
      if (size >= MAX_ERROR_BYTES) {
        body.cancel()
        break
      }
    }
  } catch {} // what has come may be all that there is to say
  return concatBytes(parts).subarray(0, MAX_ERROR_BYTES)
}
