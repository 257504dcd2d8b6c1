import { startDeadline } from '../../lib/deadline.ts'
import type { ModelRequest } from '../model-request.ts'
import type { Outcome } from '../outcome.ts'
import type { Attempt } from './attempt.ts'
import { createHedge, type Hedge, type HedgeSettings } from './hedge.ts'

/**
 * Returns the outcome of an attempt and, if that attempt is slow, of a second one in parallel. Rejects if the client stops waiting, or on an
 * unexpected error.
 */
export async function runHedged(
  firstAttempt: Attempt,
  request: ModelRequest,
  settings: HedgeSettings,
): Promise<Outcome> {
  const hedge = createHedge(request, firstAttempt.route, settings)
  const firstRun = firstAttempt.run()
  if (!hedge) return firstRun
  const isSlow = await isSlower(firstAttempt, firstRun, hedge)
  return isSlow ? hedgeSlowAttempt(firstAttempt, firstRun, hedge) : firstRun
}

/** Resolves to whether the attempt has neither succeeded nor failed within the delay after its provider was called. */
async function isSlower(
  firstAttempt: Attempt,
  firstRun: Promise<Outcome>,
  { clock, delayMs }: Hedge,
): Promise<boolean> {
  await Promise.race([firstAttempt.waitForCall(), firstRun.catch(() => {})])
  return new Promise((resolve) => {
    const cancelDeadline = startDeadline(clock, delayMs, () => resolve(true))
    const onTime = () => {
      cancelDeadline()
      resolve(false)
    }
    firstRun.then(onTime, onTime)
  })
}

/** Makes a second attempt in parallel with a slow one. The first response wins, and the other attempt is canceled. */
async function hedgeSlowAttempt(firstAttempt: Attempt, firstRun: Promise<Outcome>, hedge: Hedge): Promise<Outcome> {
  const { budget } = hedge
  if (!budget.spend()) return firstRun
  const secondAttempt = await waitUnlessAnswered(firstRun, startSecondAttempt(hedge))
  if (!secondAttempt) {
    budget.refund()
    return firstRun
  }
  const secondRun = secondAttempt.run()
  const firstDone = firstRun.then((outcome) => ({
    outcome,
    slowerAttempt: secondAttempt,
    otherRun: secondRun,
    isFirst: true,
  }))
  const secondDone = secondRun.then(
    (outcome) => ({ outcome, slowerAttempt: firstAttempt, otherRun: firstRun, isFirst: false }),
    () => firstDone, // the client has disconnected, so the first attempt also rejects
  )
  const { outcome, slowerAttempt, otherRun, isFirst } = await Promise.race([firstDone, secondDone])
  // The first target may accept what the second one rejects, and without hedging, only the first would have been called.
  const isDecided =
    outcome.kind === 'answered' || (isFirst && outcome.kind === 'failed' && hedge.isFinalFailure(outcome.failure))
  if (isDecided) {
    slowerAttempt.supersede()
    return outcome
  }
  if (!isFirst && outcome.kind === 'rejected') budget.refund()
  await hedge.recordOutcome(outcome)
  return otherRun
}

/** Returns the attempt at another target, or `undefined` if the gateway fails to prepare it, because the first attempt must continue. */
async function startSecondAttempt({ next, onError }: Hedge): Promise<Attempt | undefined> {
  try {
    return await next()
  } catch (error) {
    onError(error)
    return undefined
  }
}

/**
 * Returns the second attempt, or `undefined` if the first gets a response while the second is being prepared, which takes a long time if media must
 * be downloaded.
 */
async function waitUnlessAnswered(
  firstRun: Promise<Outcome>,
  secondAttemptPromise: Promise<Attempt | undefined>,
): Promise<Attempt | undefined> {
  const prepared = secondAttemptPromise.then(() => false)
  const runFinished = firstRun.then(
    ({ kind }) => kind === 'answered' || prepared,
    () => true, // the client has disconnected
  )
  if (!(await Promise.race([prepared, runFinished]))) return secondAttemptPromise
  void secondAttemptPromise.then((lateAttempt) => lateAttempt?.drop())
  return undefined
}
