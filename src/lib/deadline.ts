import type { Clock } from '../types.ts'

const CANCELLED = Symbol('cancelled')

/** Calls `onExpire` once after `ms` of the clock's time, unless cancelled before. */
export function startDeadline(clock: Clock, ms: number, onExpire: () => void): { cancel(): void } {
  if (clock.setTimer) return { cancel: clock.setTimer(ms, onExpire) }
  const stop = new AbortController()
  clock.sleep(ms, stop.signal).then(
    () => stop.signal.aborted || onExpire(),
    () => {}, // cancelled: `sleep` rejects with the reason
  )
  return { cancel: () => stop.abort(CANCELLED) } // a fixed reason costs no DOMException with its stack trace
}
