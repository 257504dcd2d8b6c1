import { gatewayError } from '../errors.ts'
import type { EmbeddedError, TokenUsage, UpstreamFormat } from '../formats/format.ts'
import { concatBytes, decodeUtf8Lenient, readAll } from '../lib/bytes.ts'
import type { ByteStream, UpstreamAnswer, UpstreamCall } from '../lib/exchange.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import type { Clock } from '../types.ts'
import { type OpenedUpstream, openUpstream } from '../upstream/open.ts'
import { type Committed, commitStream } from './commit.ts'
import type { PipelineContext } from './context.ts'
import type { Operation } from './endpoints.ts'
import { contentFailure, type Failure, failureOfError } from './failure.ts'

/** An answer that can go to the client: whole, or a stream that has begun. */
export type Answer = WholeAnswer | { kind: 'stream'; head: UpstreamAnswer; body: ByteStream; committed: Committed }

/** An answer that was read to its end: one JSON object. */
export interface WholeAnswer {
  kind: 'whole'
  head: UpstreamAnswer
  bytes: Uint8Array
  /** The same, parsed. */
  json: JsonObject
  usage: TokenUsage | undefined
}

/** What becomes of an attempt. */
export type AttemptResult = Answer | FailedAttempt

/** An attempt that brought no answer for the client. */
export interface FailedAttempt {
  kind: 'failure'
  failure: Failure
  /** When the provider answered at all. */
  head?: UpstreamAnswer
}

/** An attempt under way. `cancel` ends it in any phase, a stream that it has brought included. */
export interface Attempt {
  result: Promise<AttemptResult>
  cancel(reason: unknown): void
}

/** Error bodies are read this far, and this long: what matters most is known by their status. */
const MAX_ERROR_BYTES = 64 * 1024
const ERROR_BODY_MS = 5_000

/** Calls one target once. The result never rejects: whatever goes wrong is a failure with a class. */
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

interface Expected {
  format: UpstreamFormat
  stream: boolean
  operation: Operation
  limits: PipelineContext['limits']
  clock: Clock
}

async function receive(pending: OpenedUpstream, expected: Expected): Promise<AttemptResult> {
  const { format, stream, operation, limits, clock } = expected
  try {
    const head = await pending.answer
    const isFailure = head.status < 200 || head.status > 299
    if (stream && !isFailure && maybeStream(head)) {
      const committed = await commitStream(head.body, format)
      if ('watch' in committed) {
        pending.setTotal(Number.POSITIVE_INFINITY)
        return { kind: 'stream', head, body: head.body, committed }
      }
      pending.cancel(committed)
      return await said(committed, head, expected)
    }
    if (isFailure) pending.hurry(ERROR_BODY_MS)
    else {
      if (stream) pending.setTotal(limits.totalTimeoutMs) // it is none
      return await receiveWhole(head, expected)
    }
    const bytes = await readError(head.body)
    const { failureOfStatus } = await import('./failure-said.ts')
    return { kind: 'failure', failure: failureOfStatus(head, bytes, { format, operation, now: clock.now() }), head }
  } catch (thrown) {
    pending.cancel(thrown)
    return { kind: 'failure', failure: failureOfError(thrown) }
  }
}

function maybeStream(head: UpstreamAnswer): boolean {
  const mediaType = head.header('content-type')?.toLowerCase() ?? ''
  return !mediaType.includes('json') && !mediaType.includes('html')
}

async function receiveWhole(head: UpstreamAnswer, expected: Expected): Promise<AttemptResult> {
  const { format, operation, limits } = expected
  const tooLarge = () =>
    gatewayError('UPSTREAM_INVALID', {
      message: `The provider's answer is larger than ${limits.maxAnswerBytes} bytes.`,
    })
  const bytes = await readAll(head.body, limits.maxAnswerBytes, tooLarge)
  const text = decodeUtf8Lenient(bytes)
  const answer = tryParseJson(text)
  if (!isObject(answer))
    return { kind: 'failure', failure: contentFailure('The provider sent an answer that is no JSON object.') }
  const error = format.errorIn(answer)
  if (error) return await said(error, head, expected)
  if (
    operation !== 'count-tokens' &&
    (!format.isAnswer(answer) || (!SAYS_TEXT.test(text) && (await isBlank(format, answer))))
  )
    return { kind: 'failure', failure: contentFailure('The provider sent an empty answer.') }
  return { kind: 'whole', head, bytes, json: answer, usage: format.usageOf(answer) }
}

/** Most answers have a text, in whatever format's words. */
const SAYS_TEXT = /"(?:content|text)"\s*:\s*"(?!")/

async function isBlank({ name }: UpstreamFormat, answer: JsonObject): Promise<boolean> {
  const { isBlankAnswer } = await import('../formats/blank-answer.ts')
  return isBlankAnswer(name, answer)
}

/** What an error in a 200 means. */
async function said(error: EmbeddedError, head: UpstreamAnswer, { format, clock }: Expected): Promise<FailedAttempt> {
  if (error.class) return { kind: 'failure', failure: contentFailure(error.message) }
  const { failureOfEmbedded } = await import('./failure-said.ts')
  return { kind: 'failure', failure: failureOfEmbedded(error, { head, format, now: clock.now() }), head }
}

/** As much of an error body as there is; one that is cut, silent, slow or large does not hide the status. */
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
