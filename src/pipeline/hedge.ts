import { startDeadline } from '../lib/deadline.ts'
import type { AttemptPlan } from './attempt-plan.ts'
import type { Candidate } from './candidate.ts'
import type { ModelRequest } from './model-request.ts'
import { type FailedTry, type Success, type Try, tryCandidate } from './try.ts'

/** Waits for an attempt, and tries the next target beside it when there is no answer within `delayMs`; see `tryFrom`. */
export async function tryHedged(
  request: ModelRequest,
  first: Try,
  plan: AttemptPlan,
  delayMs: number,
): Promise<Success | FailedTry | undefined> {
  return (await isSlower(request, first, delayMs)) ? tryBeside(request, first, plan) : first.result
}

/** Resolves to whether the attempt has neither answered nor failed after `ms`. */
function isSlower({ context }: ModelRequest, { result }: Try, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const cancelDeadline = startDeadline(context.clock, ms, () => resolve(true))
    const onTime = () => {
      cancelDeadline()
      resolve(false)
    }
    result.then(onTime, onTime)
  })
}

/** Tries the next target beside a slow one. The first answer wins, and the other attempt is cancelled; `undefined` when neither answers. */
async function tryBeside(request: ModelRequest, first: Try, plan: AttemptPlan): Promise<Success | undefined> {
  const { hedgeBudget } = request.context
  const coming = hedgeBudget.spend() ? nextBeside(plan) : undefined
  const other = coming && (await unlessAnswered(first, coming))
  if (!other) {
    if (coming) hedgeBudget.giveBack()
    return taken(first, await first.result)
  }
  const second = tryCandidate(request, other)
  request.client.follows({
    cancel(reason) {
      first.cancel(reason)
      second.cancel(reason)
    },
  })
  const firstDone = first.result.then(() => first)
  const secondDone = second.result.then(
    () => second,
    () => firstDone, // its credential cannot be opened, which is not the first one's fault
  )
  const one = await Promise.race([firstDone, secondDone])
  const two = one === first ? second : first
  const outcome = await one.result
  // what the second one does not take may be all right with the first, which alone would have been asked
  const isDecided = outcome.kind === 'success' || (one === first && outcome.failure.class === 'client')
  if (isDecided) two.lose()
  return taken(one, outcome) ?? (isDecided ? undefined : taken(two, await two.result))

  function taken({ route }: Try, outcome: Success | FailedTry): Success | undefined {
    if (outcome.kind === 'success') return outcome
    plan.failed(route, outcome)
    return undefined
  }
}

/** A promise also of what `next` throws. */
const nextBeside = async (plan: AttemptPlan) => plan.next({ hedge: true })

/** The candidate; none when the attempt answers while it is prepared, which takes long when media have to be fetched. */
async function unlessAnswered({ result }: Try, coming: Promise<Candidate | undefined>): Promise<Candidate | undefined> {
  const prepared = coming.then(() => false)
  const isOver = result.then(
    ({ kind }) => kind === 'success' || prepared,
    () => true, // the client has left
  )
  if (!(await Promise.race([prepared, isOver]))) return coming
  coming.then(
    (late) => late?.trial.dropped(),
    () => {}, // nobody needs it any more
  )
  return undefined
}
