import { startDeadline } from '../../lib/deadline.ts'
import type { Failed, ModelRequest, Outcome, Target, TargetSequence } from '../types.ts'
import { Attempt } from './attempt.ts'

/**
 * Tries a target and, where its combo hedges, the next one beside it when there is no answer within the time of 95 % of its answers. Of two
 * failures the one that it does not resolve to is noted in `targets`. Rejects only when the client no longer waits.
 */
export function attempt(request: ModelRequest, target: Target, targets: TargetSequence): Promise<Outcome> {
  const delayMs = hedgeDelay(request, target)
  const first = new Attempt(request, target)
  targets.begun()
  request.client.follows(first)
  return delayMs === undefined ? first.outcome : hedged(request, first, { delayMs, targets })
}

/** In ms; `undefined` if no combo on the route hedges, or the target's speed is unknown. */
function hedgeDelay({ call, context }: ModelRequest, { route }: Target): number | undefined {
  for (let step = route.via; step; step = step.before)
    if (step.group.hedge) return context.targetStats.p95Of(route.target, call.stream)
  return undefined
}

/** The outcome of an attempt and, if that takes longer than `delayMs`, of one beside it. */
async function hedged(
  request: ModelRequest,
  first: Attempt,
  { delayMs, targets }: { delayMs: number; targets: TargetSequence },
): Promise<Outcome> {
  return (await isSlower(request, first, delayMs)) ? attemptBeside(request, first, targets) : first.outcome
}

/** Resolves to whether the attempt has neither answered nor failed `ms` after its call was made. */
async function isSlower({ context }: ModelRequest, first: Attempt, ms: number): Promise<boolean> {
  const { outcome } = first
  await Promise.race([first.called(), outcome.catch(() => {})])
  return new Promise((resolve) => {
    const cancelDeadline = startDeadline(context.clock, ms, () => resolve(true))
    const onTime = () => {
      cancelDeadline()
      resolve(false)
    }
    outcome.then(onTime, onTime)
  })
}

/** Tries the next target beside a slow attempt. The first answer wins, and the other attempt is cancelled. */
async function attemptBeside(request: ModelRequest, first: Attempt, targets: TargetSequence): Promise<Outcome> {
  const { hedgeBudget } = request.context
  const coming = hedgeBudget.spend() ? targets.next({ hedge: true }) : undefined
  const other = coming && (await unlessAnswered(first, coming))
  if (!other) {
    if (coming) hedgeBudget.giveBack()
    return first.outcome
  }
  const second = new Attempt(request, other)
  request.client.follows({
    cancel(reason) {
      first.cancel(reason)
      second.cancel(reason)
    },
  })
  const firstDone = first.outcome.then(() => first)
  const secondDone = second.outcome.then(
    () => second,
    () => firstDone, // its credential cannot be decrypted, which does not concern the first attempt
  )
  const faster = await Promise.race([firstDone, secondDone])
  const slower = faster === first ? second : first
  const outcome = await faster.outcome
  // The first target may accept what the second refuses, and without hedging only the first would have been asked.
  const isDecided = outcome.kind === 'answered' || (faster === first && isClientsFault(outcome))
  if (isDecided) {
    slower.supersede()
    return outcome
  }
  targets.failed(outcome)
  return slower.outcome
}

const isClientsFault = ({ failure }: Failed) => failure.class === 'client'

/** The target; `undefined` if the attempt answers while the target is prepared, which takes long if media have to be fetched. */
async function unlessAnswered({ outcome }: Attempt, coming: Promise<Target | undefined>): Promise<Target | undefined> {
  const prepared = coming.then(() => false)
  const isOver = outcome.then(
    ({ kind }) => kind === 'answered' || prepared,
    () => true, // the client has left
  )
  if (!(await Promise.race([prepared, isOver]))) return coming
  coming.then(
    (late) => late?.permit.dropped(),
    () => {}, // it is not needed any more
  )
  return undefined
}
