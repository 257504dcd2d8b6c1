import type { Clock } from '../types.ts'

const CANCELLED = Symbol('cancelled')

/** The longest delay that a platform's timer supports, in ms (25 days). A longer delay would fire immediately. */
const MAX_MS = 2 ** 31 - 1

/** Cancels a deadline. */
export type CancelDeadline = () => void

const CANCEL_NOTHING: CancelDeadline = () => {}

/**
 * Calls `onExpire` once after `ms` unless it is canceled; never if `ms` exceeds a timer's range. Returns a function rather than an object. V8 would
 * learn to allocate such objects in the old heap (pretenuring), where they keep everything they refer to alive.
 */
export function startDeadline(clock: Clock, ms: number, onExpire: () => void): CancelDeadline {
  if (ms > MAX_MS) return CANCEL_NOTHING
  return clock.setTimer ? clock.setTimer(ms, onExpire) : createSleepDeadline(clock, ms, onExpire)
}

function createSleepDeadline(clock: Clock, ms: number, onExpire: () => void): CancelDeadline {
  const controller = new AbortController()
  clock.sleep(ms, controller.signal).then(
    () => controller.signal.aborted || onExpire(),
    () => {}, // if canceled, `sleep` rejects with the reason
  )
  return () => controller.abort(CANCELLED) // without a reason, the platform creates a DOMException with a stack trace, which is slow
}

/** Resolves to whether the work settles within `ms`. */
export function settlesWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const cancelDeadline = startDeadline(clock, ms, () => resolve(false))
    const finish = () => {
      cancelDeadline()
      resolve(true)
    }
    work.then(finish, finish)
  })
}

/**
 * Resolves to the result of `work`. After `ms`, rejects with the error from `createError` and aborts the work's signal with it. When `signal` aborts,
 * rejects with its reason. The work itself may continue until it checks its signal.
 */
export function runWithDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { clock, ms, createError, signal }: { clock: Clock; ms: number; createError(): Error; signal?: AbortSignal },
): Promise<T> {
  const controller = new AbortController()
  return new Promise<T>((resolve, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
    const abortWork = () => controller.abort(signal?.reason)
    if (signal?.aborted) abortWork()
    signal?.addEventListener('abort', abortWork, { once: true })
    const cancelDeadline = startDeadline(clock, ms, () => controller.abort(createError()))
    work(controller.signal)
      .finally(() => {
        cancelDeadline()
        signal?.removeEventListener('abort', abortWork)
      })
      .then(resolve, reject)
  })
}
