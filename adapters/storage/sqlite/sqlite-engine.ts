import type { Rows, Stamp } from '../lib/row-operations.ts'
import { sleep } from '../lib/wait.ts'
import { type LocalDatabase, type LocalStatement, runOnce } from './local-database.ts'
import type { LocalTable } from './local-table.ts'
import { createLockedError, isBusy, MAX_PAUSE_MS, retryWhileBusy } from './sqlite-errors.ts'

/** A write operation's work. It changes at most one row, as its last step, and runs again if its transaction fails. */
export type RowWork<T> = (rows: Rows, stamp: Stamp) => T

/** The dependencies of a `LocalEngine`. */
export interface LocalEngineOptions {
  database: LocalDatabase
  table: LocalTable
  /** Returns the current time in epoch ms, for `ttlMs`. */
  now(): number
  /** The store's name in messages. */
  name: string
  /** How long an operation waits for another process's lock, in ms. */
  busyMs: number
  /** Converts an SQLite error to an error with a code. */
  toError(cause: unknown): Error
  /** Checks that throw if the file was replaced after it was opened. */
  check?: { beforeWrite(): void; beforeRead(): void }
  /** Flushes all earlier commits to disk. Throws if the file was replaced after it was opened. */
  flush?(): Promise<void>
  /** Sets whether commits reach the disk before they return. */
  setFlushing?(isFlushing: boolean): void
}

interface Job {
  operation: RowWork<unknown>
  isRelaxed: boolean
  /** Set if the job has to be flushed even though it changes no row. */
  isFlushed?: true
  resolve(value: unknown): void
  reject(error: unknown): void
  /** When the job stops waiting for the lock. */
  deadline: number
}

/** The result of a job whose transaction is committed. */
interface JobOutcome {
  job: Job
  settle(): void
  /** Whether the job's change has to reach the disk before the job settles. */
  needsFlush: boolean
}

/** The maximum duration of a transaction, in ms, because transactions block the event loop. */
const MAX_TURN_MS = 4
/** How many commits to make between sweeps of expired rows. */
const SWEEP_INTERVAL = 100
/** The prefix of versions that relaxed writes create. */
const RELAXED_PREFIX = '~'

/** Returns whether a relaxed write created this version. */
export const isRelaxedVersion = (version: string): boolean => version.startsWith(RELAXED_PREFIX)

const setImmediate: unknown = Reflect.get(globalThis, 'setImmediate')
/** Runs `work` after pending input has been handled. Node, Bun, and Deno have `setImmediate` for that. */
const defer: (work: () => void) => void =
  typeof setImmediate === 'function' ? (work) => void setImmediate(work) : queueMicrotask

/** Reads and writes one local database's rows. Writes that arrive in the same turn of the event loop share a transaction. */
export class LocalEngine {
  readonly #options: LocalEngineOptions
  readonly #begin: LocalStatement
  readonly #commit: LocalStatement
  readonly #flush: (() => Promise<void>) | undefined
  readonly #tag = `${crypto.getRandomValues(new BigUint64Array(1))[0]?.toString(36)}-`
  readonly #running = new Set<Promise<unknown>>()
  #waiting: Job[] = []
  #isScheduled = false
  #versions = 0
  #commits = 0

  constructor(options: LocalEngineOptions) {
    this.#options = options
    this.#begin = options.database.prepare('BEGIN IMMEDIATE')
    this.#commit = options.database.prepare('COMMIT')
    this.#flush = options.flush && shareRuns(() => options.flush?.() ?? Promise.resolve())
  }

  read<T>(work: (now: number) => T): Promise<T> {
    const { check, now, name, busyMs, toError } = this.#options
    const read = () => work(now())
    try {
      check?.beforeRead()
      return Promise.resolve(read())
    } catch (cause) {
      if (!isBusy(cause)) return Promise.reject(toError(cause))
      return this.#track(retryWhileBusy(read, { name, timeoutMs: busyMs, toError }))
    }
  }

  /**
   * Resolves to the result of `operation` once it is committed and, unless it is relaxed, flushed to disk. A relaxed write survives this process
   * exiting, but may not survive a power failure shortly afterward.
   */
  write<T>(operation: RowWork<T>, isRelaxed = false): Promise<T> {
    return new Promise<T>(
      (resolve, reject) => this.#enqueue({ operation, isRelaxed, resolve: (value) => resolve(value as T), reject }), // only `resolve` knows the type of the operation's result
    )
  }

  /** Changes something other than a row, inside a transaction; resolves once the change is flushed to disk. */
  change(operation: () => void): Promise<void> {
    return new Promise((resolve, reject) =>
      this.#enqueue({ operation, isRelaxed: false, isFlushed: true, resolve: () => resolve(), reject }),
    )
  }

