import { startDeadline } from '../lib/deadline.ts'
import type { Route } from '../routing/group.ts'
import type { Health } from '../routing/health.ts'
import type { Clock } from '../types.ts'
import type { Client } from './client.ts'
import type { Failure } from './failure.ts'

/** A failed attempt and its target. */
export interface Fault {
  route: Route
  failure: Failure
}

/** What the wait depends on. */
export interface AgainDependencies {
  health: Pick<Health, 'standingOf'>
  clock: Clock
  /** A random number in [0, 1). */
  random: () => number
  client: Pick<Client, 'timeoutAt'>
  /** How many times the request has tried a target again. */
  times: number
}

/** Longer waits are left to the client, which is told when to come back. */
const LIMIT_MS = 2_000
/** The first back-off; it doubles each time. */
const BASE_MS = 250

/**
 * The failed target to try again when no other is left, and after how many ms: only one to which nothing was sent, or whose answer invited
 * a retry. `undefined` when there is none, or each would take two seconds, or more than the client's time allows.
 */
export function soonestAgain<F extends Fault>(
  faults: readonly F[],
  dependencies: AgainDependencies,
): { fault: F; waitMs: number } | undefined {
  const { clock, client } = dependencies
  const limitMs = Math.min(LIMIT_MS, client.timeoutAt - clock.now())
  let soonest: { fault: F; waitMs: number } | undefined
  for (const fault of faults) {
    const waitMs = waitBefore(fault, dependencies)
    if (waitMs < limitMs && (!soonest || waitMs < soonest.waitMs)) soonest = { fault, waitMs }
  }
  return soonest
}

/**
 * In ms; infinite when it is not to be tried again. What was never sent is tried once more at once; otherwise after the time that the answer
 * names, or an exponential back-off with full jitter, and not within a rate limit or another cooldown that is firm.
 */
function waitBefore({ route, failure }: Fault, { health, clock, random, times }: AgainDependencies): number {
  const { code, isInviting, retryAfterMs = Math.ceil(random() * BASE_MS * 2 ** times) } = failure
  const isUnsent = times === 0 && UNSENT.test(String(code))
  if (!isUnsent && !isInviting) return Number.POSITIVE_INFINITY
  if (isUnsent) return 0
  const standing = health.standingOf(route.target)
  const isLimited = standing?.isFirm || standing?.class === 'rate-limit'
  return isLimited ? Math.max(retryAfterMs, standing.dueAt - clock.now()) : retryAfterMs
}

/** There was no connection, so the provider has received nothing: the codes of Node, undici and Bun. */
const UNSENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(?:HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket)$/

/** Waits `ms`, or until the client is gone. */
export function pause(ms: number, { client, clock }: { client: Pick<Client, 'follows'>; clock: Clock }): Promise<void> {
  return new Promise((resolve) => {
    const cancelDeadline = startDeadline(clock, ms, resolve)
    client.follows({
      cancel() {
        cancelDeadline()
        resolve()
      },
    })
  })
}
