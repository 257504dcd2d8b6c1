import type { Clock } from '../types.ts'

const CANCELLED = Symbol('cancelled')

/** Timers of platforms fire at once for longer times (25 days). */
const MAX_MS = 2 ** 31 - 1

/** A call that is due later. */
export interface Deadline {
  cancel(): void
}

const NEVER: Deadline = { cancel() {} }

/** Calls `onExpire` once after `ms` of the clock's time, unless cancelled before; never when `ms` is more than a timer can hold. */
export function startDeadline(clock: Clock, ms: number, onExpire: () => void): Deadline {
  if (ms > MAX_MS) return NEVER
  return clock.setTimer ? { cancel: clock.setTimer(ms, onExpire) } : bySleep(clock, ms, onExpire)
}

function bySleep(clock: Clock, ms: number, onExpire: () => void): Deadline {
  const stop = new AbortController()
  clock.sleep(ms, stop.signal).then(
    () => stop.signal.aborted || onExpire(),
    () => {}, // cancelled: `sleep` rejects with the reason
  )
  return { cancel: () => stop.abort(CANCELLED) } // a fixed reason costs no DOMException with its stack trace
}
