import type { Operation } from '../formats/endpoint.ts'
import type { TokenUsage, UpstreamFormat } from '../formats/format.ts'
import { isPromise } from '../lib/awaitable.ts'
import type { ByteStream, UpstreamAnswer, UpstreamCall } from '../lib/exchange.ts'
import type { JsonObject } from '../lib/json.ts'
import { once } from '../lib/once.ts'
import type { SseEvent } from '../lib/sse.ts'
import { type OpenedUpstream, openUpstream } from '../upstream/open.ts'
import type { Committed } from './commit.ts'
import type { PipelineContext } from './context.ts'
import { type Failure, failureOfError } from './failure.ts'
import { receiveStream } from './receive-stream.ts'
import { objectIn, readAnswer, saysEvents } from './receive-whole.ts'

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
export function startAttempt(call: UpstreamCall, expected: Expected): Attempt {
  try {
    return new StartedAttempt(openUpstream(call, expected), expected)
  } catch (thrown) {
    return { result: Promise.resolve({ kind: 'failure', failure: failureOfError(thrown) }), cancel() {} }
  }
}

class StartedAttempt implements Attempt {
  readonly result: Promise<AttemptResult>
  readonly #pending: OpenedUpstream

  constructor(pending: OpenedUpstream, expected: Expected) {
    this.#pending = pending
    this.result = receive(pending, expected)
  }

  cancel(reason: unknown): void {
    this.#pending.cancel(reason)
  }
}

/** What is asked for, by which `fetch`, and how long and how large the answer may be. */
export interface Expected extends Pick<PipelineContext, 'fetch' | 'clock' | 'limits'> {
  format: UpstreamFormat
  stream: boolean
  operation: Operation
}

const loadRefused = once(() => import('./refused.ts'))
const loadOdd = once(() => import('./odd-answers.ts'))

async function receive(pending: OpenedUpstream, expected: Expected): Promise<AttemptResult> {
  try {
    const head = await pending.answer
    if (head.status < 200 || head.status > 299) {
      pending.hurry(ERROR_BODY_MS)
      const { refused } = await loadRefused()
      return await refused(head, expected)
    }
    if (expected.stream) return await receiveStreamed(head, expected, pending)
    if (saysEvents(head)) return await (await loadOdd()).receiveUnasked(head, expected)
    const bytes = await readAnswer(head, expected)
    const received = objectIn(bytes, head, expected)
    if (!received) return await (await loadOdd()).receiveNoObject(bytes, head, expected)
    return isPromise(received) ? await received : received
  } catch (thrown) {
    pending.cancel(thrown)
    return { kind: 'failure', failure: failureOfError(thrown) }
  }
}

async function receiveStreamed(
  head: UpstreamAnswer,
  expected: Expected,
  pending: OpenedUpstream,
): Promise<AttemptResult> {
  if (!maybeStream(head)) return (await loadOdd()).receiveMislabelled(head, expected, pending)
  const received = await receiveStream(head, expected, pending)
  return 'kind' in received ? received : (await loadOdd()).receiveUncommitted(received, head, expected, pending)
}

function maybeStream(head: UpstreamAnswer): boolean {
  const mediaType = head.header('content-type')?.toLowerCase() ?? ''
  return !mediaType.includes('json') && !mediaType.includes('html')
}

/** Has the provider streamed the answer, be it an empty one? */
export function hasEvents(result: AttemptResult): boolean {
  const answer = result.kind === 'failure' ? result.blank : result
  return answer?.kind === 'whole' && answer.events !== undefined
}
