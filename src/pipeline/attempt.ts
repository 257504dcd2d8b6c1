import type { Operation } from '../formats/endpoint.ts'
import type { TokenUsage, UpstreamFormat } from '../formats/format.ts'
import type { ByteStream, UpstreamAnswer, UpstreamCall } from '../lib/exchange.ts'
import type { JsonObject } from '../lib/json.ts'
import { once } from '../lib/once.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { Clock } from '../types.ts'
import { type OpenedUpstream, openUpstream } from '../upstream/open.ts'
import { type Committed, commitStream, type NotCommitted } from './commit.ts'
import type { PipelineContext } from './context.ts'
import { type Failure, failureOfError } from './failure.ts'
import { receiveObject, receiveWhole } from './receive-whole.ts'

/** An answer for the client: whole, or a stream that has begun. */
export type Answer = WholeAnswer | StreamedAnswer

/** An answer whose stream has begun. */
export interface StreamedAnswer {
  kind: 'stream'
  head: UpstreamAnswer
  body: ByteStream
  committed: Committed
}

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

/** Error bodies are read for so long, since the status says most. */
const ERROR_BODY_MS = 5_000

/** Calls one target once. `result` never rejects: every error becomes a failure with a class. */
export function startAttempt(
  call: UpstreamCall,
  { format, stream, operation }: Pick<Expected, 'format' | 'stream' | 'operation'>,
  context: Pick<PipelineContext, 'fetch' | 'clock' | 'limits'>,
): Attempt {
  const { fetch, clock, limits } = context
  const { headersTimeoutMs, silenceTimeoutMs } = limits
  const totalTimeoutMs = stream ? headersTimeoutMs : limits.totalTimeoutMs
  try {
    const pending = openUpstream(call, { fetch, clock, headersTimeoutMs, silenceTimeoutMs, totalTimeoutMs, stream })
    const result = receive(pending, { format, stream, operation, limits, clock })
    return { result, cancel: (reason) => pending.cancel(reason) }
  } catch (thrown) {
    return { result: Promise.resolve({ kind: 'failure', failure: failureOfError(thrown) }), cancel() {} }
  }
}

/** What is asked for, and how long and how large the answer may be. */
export interface Expected {
  format: UpstreamFormat
  stream: boolean
  operation: Operation
  limits: PipelineContext['limits']
  clock: Clock
}

const loadRefused = once(() => import('./refused.ts'))

async function receive(pending: OpenedUpstream, expected: Expected): Promise<AttemptResult> {
  const { stream, limits } = expected
  try {
    let head = await pending.answer
    if (head.status < 200 || head.status > 299) {
      pending.hurry(ERROR_BODY_MS)
      const { refused } = await loadRefused()
      return await refused(head, expected)
    }
    if (!stream) return await receiveWhole(head, expected)
    if (!maybeStream(head)) {
      pending.setTotal(limits.totalTimeoutMs)
      const { peek } = await import('./mislabelled.ts')
      const { isEvents, body } = await peek(head.body, expected.format)
      head = { ...head, body }
      if (!isEvents) return await receiveObject(head, expected)
      pending.setTotal(limits.headersTimeoutMs)
    }
    return await receiveStream(head, expected, pending)
  } catch (thrown) {
    pending.cancel(thrown)
    return { kind: 'failure', failure: failureOfError(thrown) }
  }
}

async function receiveStream(
  head: UpstreamAnswer,
  expected: Expected,
  pending: OpenedUpstream,
): Promise<AttemptResult> {
  const committed = await commitStream(head.body, expected.format)
  if (!('watch' in committed)) {
    pending.cancel(committed)
    return await notCommitted(committed, head, expected, pending)
  }
  if (!committed.watch.started) {
    pending.cancel(committed)
    const { blankStream } = await import('./blank-stream.ts')
    return blankStream(head, committed)
  }
  pending.setTotal(Number.POSITIVE_INFINITY)
  return { kind: 'stream', head, body: head.body, committed }
}

/** What was no stream of events: an answer under a wrong content type, or a failure. */
async function notCommitted(
  { unread, ...error }: NotCommitted,
  head: UpstreamAnswer,
  expected: Expected,
  pending: OpenedUpstream,
): Promise<AttemptResult> {
  if (unread) {
    const { withoutEvents } = await import('./mislabelled.ts')
    const found = withoutEvents(unread, expected)
    if (found) return (found.isEvents ? receiveStream : receiveObject)({ ...head, body: found.body }, expected, pending)
  }
  const { embedded } = await loadRefused()
  return embedded(error, head, expected)
}

function maybeStream(head: UpstreamAnswer): boolean {
  const mediaType = head.header('content-type')?.toLowerCase() ?? ''
  return !mediaType.includes('json') && !mediaType.includes('html')
}
