import { startDeadline } from '../lib/deadline.ts'
import type { Route } from '../routing/group.ts'
import type { Health } from '../routing/health.ts'
import type { Clock } from '../types.ts'
import type { Client } from './client.ts'
import type { Failure } from './failure.ts'

/** An attempt that has failed, and where. */
export interface Fault {
  route: Route
  failure: Failure
}

/** What it depends on how long to wait. */
export interface AgainDependencies {
  health: Pick<Health, 'standingOf'>
  clock: Clock
  /** Another number in [0, 1) with each call. */
  random: () => number
  client: Pick<Client, 'timeoutAt'>
  /** So many times the request has tried a target again already. */
  times: number
}

/** Nobody is kept waiting for longer: the client hears when to come back instead. */
const LIMIT_MS = 2_000
/** Doubles each time. */
const BASE_MS = 250

/**
 * Whom to try again when no other target is left, and after how many ms: only where nothing was sent or the answer has invited it. `undefined`
 * when there is none, or each would take two seconds, or more than the client has left.
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
 * Not while the target is left alone. What was never sent goes once more, at once; what was answered as long after as the answer asks for,
 * else after a back-off with full jitter.
 */
function waitBefore({ route, failure }: Fault, { health, clock, random, times }: AgainDependencies): number {
  const { code, isInviting, retryAfterMs = Math.ceil(random() * BASE_MS * 2 ** times) } = failure
  const isUnsent = times === 0 && UNSENT.test(String(code))
  if (!isUnsent && !isInviting) return Number.POSITIVE_INFINITY
  const { dueAt = 0 } = health.standingOf(route.target) ?? {}
  return Math.max(isUnsent ? 0 : retryAfterMs, dueAt - clock.now())
}

/** There was no connection, so that the provider has seen nothing of the request: codes of Node, of undici and of Bun. */
const UNSENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(?:HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket)$/

/** Lets `ms` pass, unless nobody waits any more. */
export function pause(ms: number, { client, clock }: { client: Pick<Client, 'follows'>; clock: Clock }): Promise<void> {
  return new Promise((resolve) => {
    const deadline = startDeadline(clock, ms, resolve)
    client.follows({
      cancel() {
        deadline.cancel()
        resolve()
      },
    })
  })
}
