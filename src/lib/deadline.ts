import type { Clock } from '../types.ts'

const CANCELLED = Symbol('cancelled')

/** Timers of platforms fire at once for longer times (25 days). */
const MAX_MS = 2 ** 31 - 1

/** Keeps a deadline from expiring. */
export type CancelDeadline = () => void

const NEVER: CancelDeadline = () => {}

/**
 * Calls `onExpire` once after `ms` of the clock's time, unless cancelled before; never when `ms` is more than a timer can hold. Returns a bare
 * function: V8 comes to allocate object literals made here in the old heap (pretenuring), which keeps all that they refer to.
 */
export function startDeadline(clock: Clock, ms: number, onExpire: () => void): CancelDeadline {
  if (ms > MAX_MS) return NEVER
  return clock.setTimer ? clock.setTimer(ms, onExpire) : bySleep(clock, ms, onExpire)
}

function bySleep(clock: Clock, ms: number, onExpire: () => void): CancelDeadline {
  const stop = new AbortController()
  clock.sleep(ms, stop.signal).then(
    () => stop.signal.aborted || onExpire(),
    () => {}, // cancelled: `sleep` rejects with the reason
  )
  return () => stop.abort(CANCELLED) // a fixed reason costs no DOMException with its stack trace
}

/** Does the work settle, well or badly, within `ms`? */
export function settlesWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const cancelDeadline = startDeadline(clock, ms, () => resolve(false))
    const settled = () => {
      cancelDeadline()
      resolve(true)
    }
    work.then(settled, settled)
  })
}
