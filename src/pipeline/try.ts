import { isPromise } from '../lib/awaitable.ts'
import type { UpstreamCall } from '../lib/exchange.ts'
import { once } from '../lib/once.ts'
import type { Route } from '../routing/group.ts'
import type { Trial } from '../routing/health.ts'
import { openAccounts } from './accounts.ts'
import { type Answer, type Attempt, type AttemptResult, type FailedAttempt, startAttempt } from './attempt.ts'
import type { Candidate } from './candidate.ts'
import type { ModelRequest } from './model-request.ts'
import { type Abandonable, failedBy, prepareCall } from './prepare-call.ts'
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
export function tryCandidate(request: ModelRequest, candidate: Candidate): Try {
  const { call, context, client } = request
  const { route, trial } = candidate
  const accounts = openAccounts(request, candidate)
  const { ended } = accounts
  let attempt: Attempt | undefined
  let abandon: ((reason: unknown) => void) | undefined
  let isCalled = false
  let isLost = false

  const abandonable: Abandonable = (work) =>
    new Promise((resolve, reject) => {
      abandon = reject
      work.then(resolve, reject)
    })

  /** What the target answers, in the client's format. */
  async function callTarget(upstream: UpstreamCall): Promise<Success | FailedTry> {
    let { transform } = candidate
    const { target } = route
    try {
      const { stream, endpoint } = call
      const secrets = stream ? secretsOf(upstream) : NONE // what comes later may quote them, too
      attempt = startAttempt(upstream, { format: transform.format, stream, operation: endpoint.operation }, context)
      const result = await attempt.result
      if (!stream && transform.isVerbatim && hasEvents(result))
        transform = await (await import('./gathered.ts')).gathered(request, { target, transform })
      if (result.kind !== 'failure') {
        let bytes: Uint8Array | undefined
        if (result.kind === 'whole') {
          // Some providers send a whole answer where a stream was asked for.
          if (stream)
            transform = await (await import('./whole-as-stream.ts')).wholeAsStream(request, { target, transform })
          bytes = transform.whole(result)
        }
        return { kind: 'success', route, transform, answer: result, bytes, secrets, trial, ended }
      }
      const known = await abandonable(context.knownKeys())
      const failed = transform.failed(await withoutSecrets(result, route, [...secretsOf(upstream), ...known]))
      const { blank: answer } = failed
      if (!answer) return failed
      return { ...failed, kept: { kind: 'success', route, transform, answer, bytes: undefined, secrets, trial, ended } }
    } catch (thrown) {
      return failedBy(thrown)
    }
  }

  async function run(): Promise<Success | FailedTry> {
    const preparing = prepareCall(request, candidate, abandonable)
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
      accounts.cancelled(client.gone)
      throw client.gone
    }
    accounts.settled(result)
    return result
  }

  const result = run()
  result.then(({ kind }) => kind === 'failure' && ended(), ended)
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
      accounts.outrun()
    },
  }
}

const NONE: readonly string[] = []

/** The reason by which a slower attempt is cancelled; it is never reported. */
const OUTRUN = Symbol('outrun')

/** Has the provider streamed the answer, be it an empty one? */
function hasEvents(result: AttemptResult): boolean {
  const answer = result.kind === 'failure' ? result.blank : result
  return answer?.kind === 'whole' && answer.events !== undefined
}

const loadRedact = once(() => import('./redact.ts'))

async function withoutSecrets(
  failed: FailedAttempt,
  { target }: Route,
  secrets: readonly string[],
): Promise<FailedAttempt> {
  const { redact } = await loadRedact()
  return redact(failed, { provider: target.provider, secrets })
}
