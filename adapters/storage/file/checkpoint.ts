import process from 'node:process'
import type { Worker } from 'node:worker_threads'
import { type LocalDatabase, runOnce } from '../sqlite/local-database.ts'

/*
 * A checkpoint copies the write-ahead log into the database and flushes both to disk, which would block the event loop for tens of
 * milliseconds. On Node, a separate thread with its own connection does this when the log has grown.
 */

/** Moves the write-ahead log into the database before it gets too large. */
export interface Checkpoints {
  /** Starts a checkpoint if the log has become large. Never throws. */
  logHasGrown(bytes: number): void
  /** Resolves once the thread has ended. */
  stop(): Promise<void>
}

/** The log size at which a checkpoint starts. */
const MAX_LOG_BYTES = 8 * 1024 * 1024
/** Minimum time between two checkpoints, in ms, because a checkpoint can't move pages that a reader in another process still needs. */
const PAUSE_MS = 500
/** How long to keep an idle thread, in ms. */
const IDLE_MS = 10_000

/** `busy_timeout` makes the checkpoint wait for writers on other connections, whose commits take microseconds. */
const WORKER_SOURCE = `
const { parentPort, workerData } = require('node:worker_threads')
process.emitWarning = () => {}
const { DatabaseSync } = require('node:sqlite')
const database = new DatabaseSync(workerData)
database.exec('PRAGMA busy_timeout = 200; PRAGMA synchronous = NORMAL')
parentPort.on('message', (order) => {
  if (order === 'end') { database.close(); parentPort.close(); return }
  try { for (const mode of ['PASSIVE', 'TRUNCATE']) database.prepare('PRAGMA wal_checkpoint(' + mode + ')').all() } catch {}
  parentPort.postMessage('done')
})`

/** Creates checkpoints for an open database. On Bun and Deno, SQLite itself makes them during commits. */
export function createCheckpoints(database: LocalDatabase, path: string): Checkpoints {
  const { versions } = process
  if (versions.bun !== undefined || Reflect.get(versions, 'deno') !== undefined)
    return { logHasGrown() {}, async stop() {} }
  runOnce(database, 'PRAGMA wal_autocheckpoint = 0')
  let worker: Worker | undefined
  let isWorking = false
  let isStopped = false
  let pausedUntil = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function start(): Worker {
    const { Worker } = process.getBuiltinModule('node:worker_threads') // loaded with the first checkpoint
    const limits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 }
    const started = new Worker(WORKER_SOURCE, { eval: true, workerData: path, resourceLimits: limits, execArgv: [] })
    started.unref()
    started.on('message', () => {
      isWorking = false
      pausedUntil = performance.now() + PAUSE_MS
      timer = setTimeout(end, IDLE_MS)
      timer.unref()
    })
    started.on('error', giveUp)
    started.on('exit', () => {
      clearTimeout(timer)
      worker = undefined
      isWorking = false
    })
    return started
  }

  /** Lets SQLite run checkpoints during commits, without a thread. */
  function giveUp(): void {
    isStopped = true
    try {
      runOnce(database, 'PRAGMA wal_autocheckpoint = 1000')
    } catch {
      // ignored, because the database is closed
    }
  }

  function end(): void {
    clearTimeout(timer)
    worker?.postMessage('end')
  }

  return {
    logHasGrown(bytes) {
      if (bytes < MAX_LOG_BYTES || isWorking || isStopped || performance.now() < pausedUntil) return
      isWorking = true
      clearTimeout(timer)
      try {
        worker ??= start()
        worker.postMessage('checkpoint')
      } catch {
        giveUp()
      }
    },

    async stop() {
      isStopped = true
      const running = worker
      if (!running) return
      const exited = new Promise((resolve) => void running.once('exit', resolve))
      running.ref()
      end()
      await exited
    },
  }
}
