import type { GatewayError } from '../errors.ts'
import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { NextRoute } from '../routing/follow.ts'
import type { Route } from '../routing/group.ts'
import { type Candidate, candidateOf } from './candidate.ts'
import { unreadableCredential } from './failure.ts'
import type { ModelRequest } from './model-request.ts'
import {
  type FailedTarget,
  isAmong,
  isMoreOfTheSame,
  isPassedOver,
  noProgress,
  noteFailure,
  type Progress,
} from './progress.ts'
import type { FailedTry } from './try.ts'

/** Which target to try next, given the outcomes so far. */
export interface AttemptPlan {
  /**
   * The next candidate, or throws what looking for it came upon; `undefined` when there is none, the client is at fault, or the attempts or
   * the retry budget are used up. Cooling targets come after all others, the one that recovers first before the rest; those whose cooldown
   * is firm only when nothing was tried, and by one request at a time. A hedge never uses a cooling target, and does not count against the
   * retry budget.
   */
  next(options?: { hedge: boolean }): Awaitable<Candidate | undefined>
  failed(route: Route, result: FailedTry): void
  /** The last failure of each target that was tried. */
  readonly failures: readonly FailedTarget[]
  /** The routes that have failed, or were passed over as they are cooling or draining. */
  unwell(): Route[]
  /**
   * Why there is no next candidate: `stop` when attempts or retries were used up, and `untried`, the first route that no attempt was left
   * for; `refusal`, the first target whose format cannot carry the request; `cooling` and `draining`, the targets that were passed over
   * as they cool or their connections drain.
   */
  verdict(): Verdict
}

/** Why no other target was tried though there was one. */
export type Stop = 'max-attempts' | 'retry-budget'

/** See `AttemptPlan`. */
export interface Verdict {
  stop: Stop | undefined
  untried: Route | undefined
  refusal: GatewayError | undefined
  cooling: Progress['cooling']
  draining: Progress['draining']
}

/** Avoids promises where the result is there already: most requests have one route, and need no translation. */
export const createAttemptPlan = (
  nextRoute: NextRoute,
  request: ModelRequest,
  isPinned: Progress['isPinned'],
): AttemptPlan => new RequestPlan(nextRoute, noProgress(request, isPinned))

/** The plan of one request. */
class RequestPlan implements AttemptPlan {
  readonly #nextRoute: NextRoute
  readonly #progress: Progress
  readonly #spares: Route[] = [] // left aside to keep the last attempt for another
  #attempts = 0 // in which a provider was called
  #repeats = 0
  #isCooling = false // the targets that are left are cooling, or were tried
  #isLast = false // a target whose cooldown is firm was tried, since no other was left
  #again: Route | undefined = undefined // whose target cannot compact, so that the gateway does it in the next attempt
  #stop: Stop | undefined = undefined
  #untried: Route | undefined = undefined

  constructor(nextRoute: NextRoute, progress: Progress) {
    this.#nextRoute = nextRoute
    this.#progress = progress
  }

  get failures(): readonly FailedTarget[] {
    return this.#progress.failures
  }

  unwell(): Route[] {
    const { failures, cooling, draining } = this.#progress
    return [...[...failures, ...cooling].map(({ route }) => route), ...draining]
  }

