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

/**
 * The result of work that ends with `ms`: rejects then with what `late` makes, which is also the reason of the signal that the work is given.
 * `signal` ends it sooner, with its reason. The work itself may go on until it looks at its signal.
 */
export function workWithin<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { clock, ms, late, signal }: { clock: Clock; ms: number; late(): Error; signal?: AbortSignal },
): Promise<T> {
  const own = new AbortController()
  return new Promise<T>((resolve, reject) => {
    own.signal.addEventListener('abort', () => reject(own.signal.reason), { once: true })
    const stop = () => own.abort(signal?.reason)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    const cancelDeadline = startDeadline(clock, ms, () => own.abort(late()))
    work(own.signal)
      .finally(() => {
        cancelDeadline()
        signal?.removeEventListener('abort', stop)
      })
      .then(resolve, reject)
  })
}
