import type { GatewayError } from '../errors.ts'
import { isPromise } from '../lib/awaitable.ts'
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
   * The next candidate; `undefined` when there is none, the client is at fault, or the attempts or the retry budget are used up. Cooling
   * targets are skipped; when all are cooling, the one that recovers first is used, by one request at a time. A hedge never uses a cooling
   * target, and does not count against the retry budget.
   */
  next(options?: { hedge?: boolean }): Promise<Candidate | undefined>
  failed(route: Route, result: FailedTry): void
  /** The last failure of each target that was tried. */
  readonly failures: readonly FailedTarget[]
  /** The routes that have failed, or are cooling and were passed over. */
  unwell(): Route[]
  /**
   * Why there is no next candidate: `stop` when attempts or retries were used up, and `untried`, the first route that no attempt was left
   * for; `refusal`, the first target whose format cannot carry the request; `cooling`, the targets that were passed over for it.
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
}

/** Avoids promises where the result is there already: most requests have one route, and need no translation. */
export function createAttemptPlan(nextRoute: NextRoute, request: ModelRequest): AttemptPlan {
  const { context, report, client } = request
  const { limits, retryBudget } = context
  const progress = noProgress(request)
  const { tried, failures, cooling } = progress
  const spares: Route[] = [] // left aside to keep the last attempt for another
  let attempts = 0 // in which somebody was called
  let repeats = 0
  let isLast = false // one that is cooling was tried for want of another
  let stop: Stop | undefined
  let untried: Route | undefined

  /** The next target that is not passed over. The last attempt is kept for one that is not more of the same, if there is one. */
  async function nextCandidate(): Promise<Candidate | undefined> {
    const isLastAttempt = attempts > 0 && attempts === limits.maxAttempts - 1
    for (;;) {
      const next = nextRoute()
      const route = isPromise(next) ? await client.unlessGone(next) : next
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
      const found = isPromise(candidate) ? await candidate : candidate
      if (!found) continue
      for (const spare of spares.splice(0)) report.skipped(spare, failures.at(-1)?.failure.class ?? 'credentials')
      return found
    }
  }

  /** When no other target is left: one that was tried before, or, when none was, one that is cooling. */
  async function lastResort(): Promise<Candidate | undefined> {
    if (isLast || (attempts === 0 && cooling.length === 0)) return undefined
    const { lastCandidate, candidateAgain } = await import('./last-candidates.ts')
    if (attempts > 0) return candidateAgain(progress, { times: repeats++, mayRetry })
    isLast = true
    return lastCandidate(progress)
  }

  function mayRetry(): boolean {
    if (!retryBudget.spend()) stop = 'retry-budget'
    return !stop
  }

  /** The candidate, if the retry budget has an attempt left for it; the first one needs none. */
  function affordable(candidate: Candidate): Candidate | undefined {
    if (attempts === 0 || mayRetry()) return candidate
    candidate.trial.dropped()
    return undefined
  }

  /** Was there another target? */
  async function outOfAttempts(): Promise<undefined> {
    do untried = spares.shift() ?? (await nextRoute())
    while (untried && isAmong(tried, untried.target))
    if (untried) stop = 'max-attempts'
  }

  return {
    failures,
    unwell: () => [...failures, ...cooling].map(({ route }) => route),
    verdict: () => ({
      stop,
      untried,
      refusal: progress.refusal,
      cooling,
    }),
    async next({ hedge = false } = {}) {
      if (stop || failures.some(isClientsFault)) return undefined
      if (attempts >= limits.maxAttempts) return hedge ? undefined : outOfAttempts()
      const found = await nextCandidate()
      const candidate = hedge ? found : found ? affordable(found) : await lastResort()
      if (!candidate) return undefined
      attempts += 1
      tried.push(candidate.route.target)
      return candidate
    },
    failed(route, result) {
      noteFailure(route, result, progress)
      if (result.failure === unreadableCredential) attempts -= 1
    },
  }
}

const isClientsFault = ({ failure }: FailedTarget) => failure.class === 'client'
