import { evictOldest, memoizeByObject } from '../../lib/maps.ts'
import { getSubject, getSubjectKey, type HealthTarget, levels, type SubjectLevel } from './health-subject.ts'

/** The latest calls to a model, a connection, or a provider. */
export interface CallCounts {
  calls: number
  failures: number
  /** Failures since the last successful call. */
  consecutiveFailures: number
}

/** A target at one level. `combo` is the combo that judges the target only by its own requests. */
export interface CallSubject {
  target: HealthTarget
  level: SubjectLevel
  combo: string | undefined
}

/** A call's outcome. With `isRecount`, the call was already counted as a success when its stream began. */
export interface CallOutcome {
  isFailure: boolean
  isRecount: boolean
  windowMs: number
}

interface CallAtAllLevels extends Pick<CallOutcome, 'windowMs'> {
  combo?: string | undefined
  failedLevels?: Readonly<Partial<Record<SubjectLevel, boolean>>>
  isRecount?: boolean
}

/** Counts calls and failures within a sliding window. Tracks at most 5,000 subjects, and evicts the oldest ones first. */
export interface CallWindows {
  /** Counts one call. `windowMs` is the length of the subject's window. */
  record(subject: CallSubject, call: CallOutcome): void
  /** Counts one call at all levels. `failedLevels` contains the levels at which it counts as a failure. */
  recordAtAllLevels(target: HealthTarget, call: CallAtAllLevels): void
  getCounts(subject: CallSubject): CallCounts
  forget(subject: CallSubject): void
  /** Lists the subjects whose calls are counted. */
  listSubjects(): CallSubject[]
  /** Forgets one connection's calls, or all calls. */
  reset(connectionId?: string): void
}

/** Maximum number of windows, because clients choose model names. */
const MAX_WINDOWS = 5_000

const NO_CALLS: CallCounts = { calls: 0, failures: 0, consecutiveFailures: 0 }

/** The keys of a target's levels, for calls without a combo. Cached, because building and hashing them takes 2 µs per request. */
const getTargetKeys = memoizeByObject(
  (target: HealthTarget): Record<SubjectLevel, string> => ({
    provider: getSubjectKey(getSubject(target, 'provider')),
    connection: getSubjectKey(getSubject(target, 'connection')),
    model: getSubjectKey(getSubject(target, 'model')),
  }),
)

const getKey = ({ target, level, combo }: CallSubject): string =>
  combo === undefined ? getTargetKeys(target)[level] : getSubjectKey(getSubject(target, level, combo))

/** Creates empty windows. `now` returns epoch ms. */
export function createCallWindows(now: () => number): CallWindows {
  const windows = new Map<string, CallWindow>()

  function record(subject: CallSubject, call: CallOutcome) {
    const { windowMs } = call
    const key = getKey(subject)
    let window = windows.get(key)
    if (!window || window.windowMs !== windowMs) {
      if (!window) evictOldest(windows, MAX_WINDOWS)
      window = new CallWindow(subject, windowMs)
      windows.set(key, window)
    }
    window.record(now(), call)
  }

  return {
    record,
    recordAtAllLevels(target, { combo, windowMs, failedLevels = {}, isRecount = false }) {
      for (const level of levels)
        record({ target, level, combo }, { isFailure: failedLevels[level] ?? false, isRecount, windowMs })
    },
    getCounts: (subject) => windows.get(getKey(subject))?.getCounts(now()) ?? NO_CALLS,
    forget: (subject) => void windows.delete(getKey(subject)),
    listSubjects: () => [...windows.values()].map(({ subject }) => subject),
    reset(connectionId) {
      if (connectionId === undefined) return windows.clear()
      for (const [key, { subject }] of windows)
        if (subject.level !== 'provider' && subject.target.connection.id === connectionId) windows.delete(key)
    },
  }
}

/** The number of steps in which a window slides. */
const STEP_COUNT = 10

/** A ring of counts, one for each step of the window. */
class CallWindow {
  readonly subject: CallSubject
  readonly windowMs: number
  readonly #counts: number[] = new Array(2 * STEP_COUNT).fill(0) // for each step, its calls, then its failures
  #step = 0
  #consecutiveFailures = 0

  constructor(subject: CallSubject, windowMs: number) {
    this.subject = subject
    this.windowMs = windowMs
  }

  record(now: number, { isFailure, isRecount }: CallOutcome): void {
    this.#slideTo(now)
    const index = 2 * (this.#step % STEP_COUNT)
    if (!isRecount) this.#counts[index] = Number(this.#counts[index]) + 1
    if (isFailure) this.#counts[index + 1] = Number(this.#counts[index + 1]) + 1
    this.#consecutiveFailures = isFailure ? this.#consecutiveFailures + 1 : 0
  }

  getCounts(now: number): CallCounts {
    this.#slideTo(now)
    let calls = 0
    let failures = 0
    for (const [index, count] of this.#counts.entries()) {
      if (index % 2 === 0) calls += count
      else failures += count
    }
    return { calls, failures, consecutiveFailures: Math.min(this.#consecutiveFailures, failures) }
  }

  /** Clears the steps that have begun since the last call. Does nothing if the clock was set back. */
  #slideTo(now: number): void {
    const step = Math.floor((now * STEP_COUNT) / this.windowMs)
    for (let nextStep = Math.max(this.#step + 1, step - STEP_COUNT + 1); nextStep <= step; nextStep++) {
      const index = 2 * (nextStep % STEP_COUNT)
      this.#counts[index] = this.#counts[index + 1] = 0
    }
    this.#step = Math.max(this.#step, step)
  }
}
