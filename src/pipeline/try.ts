import { gatewayError } from '../errors.ts'
import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { UpstreamCall } from '../lib/exchange.ts'
import { once } from '../lib/once.ts'
import type { Route } from '../routing/group.ts'
import type { Trial } from '../routing/trial.ts'
import { type Accounts, openAccounts } from './accounts.ts'
import {
  type Answer,
  type Attempt,
  type AttemptResult,
  type FailedAttempt,
  hasEvents,
  startAttempt,
  type WholeAnswer,
} from './attempt.ts'
import type { Candidate } from './candidate.ts'
import type { ModelRequest } from './model-request.ts'
import { type Abandonable, failedBy, prepareCall } from './prepare-call.ts'
import { secretsOf } from './secrets.ts'
import type { Transform } from './transform.ts'

/**
 * A successful attempt. Tell `running` when the last byte has been sent, and `trial` how a stream has ended. What lives as long as the stream
 * must not hold it: its transform has the body of the request, which may be large.
 */
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
  running: Accounts['running']
}

/** A failed attempt. An empty answer is kept, and its trial goes on until it is known whether the client gets it. */
export interface FailedTry extends FailedAttempt {
  kept?: Success
}

/** A call to one target, which reports to the target's health and to the report. Calls that only leave out refused options belong to it. */
export interface Try {
  route: Route
  /** Rejects when the client no longer waits. */
  result: Promise<Success | FailedTry>
  cancel(reason: unknown): void
  /** Cancels it, as another attempt was faster. */
  lose(): void
}

/** Calls the target of a candidate once. Failures are results; `result` rejects only when the client no longer waits. */
export const tryCandidate = (request: ModelRequest, candidate: Candidate): Try => new TargetTry(request, candidate)

/** One call to one target. */
class TargetTry implements Try, Abandonable {
  readonly route: Route
  readonly result: Promise<Success | FailedTry>
  readonly #request: ModelRequest
  readonly #candidate: Candidate
  readonly #accounts: Accounts
  #attempt: Attempt | undefined = undefined
  #abandon: ((reason: unknown) => void) | undefined = undefined
  #isCalled = false
  #isLost = false
  #corrections = 0

  constructor(request: ModelRequest, candidate: Candidate) {
    this.#request = request
    this.#candidate = candidate
    this.route = candidate.route
    this.#accounts = openAccounts(request, candidate)
    this.result = this.#run()
  }

