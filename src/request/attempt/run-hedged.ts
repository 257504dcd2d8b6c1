import { startDeadline } from '../../lib/deadline.ts'
import type { ModelRequest } from '../model-request.ts'
import type { Outcome } from '../outcome.ts'
import type { Attempt } from './attempt.ts'
import { createHedge, type Hedge, type HedgeSettings } from './hedge.ts'

/**
 * Returns the outcome of an attempt and, if that attempt is slow, of a second one in parallel. Rejects if the client stops waiting, or on an
 * unexpected error.
 */
export async function runHedged(first: Attempt, request: ModelRequest, settings: HedgeSettings): Promise<Outcome> {
  const hedge = createHedge(request, first.route, settings)
  const running = first.run()
  if (!hedge) return running
  const isSlow = await isSlower(first, running, hedge)
  return isSlow ? hedgeSlowAttempt(first, running, hedge) : running
}

/** Resolves to whether the attempt has neither succeeded nor failed within the delay after its provider was called. */
async function isSlower(first: Attempt, running: Promise<Outcome>, { clock, delayMs }: Hedge): Promise<boolean> {
  await Promise.race([first.waitForCall(), running.catch(() => {})])
  return new Promise((resolve) => {
    const cancelDeadline = startDeadline(clock, delayMs, () => resolve(true))
    const onTime = () => {
      cancelDeadline()
      resolve(false)
    }
    running.then(onTime, onTime)
  })
}

/** Makes a second attempt in parallel with a slow one. The first response wins, and the other attempt is canceled. */
async function hedgeSlowAttempt(first: Attempt, running: Promise<Outcome>, hedge: Hedge): Promise<Outcome> {
  const { budget } = hedge
  if (!budget.spend()) return running
  const second = await waitUnlessAnswered(running, startSecondAttempt(hedge))
  if (!second) {
    budget.refund()
    return running
  }
  const secondRun = second.run()
  const firstDone = running.then((outcome) => ({ outcome, slower: second, other: secondRun, isFirst: true }))
  const secondDone = secondRun.then(
    (outcome) => ({ outcome, slower: first, other: running, isFirst: false }),
    () => firstDone, // the client has disconnected, so the first attempt also rejects
  )
  const { outcome, slower, other, isFirst } = await Promise.race([firstDone, secondDone])
  // The first target may accept what the second one rejects, and without hedging, only the first would have been called.
  const isDecided =
    outcome.kind === 'answered' || (isFirst && outcome.kind === 'failed' && hedge.endsAt(outcome.failure))
  if (isDecided) {
    slower.supersede()
    return outcome
  }
  if (!isFirst && outcome.kind === 'rejected') budget.refund()
  await hedge.recordOutcome(outcome)
  return other
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
  running: Promise<Outcome>,
  coming: Promise<Attempt | undefined>,
): Promise<Attempt | undefined> {
  const prepared = coming.then(() => false)
  const runFinished = running.then(
    ({ kind }) => kind === 'answered' || prepared,
    () => true, // the client has disconnected
  )
  if (!(await Promise.race([prepared, runFinished]))) return coming
  void coming.then((late) => late?.drop())
  return undefined
}
