import { startDeadline } from '../../lib/deadline.ts'
import { getTargetName } from '../../protocols/providers/target.ts'
import type { Clock } from '../../types.ts'
import type { Failure } from '../codec/call-failure.ts'
import type { ModelRequest } from '../model-request.ts'
import type { Target } from '../outcome.ts'
import type { Client } from '../request-client.ts'
import type { FailureClass } from '../routing/failure-class.ts'
import type { Route } from '../routing/group.ts'
import type { TargetHealth } from '../routing/target-health.ts'
import type { CooldownState } from '../routing/unhealthy-targets.ts'
import type { Progress } from './candidates.ts'

/**
 * Returns the target that recovers first if all cooldowns are mandatory. Returns `undefined` if there is none, or if another request has just failed
 * there in a way that would also affect this one. Also records that failure.
 */
export async function findMandatoryTarget(progress: Progress): Promise<Target | undefined> {
  const { request, failures, coolingTargets } = progress
  const [firstCooling] = coolingTargets
  if (!firstCooling) return undefined
  const { route } = firstCooling
  const turn = await takeTurn(route, request)
  if ('permit' in turn) return turn
  const failure = createCoolingFailure(getTargetName(route.target), turn, request.context.clock.now())
  failures.push({ kind: 'failed', failure, route })
  return undefined
}

/** The inputs for deciding about a retry. */
export interface RetryOptions {
  /** How many times the request has retried a target. */
  retries: number
  /** Takes one attempt from the retry budget. Returns `false` if it is used up. */
  spendRetry(): boolean
}

/**
 * Returns the target to try when no other is left: one that was already tried, if a retry may help and no other request has failed there in the
 * meantime.
 */
export async function findTargetToRetry(
  progress: Progress,
  { retries, spendRetry }: RetryOptions,
): Promise<Target | undefined> {
  const { context, client } = progress.request
  const retry = findSoonestRetry(progress.failures, { ...context, client, retries })
  if (!retry || !spendRetry()) return undefined
  const { failedRoute, waitMs } = retry
  if (waitMs > 0) await pause(waitMs, { client, clock: context.clock })
  const turn = await takeTurn(failedRoute.route, progress.request)
  return 'permit' in turn ? turn : undefined
}

/** Returns the unhealthy target once it is this request's turn to try it. Otherwise, returns the target's cooldown. */
async function takeTurn(route: Route, { context, client }: ModelRequest): Promise<Target | CooldownState> {
  const disconnected = new Promise<unknown>((resolve) => client.scope.add(resolve))
  const turn = await context.health.takeTurn(route.target, disconnected)
  if (client.goneReason) {
    if ('drop' in turn) turn.drop()
    throw client.goneReason
  }
  return 'drop' in turn ? { route, permit: turn } : turn
}

/** A failed attempt and its target. */
interface FailedRoute {
  route: Route
  failure: Failure
}

interface RetryDependencies {
  health: Pick<TargetHealth, 'getCooldown'>
  clock: Clock
  /** A random number in [0, 1). */
  random: () => number
  client: Pick<Client, 'timeoutAt'>
  /** How many times the request has retried a target. */
  retries: number
}

/** The longest wait for a retry. If a longer one is needed, the response tells the client when to retry. */
const MAX_WAIT_MS = 2_000
/** The first back-off; it doubles each time. */
const FIRST_WAIT_MS = 250

/**
 * Finds the failed target to retry if no other is left, and the wait in ms. Only considers targets to which nothing was sent, or that suggested a
 * retry. Returns `undefined` if there is none, or if each wait would be at least two seconds, or longer than the client waits.
 */
function findSoonestRetry<F extends FailedRoute>(
  failures: readonly F[],
  dependencies: RetryDependencies,
): { failedRoute: F; waitMs: number } | undefined {
  const { clock, client } = dependencies
  const limitMs = Math.min(MAX_WAIT_MS, client.timeoutAt - clock.now())
  let soonestRetry: { failedRoute: F; waitMs: number } | undefined
  for (const failedRoute of failures) {
    const waitMs = getWaitMs(failedRoute, dependencies)
    if (waitMs < limitMs && (!soonestRetry || waitMs < soonestRetry.waitMs)) soonestRetry = { failedRoute, waitMs }
  }
  return soonestRetry
}

/**
 * Returns the wait before a retry in ms; infinite if there is no retry. A request that was never sent is retried once immediately. Other retries wait
 * for the time that the response requests, or for an exponential back-off with full jitter, and never happen during a rate limit or mandatory
 * cooldown.
 */
function getWaitMs({ route, failure }: FailedRoute, { health, clock, random, retries }: RetryDependencies): number {
  const { code, invitesRetry, retryAfterMs = Math.ceil(random() * FIRST_WAIT_MS * 2 ** retries) } = failure
  const isUnsent = retries === 0 && UNSENT_CODES.test(String(code))
  if (!isUnsent && !invitesRetry) return Number.POSITIVE_INFINITY
  if (isUnsent) return 0
  const cooldown = health.getCooldown(route.target)
  const isRateLimited = cooldown?.isMandatory || cooldown?.class === 'rate-limit'
  return isRateLimited ? Math.max(retryAfterMs, cooldown.dueAt - clock.now()) : retryAfterMs
}

/** Node, undici, and Bun error codes from before a connection is established, when the provider has received nothing. */
const UNSENT_CODES =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(?:HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket)$/

/** Waits `ms`, or until the client disconnects. */
function pause(ms: number, { client, clock }: { client: Pick<Client, 'scope'>; clock: Clock }): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      cancelDeadline()
      client.scope.remove(finish)
      resolve()
    }
    const cancelDeadline = startDeadline(clock, ms, finish)
    client.scope.add(finish)
  })
}

/**
 * Creates the error for a request whose targets are all in cooldown because another request just failed at `name`. It doesn't quote the provider,
 * because the provider's message was for that other request. `now` is in epoch ms.
 */
function createCoolingFailure(name: string, { class: failureClass, dueAt }: CooldownState, now: number): Failure {
  return {
    class: failureClass,
    status: statusesByClass[failureClass] ?? 503,
    message: `All targets are in cooldown after failures. Another request just tried ${name}, the first due to recover, and it failed (${failureClass}).`,
    retryAfterMs: Math.max(0, dueAt - now),
  }
}

/** The status that the request itself would have received. */
const statusesByClass: Partial<Record<FailureClass, number>> = {
  credentials: 502,
  network: 502,
  content: 502,
  'rate-limit': 429,
  forbidden: 403,
  'model-not-found': 404,
  timeout: 504,
}
