import type { Clock } from '../types.ts'
import { type CancelDeadline, startDeadline } from './deadline.ts'

/** Publishes a frequently changing state: immediately, then at most once per `pauseMs`, and every `beatMs` while `publish` resolves to true. */
export interface ThrottledPublisher {
  /** Call it when the state changes. */
  schedule(): void
  /** After it resolves, nothing more is published. */
  stop(): Promise<void>
}

/** `publish` must not reject. It resolves to whether to publish again after `beatMs`, even without a change. */
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

  function schedulePublish(at: number) {
    if (isOver || (due && due.at <= at)) return
    cancel()
    due = { at, cancelDeadline: startDeadline(clock, at - clock.now(), start) }
  }

  function start() {
    cancel()
    publishedAt = clock.now()
    hasChanged = false
    publishing = publish().then((shouldContinue) => {
      publishing = undefined
      if (hasChanged) schedulePublish(publishedAt + pauseMs)
      else if (shouldContinue) schedulePublish(publishedAt + beatMs)
    })
  }

  return {
    schedule() {
      hasChanged = true
      if (isOver || publishing !== undefined) return
      if (clock.now() - publishedAt < pauseMs) schedulePublish(publishedAt + pauseMs)
      else start()
    },
    async stop() {
      isOver = true
      cancel()
      await publishing
    },
  }
}
