import type { Clock } from '../types.ts'
import { type CancelDeadline, startDeadline } from './deadline.ts'

/** Publishes a frequently changing state: immediately, then at most once per `pauseMs`, and every `heartbeatMs` while `publish` resolves to true. */
export interface ThrottledPublisher {
  /** Call it when the state changes. */
  schedule(): void
  /** After it resolves, nothing more is published. */
  stop(): Promise<void>
}

/** Creates a publisher. `publish` must not reject. It resolves to whether to publish again after `heartbeatMs`, even without a change. */
export function createThrottledPublisher(
  publish: () => Promise<boolean>,
  { clock, pauseMs, heartbeatMs }: { clock: Clock; pauseMs: number; heartbeatMs: number },
): ThrottledPublisher {
  let publishedAt = Number.NEGATIVE_INFINITY
  let scheduled: { dueAt: number; cancelDeadline: CancelDeadline } | undefined
  let publication: Promise<void> | undefined
  let hasChanged = false
  let isStopped = false

  function cancelScheduled() {
    scheduled?.cancelDeadline()
    scheduled = undefined
  }

  function schedulePublish(time: number) {
    if (isStopped || (scheduled && scheduled.dueAt <= time)) return
    cancelScheduled()
    scheduled = { dueAt: time, cancelDeadline: startDeadline(clock, time - clock.now(), publishNow) }
  }

  function publishNow() {
    cancelScheduled()
    publishedAt = clock.now()
    hasChanged = false
    publication = publish().then((shouldContinue) => {
      publication = undefined
      if (hasChanged) schedulePublish(publishedAt + pauseMs)
      else if (shouldContinue) schedulePublish(publishedAt + heartbeatMs)
    })
  }

  return {
    schedule() {
      hasChanged = true
      if (isStopped || publication !== undefined) return
      if (clock.now() - publishedAt < pauseMs) schedulePublish(publishedAt + pauseMs)
      else publishNow()
    },
    async stop() {
      isStopped = true
      cancelScheduled()
      await publication
    },
  }
}