  verdict(): Verdict {
    const { refusal, cooling, draining } = this.#progress
    return { stop: this.#stop, untried: this.#untried, refusal, cooling, draining }
  }

  next({ hedge } = NO_HEDGE): Awaitable<Candidate | undefined> {
    const { failures, request } = this.#progress
    if (this.#stop || failures.some(isClientsFault)) return undefined
    if (this.#attempts >= request.context.limits.maxAttempts) return hedge ? undefined : this.#outOfAttempts()
    const found = this.#again ? this.#candidateAgain(this.#again) : this.#candidateFrom(this.#nextRoute())
    return isPromise(found) ? this.#affordedLater(found, hedge) : this.#afforded(found, hedge)
  }

  failed(route: Route, result: FailedTry): void {
    if (result.failure.isUncompacted) {
      this.#progress.request.context.compactions.noteLacking(route.target)
      this.#again = route
      this.#attempts -= 1
      return
    }
    noteFailure(route, result, this.#progress)
    if (result.failure === unreadableCredential) this.#attempts -= 1
  }

  async #candidateAgain(route: Route): Promise<Candidate | undefined> {
    this.#again = undefined
    return (await candidateOf(route, this.#progress)) ?? this.#candidateFrom(this.#nextRoute())
  }

  async #affordedLater(coming: Promise<Candidate | undefined>, hedge: boolean): Promise<Candidate | undefined> {
    return this.#afforded(await coming, hedge)
  }

  #afforded(found: Candidate | undefined, hedge: boolean): Awaitable<Candidate | undefined> {
    if (!found) return hedge ? undefined : this.#lastCounted()
    return this.#counted(hedge ? found : this.#affordable(found))
  }

  async #lastCounted(): Promise<Candidate | undefined> {
    return this.#counted(await this.#lastResort())
  }

  #counted(candidate: Candidate | undefined): Candidate | undefined {
    if (!candidate) return undefined
    const progress = this.#progress
    this.#attempts += 1
    progress.tried = [...progress.tried, candidate.route.target]
    return candidate
  }

  /**
   * The first target from `pulled` on that is not passed over. The last attempt is kept for one that is not more of the same, if there is
   * one.
   */
  #candidateFrom(pulled: Awaitable<Route | undefined>): Awaitable<Candidate | undefined> {
    const progress = this.#progress
    const spares = this.#spares
    const { request } = progress
    const isLastAttempt = this.#attempts > 0 && this.#attempts === request.context.limits.maxAttempts - 1
    for (let route = pulled; ; route = this.#nextRoute()) {
      if (isPromise(route)) return this.#afterRoute(request.client.unlessGone(route))
      if (!route) {
        const spare = spares.shift()
        return spare && candidateOf(spare, progress)
      }
      if (isPassedOver(route, progress)) continue
      if (isLastAttempt && isMoreOfTheSame(route.target, progress)) {
        spares.push(route)
        continue
      }
      const candidate = candidateOf(route, progress)
      if (isPromise(candidate)) return this.#afterTransform(candidate)
      if (candidate !== undefined) return this.#inPlaceOfSpares(candidate)
    }
  }

  async #afterRoute(coming: Promise<Route | undefined>): Promise<Candidate | undefined> {
    return this.#candidateFrom(await coming)
  }

  async #afterTransform(coming: Promise<Candidate | undefined>): Promise<Candidate | undefined> {
    const candidate = await coming
    return candidate ? this.#inPlaceOfSpares(candidate) : this.#candidateFrom(this.#nextRoute())
  }

  /** The candidate, in place of those left aside for it. */
  #inPlaceOfSpares(candidate: Candidate): Candidate {
    const { request, failures } = this.#progress
    for (let spare = this.#spares.shift(); spare; spare = this.#spares.shift())
      request.report.skipped(spare, failures.at(-1)?.failure.class ?? 'credentials')
    return candidate
  }

  /** When no other target is left: one that is cooling, else one that was tried before. */
  async #lastResort(): Promise<Candidate | undefined> {
    const progress = this.#progress
    const attempts = this.#attempts
    if (this.#isLast || (attempts === 0 && progress.cooling.length === 0)) return undefined
    const { coolingCandidate, lastCandidate, candidateAgain } = await import('./last-candidates.ts')
    const cooling = await coolingCandidate(progress)
    if (cooling) {
      this.#isCooling = true
      return this.#affordable(cooling)
    }
    const mayRetry = () => this.#mayRetry()
    if (attempts > 0) return candidateAgain(progress, { times: this.#repeats++, mayRetry })
    this.#isLast = true
    return lastCandidate(progress)
  }

  #mayRetry(): boolean {
    if (!this.#progress.request.context.retryBudget.spend({ isCooling: this.#isCooling })) this.#stop = 'retry-budget'
    return !this.#stop
  }

  /** The candidate, if the retry budget has an attempt left for it; the first one needs none. */
  #affordable(candidate: Candidate): Candidate | undefined {
    if (this.#attempts === 0 || this.#mayRetry()) return candidate
    candidate.trial.dropped()
    return undefined
  }

  /** Was there another target? */
  async #outOfAttempts(): Promise<undefined> {
    const progress = this.#progress
    const spares = this.#spares
    do this.#untried = spares.shift() ?? (await this.#nextRoute())
    while (this.#untried && isAmong(progress.tried, this.#untried.target))
    if (this.#untried) this.#stop = 'max-attempts'
  }
}

const NO_HEDGE = { hedge: false }

const isClientsFault = ({ failure }: FailedTarget) => failure.class === 'client'
