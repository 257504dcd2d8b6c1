import { startDeadline } from '../lib/deadline.ts'
import type { Route } from '../routing/group.ts'
import type { Itinerary } from './itinerary.ts'
import { type Run, type Success, type Try, tryRoute } from './try.ts'

/**
 * Tries a target and, where its combo hedges, the next one beside it when there is no answer within the time in which 95 % of its answers
 * come. The first answer wins; the other attempt ends at once. `undefined` when none has answered.
 */
export async function tryFrom(run: Run, route: Route, itinerary: Itinerary): Promise<Success | undefined> {
  const first = start(run, route)
  run.client.follows(first)
  const delayMs = delayOf(run, route)
  if (delayMs === undefined || !(await isSlower(run, first, delayMs))) return settle(first)
  const other = run.context.hedgeBudget.spend() ? await itinerary.next({ hedge: true }) : undefined
  if (!other) return settle(first)
  const second = start(run, other)
  run.client.follows({
    cancel(reason) {
      first.cancel(reason)
      second.cancel(reason)
    },
  })
  const one = await Promise.race([first, second].map((started) => started.result.then(() => started)))
  const two = one === first ? second : first
  const success = await settle(one)
  if (!success) return settle(two)
  two.lose()
  return success

  async function settle({ route, result }: Started): Promise<Success | undefined> {
    const outcome = await result
    if (outcome.kind === 'success') return outcome
    itinerary.failed(route, outcome)
    return undefined
  }
}

interface Started extends Try {
  route: Route
}

const start = (run: Run, route: Route): Started => ({ ...tryRoute(run, route), route })

function delayOf({ call, context }: Run, { target, via }: Route): number | undefined {
  for (let choice = via; choice; choice = choice.before)
    if (choice.group.hedge) return context.pace.p95Of(target, call.stream)
  return undefined
}

/** Has the attempt neither answered nor failed after so many ms? */
function isSlower({ context }: Run, { result }: Started, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const deadline = startDeadline(context.clock, ms, () => resolve(true))
    const onTime = () => {
      deadline.cancel()
      resolve(false)
    }
    result.then(onTime, onTime)
  })
}
