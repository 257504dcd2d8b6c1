import { once } from '../../lib/promises.ts'
import type { Failure } from '../codec/call-failure.ts'
import type { FailureClass } from '../routing/failure-class.ts'
import type { CooldownState } from '../routing/target-health.ts'

/** Loads the errors for names without a usable target, when the first one is needed. */
export const loadNameErrors = once(() => import('./unknown-model.ts'))

/**
 * Creates the error for a request whose targets are all in cooldown after another request just failed at `name`. It doesn't quote the provider,
 * whose message was for that request. `now`: epoch ms.
 */
export function createCoolingFailure(name: string, { class: failure, dueAt }: CooldownState, now: number): Failure {
  return {
    class: failure,
    status: statusesByClass[failure] ?? 503,
    message: `All targets are in cooldown after failures. Another request just tried ${name}, the first due to recover, and it failed (${failure}).`,
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
