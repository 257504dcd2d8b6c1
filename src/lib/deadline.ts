import type { Clock } from '../types.ts'

const CANCELLED = Symbol('cancelled')

/** Timers of platforms fire at once for longer times (25 days). */
const MAX_MS = 2 ** 31 - 1

/**
 * Keeps a deadline from expiring.
 * A bare function: of objects in this place V8 comes to think that they last, and puts each into the old heap, with all that it refers to.
 */
export type StopWaiting = () => void

const nothing: StopWaiting = () => {}

/** Calls `onExpire` once after `ms` of the clock's time, unless stopped before; never when `ms` is more than a timer can hold. */
export function startDeadline(clock: Clock, ms: number, onExpire: () => void): StopWaiting {
  if (ms > MAX_MS) return nothing
  return clock.setTimer ? clock.setTimer(ms, onExpire) : bySleep(clock, ms, onExpire)
}

function bySleep(clock: Clock, ms: number, onExpire: () => void): StopWaiting {
  const stop = new AbortController()
  clock.sleep(ms, stop.signal).then(
    () => stop.signal.aborted || onExpire(),
    () => {}, // cancelled: `sleep` rejects with the reason
  )
  return () => stop.abort(CANCELLED) // a fixed reason costs no DOMException with its stack trace
}
