import type { FailureClass } from '../../../src/request/routing/failure-class.ts'
import { listHealthEntries } from '../../../src/request/routing/health-entry.ts'
import { createHealth } from '../../../src/request/routing/target-health.ts'

/** A connection, changed last at `updatedAt`. */
export const connection = (id: string, provider = 'p', updatedAt = '1') => ({ id, provider, updatedAt })

/** A model at a connection of the provider `p`. */
export const target = (id = 'a', model = 'm', updatedAt = '1') => ({
  provider: 'p',
  model,
  connection: connection(id, 'p', updatedAt),
})

/** A failure of a class; a provider's wait in milliseconds when it asks for one. */
export const failure = (what: FailureClass, retryAfterMs?: number) => ({
  class: what,
  message: `it is ${what}`,
  retryAfterMs,
})

/** Health on a clock that is set by hand, without jitter unless asked for. */
export function open(random = () => 0) {
  let nowMs = 1_000_000
  const clock = { now: () => nowMs, sleep: () => new Promise<void>(() => {}) }
  const bare = createHealth({ clock, random })
  const list = async (connections: Parameters<typeof listHealthEntries>[0]) =>
    listHealthEntries(connections, bare.facts)
  const health = { ...bare, list }
  const fail = (what: FailureClass, at = target(), retryAfterMs?: number) =>
    health.begin(at).fail(failure(what, retryAfterMs))
  /** Nobody could be reached at the connection's address. */
  const failAddress = (at = target()) =>
    health.begin(at).fail({ ...failure('network'), level: 'connection', isCertain: true })
  const waitOf = (at = target()) => {
    const standing = health.getCooldown(at)
    return standing && standing.retryAt - nowMs
  }
  function pass(ms: number) {
    nowMs += ms
  }
  return { health, fail, failAddress, waitOf, pass }
}
