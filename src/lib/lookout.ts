import { Crowd, type Member } from './crowd.ts'

/** Looks after what lasts longer than a moment; most requests are over before they would be looked at. */
export interface Lookout {
  /** Calls `subject.watch` after a moment, unless it is removed before. */
  add(subject: Watchable): Member<Watchable>
  remove(subject: Member<Watchable>): void
}

/** What can be watched from any time on. */
export interface Watchable {
  watch(): void
}

/** `afterMoment` calls once, a moment later. */
export function createLookout(afterMoment: (look: () => void) => void): Lookout {
  const unwatched = new Crowd<Watchable>()
  let isDue = false

  function look() {
    isDue = false
    for (const subject of unwatched.takeAll()) queueMicrotask(() => subject.watch()) // one that throws keeps none from being watched
  }

  return {
    add(subject) {
      if (!isDue) afterMoment(look)
      isDue = true
      return unwatched.add(subject)
    },
    remove: (subject) => unwatched.remove(subject),
  }
}