  /** Settles when no operation is in flight. */
  async idle(): Promise<void> {
    while (this.#waiting.length > 0) await sleep(1)
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  #enqueue(job: Omit<Job, 'deadline'>): void {
    this.#waiting.push({ ...job, deadline: performance.now() + this.#options.busyMs })
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    defer(() => this.#runWaiting())
  }

  #runWaiting(): void {
    this.#isScheduled = false
    const group = this.#waiting
    this.#waiting = []
    this.#runGroup(group)
    if (this.#commits >= SWEEP_INTERVAL && this.#waiting.length === 0) this.#sweep()
  }

  #runGroup(group: Job[]): void {
    const { check, setFlushing } = this.#options
    const needsFlush = group.some(({ isRelaxed }) => !isRelaxed)
    let isFlushing = false
    try {
      check?.beforeWrite()
      if (needsFlush) setFlushing?.(true)
      isFlushing = needsFlush
      this.#begin.all()
    } catch (cause) {
      if (isFlushing) this.#stopFlushing()
      this.#fail(group, cause)
      return
    }
    const failed = this.#tryToCommit(group)
    if (isFlushing) this.#stopFlushing()
    if (!failed) return
    if (group.length > 1 && !isBusy(failed.cause)) for (const job of group) this.#runGroup([job])
    else this.#fail(group, failed.cause)
  }

  #tryToCommit(group: Job[]): { cause: unknown } | undefined {
    try {
      const outcomes = this.#commitGroup(group)
      this.#settle(outcomes)
      const rest = group.slice(outcomes.length)
      if (rest.length === 0) return undefined
      this.#waiting = [...rest, ...this.#waiting]
      this.#schedule()
      return undefined
    } catch (cause) {
      this.#rollBack()
      return { cause }
    }
  }

  /** Runs as many jobs as fit in one turn inside the current transaction, and commits it. */
  #commitGroup(group: Job[]): JobOutcome[] {
    const { table, now } = this.#options
    table.begin()
    const time = now()
    const until = performance.now() + MAX_TURN_MS
    const outcomes: JobOutcome[] = []
    const changed: string[] = []
    let isRelaxed = false
    let needsFlush = false
    const rows: Rows = {
      get: (key) => table.get(key, time),
      put(key, row) {
        table.put(key, row, isRelaxed)
        changed.push(key)
        needsFlush = !isRelaxed
      },
      remove(key) {
        const removed = table.remove(key)
        changed.push(key)
        needsFlush = !removed.isRelaxed
      },
    }
    for (const job of group) {
      if (outcomes.length > 0 && performance.now() > until) break
      isRelaxed = job.isRelaxed
      needsFlush = job.isFlushed === true
      const version = `${isRelaxed ? RELAXED_PREFIX : ''}${this.#tag}${(this.#versions++).toString(36)}`
      try {
        const result = job.operation(rows, { now: time, version })
        outcomes.push({ job, settle: () => job.resolve(result), needsFlush })
      } catch (error) {
        if (!isOperationError(error)) throw error
        outcomes.push({ job, settle: () => job.reject(error), needsFlush: false })
      }
    }
    if (changed.length > 0) {
      table.finish(changed)
      this.#commits++
    }
    this.#commit.all()
    return outcomes
  }

  #rollBack(): void {
    this.#options.table.undo()
    try {
      runOnce(this.#options.database, 'ROLLBACK')
    } catch {
      // ignored, because SQLite has already rolled back or the commit succeeded
    }
  }

  #stopFlushing(): void {
    try {
      this.#options.setFlushing?.(false)
    } catch {
      // ignored, because commits are then still flushed, which is only slower
    }
  }

  #fail(group: Job[], cause: unknown): void {
    if (isBusy(cause)) this.#postpone(group, cause)
    else for (const { reject } of group) reject(this.#options.toError(cause))
  }

  /** Rejects expired jobs, and retries the others later. Doesn't block the event loop, because the process that holds the lock may be suspended. */
  #postpone(group: Job[], cause: unknown): void {
    const { name, busyMs } = this.#options
    const isExpired = ({ deadline }: Job) => performance.now() > deadline
    const rest: Job[] = []
    for (const job of group) {
      if (isExpired(job)) job.reject(createLockedError(name, busyMs, cause))
      else rest.push(job)
    }
    this.#waiting = [...rest, ...this.#waiting]
    if (this.#waiting.length === 0 || this.#isScheduled) return
    this.#isScheduled = true
    setTimeout(() => this.#runWaiting(), Math.random() * MAX_PAUSE_MS)
  }

  /** Settles the promises of committed jobs: immediately, or after one flush for all that need it. */
  #settle(outcomes: readonly JobOutcome[]): void {
    const { toError } = this.#options
    const flush = this.#flush
    const unflushed: JobOutcome[] = []
    for (const outcome of outcomes) {
      if (flush && outcome.needsFlush) unflushed.push(outcome)
      else outcome.settle()
    }
    if (!flush || unflushed.length === 0) return
    void this.#track(flush()).then(
      () => {
        for (const { settle } of unflushed) settle()
      },
      (cause) => {
        for (const { job } of unflushed) job.reject(toError(cause))
      },
    )
  }

  /** Removes some of the expired rows. If that fails, the next sweep removes them. */
  #sweep(): void {
    const { table, now } = this.#options
    this.#commits = 0
    try {
      this.#begin.all()
    } catch {
      return // another transaction is open, perhaps the app's own
    }
    try {
      if (table.sweep(now())) this.#commits = SWEEP_INTERVAL
      this.#commit.all()
    } catch {
      this.#rollBack()
    }
  }

  /** Makes `idle` wait for the work. */
  #track<T>(work: Promise<T>): Promise<T> {
    const settled: Promise<unknown> = work.then(noop, noop).then(() => this.#running.delete(settled))
    this.#running.add(settled)
    return work
  }
}

/** Creates a function that starts `run`. Calls that arrive during a run share the next run. */
function shareRuns(run: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined
  let next: Promise<void> | undefined
  return function start(): Promise<void> {
    if (!current) {
      current = run().finally(() => {
        current = undefined
      })
      return current
    }
    next ??= current.then(noop, noop).then(() => {
      next = undefined
      return start()
    })
    return next
  }
}

const noop = () => {}

/** Returns whether the error comes from one operation rather than from SQLite. */
const isOperationError = (error: unknown) =>
  error instanceof RangeError || (error instanceof Error && error.name === 'StorageError')
