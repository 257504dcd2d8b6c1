import type { GatewayError } from '../errors.ts'
import type { Run } from '../routing/target-stats.ts'
import type { Candidate } from './candidate.ts'
import type { ModelRequest } from './model-request.ts'
import type { AttemptEnd, Begun } from './report.ts'
import type { FailedTry, Success } from './try.ts'

/** Tells what has become of one attempt to the target's health, to its statistics and to the report of the request. */
export interface Accounts {
  /** The health hears of an empty answer when it is known whether the client gets it. */
  settled(result: Success | FailedTry): void
  /** The client no longer waits. Does nothing when the attempt has been told of already. */
  cancelled(why: GatewayError): void
  /** Another attempt was faster. */
  outrun(): void
  /** Call `ended` when the target is no longer busy with it: the last byte has been sent, or there is none to send. */
  readonly running: Pick<Run, 'ended'>
}

/** Opens the accounts of an attempt that begins. */
export const openAccounts = (request: ModelRequest, candidate: Candidate): Accounts =>
  new AttemptAccounts(request, candidate)

/** The accounts of one attempt. */
class AttemptAccounts implements Accounts {
  readonly #request: ModelRequest
  readonly #candidate: Candidate
  readonly #begun: Begun
  readonly running: Run
  #isSettled = false

  constructor(request: ModelRequest, candidate: Candidate) {
    const { call, context, report } = request
    this.#request = request
    this.#candidate = candidate
    this.#begun = report.begin()
    this.running = context.targetStats.begin(candidate.route.target, call.stream)
  }

  settled(result: Success | FailedTry): void {
    const { trial } = this.#candidate
    this.#isSettled = true
    if (result.kind === 'success') {
      const { kind, head } = result.answer
      if (kind === 'stream') trial.begun()
      else trial.answered()
      this.#measure()
      this.#tell({ outcome: 'answered', status: head.status })
      return
    }
    const { failure, head, blank } = result
    if (failure.class === 'internal') {
      trial.dropped()
      this.#request.context.observer.onError(failure.cause)
    } else if (!blank) trial.failed({ ...failure, owner: this.#request.owner })
    const { class: outcome, message, upstreamStatus = failure.status } = failure
    const status = outcome === 'content' ? head?.status || 200 : upstreamStatus
    this.#tell({ outcome, status, message })
  }

  cancelled({ status }: GatewayError): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#candidate.trial.dropped()
    this.#tell({ outcome: 'cancelled', status })
  }

  outrun(): void {
    this.running.ended()
    this.#candidate.trial.dropped()
    if (this.#isSettled) return // it has come to its end at the same moment
    this.#isSettled = true
    this.#measure() // at least, or slow answers would count less the more of them there are
    this.#tell({ outcome: 'outrun', status: 499 })
  }

  #measure(): void {
    this.running.answeredAfter(this.#request.context.clock.now() - this.#begun.at)
  }

  #tell(end: AttemptEnd): void {
    this.#request.report.attempted(this.#candidate.route, this.#begun, end)
  }
}