  cancel(reason: unknown): void {
    const { gone } = this.#request.client
    if (gone && this.#isCalled) this.#accounts.cancelled(gone) // at once, however late the call ends: the report of the request, which ends now, must have it
    this.#abandon?.(reason)
    this.#attempt?.cancel(reason)
  }

  lose(): void {
    this.#isLost = true
    if (!this.#isCalled) return // there is no call yet, and there will be none
    this.#attempt?.cancel(OUTRUN)
    this.#accounts.outrun()
  }

  unlessAbandoned<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#abandon = reject
      work.then(resolve, reject)
    })
  }

  async #run(): Promise<Success | FailedTry> {
    const request = this.#request
    const candidate = this.#candidate
    const accounts = this.#accounts
    const { client } = request
    let isAnswered = false
    try {
      const preparing = prepareCall(request, candidate, this)
      const prepared = isPromise(preparing) ? await preparing : preparing
      const end = client.gone ?? (this.#isLost && OUTRUN)
      if (end) {
        candidate.trial.dropped()
        throw end
      }
      this.#isCalled = true
      const outcome = 'failure' in prepared ? prepared : this.#outcomeOf(await this.#call(prepared), prepared)
      const result = isPromise(outcome) ? await outcome : outcome
      if (this.#isLost) throw OUTRUN
      if (client.gone) {
        accounts.cancelled(client.gone)
        throw client.gone
      }
      accounts.settled(result)
      isAnswered = result.kind === 'success'
      return result
    } finally {
      if (!isAnswered) accounts.running.ended()
    }
  }

  #call(upstream: UpstreamCall): Promise<AttemptResult> {
    const { context, call } = this.#request
    const { fetch, clock, limits } = context
    const { format, operation = call.endpoint.operation, next } = this.#candidate.transform
    this.#attempt = startAttempt(upstream, {
      ...{ format, operation, fetch, clock, limits },
      stream: call.stream && !next,
    })
    return this.#attempt.result
  }

  /** What the target has answered, in the client's format. */
  #outcomeOf(result: AttemptResult, upstream: UpstreamCall): Awaitable<Success | FailedTry> {
    const { transform } = this.#candidate
    if (transform.next && result.kind === 'whole') return this.#outcomeAfter(result, transform.next)
    const { stream } = this.#request.call
    const isOdd = stream ? result.kind === 'whole' : transform.isVerbatim && hasEvents(result)
    if (result.kind === 'failure' || isOdd) return this.#oddOutcomeOf(result, upstream)
    try {
      return this.success({ answer: result, transform, upstream })
    } catch (thrown) {
      return failedBy(thrown)
    }
  }

  /** The outcome of the call that could only be made with an answer to another one. */
  async #outcomeAfter(answer: WholeAnswer, next: NonNullable<Transform['next']>): Promise<Success | FailedTry> {
    try {
      this.#candidate.transform = await next(answer)
      if (this.#isLost || this.#request.client.gone) throw gatewayError('CLIENT_CLOSED_REQUEST')
      return await this.#outcomeAgain()
    } catch (thrown) {
      return failedBy(thrown)
    }
  }

  /** The outcome of a further call, by the transform that the candidate has now. */
  async #outcomeAgain(): Promise<Success | FailedTry> {
    const prepared = await prepareCall(this.#request, this.#candidate, this)
    return 'failure' in prepared ? prepared : this.#outcomeOf(await this.#call(prepared), prepared)
  }

  async #oddOutcomeOf(result: AttemptResult, upstream: UpstreamCall): Promise<Success | FailedTry> {
    try {
      const corrected = result.kind === 'failure' ? await this.#outcomeWithoutRefused(result) : undefined
      if (corrected) return corrected
      const { oddOutcome } = await loadOddOutcome()
      if (result.kind === 'failure' && this.#candidate.transform.next) delete result.blank // it is no answer to the client
      return await oddOutcome(result, { request: this.#request, candidate: this.#candidate, upstream, attempt: this })
    } catch (thrown) {
      return failedBy(thrown)
    }
  }

  /** The outcome of a call without the options that the target has refused, if those may be left out. */
  async #outcomeWithoutRefused(failed: FailedAttempt): Promise<Success | FailedTry | undefined> {
    const request = this.#request
    const candidate = this.#candidate
    const { withoutRefused } = candidate.transform
    if (!withoutRefused || this.#corrections === MAX_CORRECTIONS) return undefined
    this.#corrections += 1
    const transform = await this.unlessAbandoned(withoutRefused(failed))
    if (!transform || this.#isLost || request.client.gone) return undefined
    candidate.transform = transform
    return this.#outcomeAgain()
  }

  /** The success that an answer is. Throws when it cannot be read. */
  success({ answer, transform, upstream, isUnread }: Answered): Success {
    const { route } = this
    const { running } = this.#accounts
    const { trial } = this.#candidate
    const bytes = answer.kind === 'whole' && !isUnread ? transform.whole(answer) : undefined
    const secrets = secretsOf(upstream) // what comes later may quote them, too
    return { kind: 'success', route, transform, answer, bytes, secrets, trial, running }
  }
}

/** An answer, and what it is read with. */
export interface Answered extends Pick<Success, 'answer' | 'transform'> {
  upstream: UpstreamCall
  /** Is it not known yet whether it will be read? */
  isUnread?: true
}

/** How often one attempt leaves out what its target has refused: some targets name one field at a time. */
const MAX_CORRECTIONS = 3

/** The reason by which a slower attempt is cancelled; it is never reported. */
const OUTRUN = Symbol('outrun')

const loadOddOutcome = once(() => import('./odd-outcome.ts'))
