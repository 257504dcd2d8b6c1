import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { UpstreamCall } from '../lib/exchange.ts'
import type { Route } from '../routing/group.ts'
import type { Trial } from '../routing/health.ts'
import { upstreamCall } from '../upstream/request.ts'
import {
  type Answer,
  type Attempt,
  type AttemptResult,
  type FailedAttempt,
  startAttempt,
  type WholeAnswer,
} from './attempt.ts'
import type { Candidate } from './candidate.ts'
import { failureOfError, unreadableCredential } from './failure.ts'
import type { ModelRequest } from './model-request.ts'
import { secretsOf } from './secrets.ts'
import type { Transform } from './transform.ts'

/** A successful attempt. Call `ended` when the last byte has been sent, and tell `trial` how a stream has ended. */
export interface Success {
  kind: 'success'
  route: Route
  transform: Transform
  answer: Answer
  /** The bytes of a whole answer, in the client's format. */
  bytes: Uint8Array | undefined
  /** The credentials of the call, which must not reach the client. */
  secrets: readonly string[]
  trial: Trial
  ended(): void
}

/** A failed attempt. An empty answer is kept, and its trial goes on until it is known whether the client gets it. */
export interface FailedTry extends FailedAttempt {
  kept?: Success
}

/** A call to one target, which reports to the target's health and to the report. */
export interface Try {
  route: Route
  /** Rejects when the client no longer waits. */
  result: Promise<Success | FailedTry>
  cancel(reason: unknown): void
  /** Cancels it, as another attempt was faster. */
  lose(): void
}

/** Calls the target of a candidate once. Failures are results; `result` rejects only when the client no longer waits. */
export function tryCandidate(request: ModelRequest, { route, transform: chosen, trial }: Candidate): Try {
  const { call, context, report, client } = request
  const { target } = route
  const begun = report.begin()
  const running = context.targetStats.begin(target, call.stream)
  let transform = chosen
  let attempt: Attempt | undefined
  let abandon: ((reason: unknown) => void) | undefined
  let bytes: Uint8Array | undefined
  let secrets: readonly string[] = []
  let isCalled = false
  let isLost = false
  let isTold = false

  async function callTarget(upstream: UpstreamCall): Promise<AttemptResult> {
    try {
      const { stream, endpoint } = call
      if (stream) secrets = secretsOf(upstream) // what comes later may quote them, too
      attempt = startAttempt(upstream, { format: transform.format, stream, operation: endpoint.operation }, context)
      const result = await attempt.result
      if (!stream && transform.isVerbatim && hasEvents(result))
        transform = await (await import('./gathered.ts')).gathered(request, { target, transform })
      if (result.kind === 'whole') bytes = stream ? await streamOf(result) : transform.whole(result)
      if (result.kind !== 'failure') return result
      const { redact } = await import('./redact.ts')
      const known = await abandonable(context.knownKeys())
      return transform.failed(
        redact(result, { provider: target.provider, secrets: [...secretsOf(upstream), ...known] }),
      )
    } catch (thrown) {
      return failed(thrown)
    }
  }

  /** Some providers send a whole answer where a stream was asked for. */
  async function streamOf(answer: WholeAnswer): Promise<Uint8Array> {
    const { wholeAsStream } = await import('./whole-as-stream.ts')
    return wholeAsStream(request, answer, target)
  }

  function failed(thrown: unknown): FailedAttempt {
    const failure = failureOfError(thrown)
    if (failure.class === 'internal') context.observer.onError(thrown)
    return { kind: 'failure', failure }
  }

  /** The result of the work; rejects when the attempt is cancelled first. */
  const abandonable = <T>(work: Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      abandon = reject
      work.then(resolve, reject)
    })

  /** The call with its credential; one that cannot be decrypted is a failure of the connection. */
  function prepare(): Awaitable<UpstreamCall | FailedAttempt> {
    const apiKey = context.apiKeyOf(target.connection)
    if (!isPromise(apiKey)) return callWith(apiKey)
    return abandonable(apiKey).then(callWith, (thrown: unknown): FailedAttempt => {
      if (!client.gone) context.observer.onError(thrown)
      return { kind: 'failure', failure: unreadableCredential }
    })
  }

  function callWith(apiKey: string | undefined): Awaitable<UpstreamCall | FailedAttempt> {
    try {
      const { cloud } = target
      if (!cloud) return upstreamCall(target, apiKey, transform.ask)
      const made = context.cloudCall(transform.ask, { cloud, target, apiKey, fetch: context.fetch })
      return abandonable(made).catch(failed)
    } catch (thrown) {
      return failed(thrown)
    }
  }

  async function outcome(): Promise<Success | FailedTry> {
    const preparing = prepare()
    const prepared = isPromise(preparing) ? await preparing : preparing
    const end = client.gone ?? (isLost && OUTRUN)
    if (end) {
      trial.dropped()
      throw end
    }
    isCalled = true
    const result = 'failure' in prepared ? prepared : await callTarget(prepared)
    if (isLost) throw OUTRUN
    if (client.gone) {
      trial.dropped()
      report.attempted(route, begun, { outcome: 'cancelled', status: client.gone.status })
      throw client.gone
    }
    isTold = true
    if (result.kind !== 'failure') {
      if (result.kind === 'stream') trial.begun()
      else trial.answered()
      running.answeredAfter(context.clock.now() - begun.at)
      report.attempted(route, begun, { outcome: 'answered', status: result.head.status })
      return { kind: 'success', route, transform, answer: result, bytes, secrets, trial, ended: running.ended }
    }
    const { blank } = result
    if (result.failure.class === 'internal') trial.dropped()
    else if (!blank) trial.failed(result.failure)
    const { class: outcome, status, message } = result.failure
    const upstreamStatus =
      outcome === 'content' ? result.head?.status || 200 : (result.failure.upstreamStatus ?? status)
    report.attempted(route, begun, { outcome, status: upstreamStatus, message })
    const { ended } = running
    return blank
      ? { ...result, kept: { kind: 'success', route, transform, answer: blank, bytes, secrets, trial, ended } }
      : result
  }

  const result = outcome()
  result.then(({ kind }) => kind === 'failure' && running.ended(), running.ended)
  return {
    route,
    result,
    cancel(reason) {
      abandon?.(reason)
      attempt?.cancel(reason)
    },
    lose() {
      isLost = true
      if (!isCalled) return // there is no call yet, and there will be none
      attempt?.cancel(OUTRUN)
      running.ended()
      trial.dropped()
      if (isTold) return // it has come to its end at the same moment
      running.answeredAfter(context.clock.now() - begun.at) // at least, or slow answers would count less the more of them there are
      report.attempted(route, begun, { outcome: 'outrun', status: 499 })
    },
  }
}

/** The reason by which a slower attempt is cancelled; it is never reported. */
const OUTRUN = Symbol('outrun')

/** Has the provider streamed the answer, be it an empty one? */
function hasEvents(result: AttemptResult): boolean {
  const answer = result.kind === 'failure' ? result.blank : result
  return answer?.kind === 'whole' && answer.events !== undefined
}
