import type { FailureClass } from '../../../src/request/routing/failure-class.ts'
import { listHealthEntries } from '../../../src/request/routing/health-entry.ts'
import { createHealth, loadFailureCode } from '../../../src/request/routing/target-health.ts'

await loadFailureCode()

/** Creates a connection that was last changed at `updatedAt`. */
export const connection = (id: string, provider = 'p', updatedAt = '1') => ({ id, provider, updatedAt })

/** Creates a target: a model on one of provider `p`'s connections. */
export const target = (id = 'a', model = 'm', updatedAt = '1') => ({
  provider: 'p',
  model,
  connection: connection(id, 'p', updatedAt),
})

/** Creates a failure of this class. `retryAfterMs` is the wait that the provider requests, if any. */
export const failure = (label: FailureClass, retryAfterMs?: number) => ({
  class: label,
  message: `it is ${label}`,
  retryAfterMs,
})

/** Creates health tracking on a manual clock. There is no jitter unless `random` is set. */
export function open(random = () => 0) {
  let nowMs = 1_000_000
  const clock = { now: () => nowMs, sleep: () => new Promise<void>(() => {}) }
  const bare = createHealth({ clock, random })
  const list = async (connections: Parameters<typeof listHealthEntries>[0]) =>
    listHealthEntries(connections, bare.facts)
  const health = { ...bare, list }
  const fail = (label: FailureClass, at = target(), retryAfterMs?: number) =>
    health.beginCall(at).fail(failure(label, retryAfterMs))
  /** Records a failure of a connection with an unreachable URL. */
  const failAddress = (at = target()) =>
    health.beginCall(at).fail({ ...failure('network'), level: 'connection', isCertain: true })
  const waitOf = (at = target()) => {
    const standing = health.getCooldown(at)
    return standing && standing.retryAt - nowMs
  }
  function pass(ms: number) {
    nowMs += ms
  }
  return { health, fail, failAddress, waitOf, pass }
}
