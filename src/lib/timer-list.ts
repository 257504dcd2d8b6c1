/** Starts a timer of `ms`, and returns the function that stops it. */
export type StartTimer = (ms: number, onTime: () => void) => () => void

/** A timer that has not ended, between its neighbours. */
interface Listed {
  readonly dueAt: number
  readonly onTime: () => void
  before: Listed | undefined
  after: Listed | undefined
  isOver: boolean
}

/**
 * Timers like those of `start`, for which it starts one for all of the same length: most are stopped before their time, which costs next to
 * nothing then. `now` in ms, by a clock that nobody sets.
 */
export function inLists(start: StartTimer, now: () => number): StartTimer {
  const lists = new Map<number, TimerList>()
  // Apart from the timers: a closure made with the first of a list would keep that as long as the list.
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
  now(): number
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
    const timer: Listed = { dueAt: this.#terms.now() + this.#ms, onTime, before, after: undefined, isOver: false }
    this.#last = timer
    if (before) before.after = timer
    else {
      this.#first = timer
      this.#stop = this.#terms.start(this.#ms, this.#ring)
    }
    return () => this.#remove(timer)
  }

  #remove(timer: Listed): void {
    if (timer.isOver) return
    const { before, after } = timer
    timer.isOver = true
    timer.before = undefined // who keeps a timer that is over must not keep others
    timer.after = undefined
    if (before) before.after = after
    else this.#first = after
    if (after) after.before = before
    else this.#last = before
    if (this.#first) return
    this.#stop()
    this.#terms.onEmpty()
  }

  #runDue(): void {
    const { start, now } = this.#terms
    try {
      for (let due = this.#first; due && due.dueAt <= now(); due = this.#first) {
        this.#remove(due)
        due.onTime()
      }
    } finally {
      // Also behind one that throws. The first may be due later than the one for which this was started.
      if (this.#first) this.#stop = start(Math.max(0, Math.ceil(this.#first.dueAt - now())), this.#ring)
    }
  }
}
