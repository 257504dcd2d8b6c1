import { fork } from 'node:child_process'
import type { Order, Report } from './protocol.ts'

export interface FileResult {
  readonly path: string
  readonly passed: string[]
  readonly failed: Array<{ title: string; text: string }>
  readonly skipped: Array<{ title: string; reason: string }>
  ms: number
}

export interface PoolOptions {
  /** How many processes work at a time. */
  workers: number
  /** A new process for each file. */
  isolate: boolean
  /** How much longer than its own time-out a step may block before its process is ended. */
  graceMs: number
  onResult(result: FileResult): void
}

/** Runs every file and settles when all have a result; a process that dies or blocks costs its file a failure, no more. */
export async function runFiles(paths: readonly string[], options: PoolOptions): Promise<void> {
  const waiting = [...paths]
  const lane = async () => {
    while (waiting.length > 0) await runWorker(waiting, options)
  }
  await Promise.all(Array.from({ length: Math.min(options.workers, paths.length) }, lane))
}

/** One process, from its start until no file is waiting, it was told to stop, or it died. */
function runWorker(waiting: string[], { isolate, graceMs, onResult }: PoolOptions): Promise<void> {
  const child = fork(new URL('./worker.ts', import.meta.url))
  let result: FileResult | undefined
  let startedAt = 0
  let phase = 'starting'
  let overdue: NodeJS.Timeout | undefined
  let hung = false

  const finish = () => {
    clearTimeout(overdue)
    if (!result) return
    result.ms = performance.now() - startedAt
    onResult(result)
    result = undefined
  }

  const order = (what: Order) => void child.send(what)
  const next = (isFirst: boolean) => {
    const path = isolate && !isFirst ? undefined : waiting.shift()
    if (path === undefined) return order({ do: 'stop' })
    result = { path, passed: [], failed: [], skipped: [], ms: 0 }
    startedAt = performance.now()
    return order({ do: 'run', path })
  }

  const watch = (timeoutMs: number) => {
    clearTimeout(overdue)
    overdue = setTimeout(() => {
      hung = true
      child.kill('SIGKILL')
    }, timeoutMs + graceMs)
  }

  child.on('message', (report: Report) => {
    if (report.at === 'passed') result?.passed.push(report.title)
    else if (report.at === 'failed') result?.failed.push(report)
    else if (report.at === 'skipped') result?.skipped.push(report)
    else if (report.at === 'phase') {
      phase = report.title
      watch(report.timeoutMs)
    } else {
      const isFirst = result === undefined
      finish()
      next(isFirst)
    }
  })

  return new Promise((resolve) => {
    child.on('exit', (code, signal) => {
      const text = hung ? 'blocked its process and was ended' : `ended its process (${signal ?? `exit code ${code}`})`
      result?.failed.push({ title: phase, text })
      if (!result && (code !== 0 || signal)) {
        const path = waiting.shift() ?? 'test/runner/worker.ts'
        onResult({ path, passed: [], failed: [{ title: phase, text }], skipped: [], ms: 0 })
      }
      finish()
      resolve()
    })
  })
}
