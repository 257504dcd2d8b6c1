import type { Clock } from '../types.ts'
import { type CancelDeadline, startDeadline } from './deadline.ts'

/** Tells of what changes often: at once, then again after a pause when there is news, and now and then as long as there is reason to. */
export interface Telling {
  news(): void
  /** No more is told once it has resolved. */
  stop(): Promise<void>
}

/** `tell` must not reject; it resolves to whether to tell again after `beatMs` though nothing has changed. */
export function createThrottledPublisher(
  tell: () => Promise<boolean>,
  { clock, pauseMs, beatMs }: { clock: Clock; pauseMs: number; beatMs: number },
): Telling {
  let toldAt = Number.NEGATIVE_INFINITY
  let due: { at: number; cancelDeadline: CancelDeadline } | undefined
  let telling: Promise<void> | undefined
  let hasNews = false
  let isOver = false

  function cancel() {
    due?.cancelDeadline()
    due = undefined
  }

  function tellAt(at: number) {
    if (isOver || (due && due.at <= at)) return
    cancel()
    due = { at, cancelDeadline: startDeadline(clock, at - clock.now(), start) }
  }

  function start() {
    cancel()
    toldAt = clock.now()
    hasNews = false
    telling = tell().then((goesOn) => {
      telling = undefined
      if (hasNews) tellAt(toldAt + pauseMs)
      else if (goesOn) tellAt(toldAt + beatMs)
    })
  }

  return {
    news() {
      hasNews = true
      if (isOver || telling !== undefined) return
      if (clock.now() - toldAt < pauseMs) tellAt(toldAt + pauseMs)
      else start()
    },
    async stop() {
      isOver = true
      cancel()
      await telling
    },
  }
}
