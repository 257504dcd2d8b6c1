import type { Clock } from '../types.ts'
import { type CancelDeadline, startDeadline } from './deadline.ts'

/**
 * Publishes a state that changes often: at once, then at most once in a pause while it changes, and every `beatMs` for as long as `publish`
 * demands.
 */
export interface ThrottledPublisher {
  /** Must be called when the state has changed. */
  schedule(): void
  /** Nothing more is published once it has resolved. */
  stop(): Promise<void>
}

/** `publish` must not reject; it resolves to whether to publish again after `beatMs` though nothing has changed. */
export function createThrottledPublisher(
  publish: () => Promise<boolean>,
  { clock, pauseMs, beatMs }: { clock: Clock; pauseMs: number; beatMs: number },
): ThrottledPublisher {
  let publishedAt = Number.NEGATIVE_INFINITY
  let due: { at: number; cancelDeadline: CancelDeadline } | undefined
  let publishing: Promise<void> | undefined
  let hasChanged = false
  let isOver = false

  function cancel() {
    due?.cancelDeadline()
    due = undefined
  }

  function publishAt(at: number) {
    if (isOver || (due && due.at <= at)) return
    cancel()
    due = { at, cancelDeadline: startDeadline(clock, at - clock.now(), start) }
  }

  function start() {
    cancel()
    publishedAt = clock.now()
    hasChanged = false
    publishing = publish().then((goesOn) => {
      publishing = undefined
      if (hasChanged) publishAt(publishedAt + pauseMs)
      else if (goesOn) publishAt(publishedAt + beatMs)
    })
  }

  return {
    schedule() {
      hasChanged = true
      if (isOver || publishing !== undefined) return
      if (clock.now() - publishedAt < pauseMs) publishAt(publishedAt + pauseMs)
      else start()
    },
    async stop() {
      isOver = true
      cancel()
      await publishing
    },
  }
}
