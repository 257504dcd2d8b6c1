/** Starts a timer of `ms`, and returns the function that stops it. */
export type StartTimer = (ms: number, onTime: () => void) => () => void

/** A timer; as long as it is not over, between its neighbours. */
interface Listed {
  readonly dueAt: number
  /** `undefined` once it is over: who still has the timer must not keep a request. */
  onTime: (() => void) | undefined
  before: Listed | undefined
  after: Listed | undefined
}

/**
 * Timers like those of `start`, but all of the same length share one of them: most are stopped before their time, which then costs a few
 * assignments. `now`: a monotonic clock, in ms. They run in the async context of the timer for which the shared one was started, which is kept
 * as long as there are timers of that length: before it calls code of the host for a request, `onTime` must get back to that request's
 * (`inThisContext`).
 */
export function inLists(start: StartTimer, now: () => number): StartTimer {
  const lists = new Map<number, TimerList>()
  // In a function of its own: `onEmpty` would otherwise share a context with the first `onTime`, and keep it as long as the list.
  function listOf(ms: number): TimerList {
    const known = lists.get(ms)
    if (known) return known
    const list = new TimerList(ms, { start, now, onEmpty: () => lists.delete(ms) })
    lists.set(ms, list)
    return list
  }
  return (ms, onTime) => listOf(ms).add(onTime)
}

/** What a list depends on. */
interface ListTerms {
  start: StartTimer
  now: () => number
  onEmpty(): void
}

/** The timers of one length: who comes last is due last. */
class TimerList {
  readonly #ms: number
  readonly #terms: ListTerms
  readonly #ring = () => this.#runDue()
  #first: Listed | undefined = undefined
  #last: Listed | undefined = undefined
  #stop: () => void = () => {}

  constructor(ms: number, terms: ListTerms) {
    this.#ms = ms
    this.#terms = terms
  }

  /** Returns the function that stops it. */
  add(onTime: () => void): () => void {
    const before = this.#last
    const timer: Listed = { dueAt: this.#terms.now() + this.#ms, onTime, before, after: undefined }
    this.#last = timer
    if (before) before.after = timer
    else {
      this.#first = timer
      this.#ringIn(this.#ms)
    }
    return () => this.#remove(timer)
  }

  #remove(timer: Listed): void {
    if (!timer.onTime) return
    const { before, after } = timer
    timer.onTime = undefined
    timer.before = undefined
    timer.after = undefined
    if (before) before.after = after
    else this.#first = after
    if (after) after.before = before
    else this.#last = before
    if (this.#first) return
    this.#stop()
    this.#terms.onEmpty()
  }

  #ringIn(ms: number): void {
    this.#stop = this.#terms.start(ms, this.#ring)
  }

  #runDue(): void {
    const { now } = this.#terms
    try {
      for (let due = this.#first; due && due.dueAt <= now(); due = this.#first) {
        const { onTime } = due
        this.#remove(due)
        onTime?.()
      }
    } finally {
      // Also when an `onTime` throws, or the platform's timer was early. Rounded up, as platforms leave out fractions.
      if (this.#first) this.#ringIn(Math.max(0, Math.ceil(this.#first.dueAt - now())))
    }
  }
}
