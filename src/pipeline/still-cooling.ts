import type { FailureClass } from '../routing/failure-class.ts'
import type { Standing } from '../routing/health.ts'
import type { Failure } from './failure.ts'

/**
 * What a request hears whose targets are all cooling, when another one has just tried `name` in vain. What the provider has said is for
 * that one alone. `now`: epoch ms.
 */
export function stillCooling(name: string, { class: failure, dueAt }: Standing, now: number): Failure {
  return {
    class: failure,
    status: STATUSES[failure] ?? 503,
    message: `All targets are cooling after failures. Another request has just tried ${name}, the first to recover (${failure}).`,
    retryAfterMs: Math.max(0, dueAt - now),
  }
}

/** As if the request had tried it. */
const STATUSES: Partial<Record<FailureClass, number>> = {
  credentials: 502,
  network: 502,
  content: 502,
  'rate-limit': 429,
  'model-not-found': 404,
  timeout: 504,
}
