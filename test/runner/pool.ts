import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Order, Report } from './protocol.ts'

/** The compile cache, which all processes share. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url))

/** In MiB. Most test objects are short-lived, so a larger young generation makes test runs a tenth faster. */
const ROOM = ['--max-semi-space-size=64']

export interface FileResult {
  readonly path: string
  readonly passed: string[]
  readonly failed: Array<{ title: string; text: string }>
  readonly skipped: Array<{ title: string; reason: string }>
  ms: number
}

export interface PoolOptions {
  /** The number of concurrent processes. */
  workers: number
  /** Whether each file gets a new process. */
  isolate: boolean
  /** The timeout for tests that don't set one, in ms. */
  timeoutMs: number
  /** How long a step may block its process beyond the step's own timeout before the process is killed, in ms. */
  graceMs: number
  onResult(result: FileResult): void
}

/**
 * Runs every file and settles when all have a result. If a process dies or blocks, only its current file fails. Every third worker takes files from
 * the start of the list, which mostly wait. The others take files from the end, and keep the cores busy.
 */
export async function runFiles(paths: readonly string[], options: PoolOptions): Promise<void> {
  const waiting = [...paths]
  const lane = async (_: unknown, number: number) => {
    const take = () => (number % 3 === 0 ? waiting.shift() : waiting.pop())
    while (waiting.length > 0) await runWorker({ waiting, take }, options)
  }
  await Promise.all(Array.from({ length: Math.min(options.workers, paths.length) }, lane))
}

interface Queue {
  waiting: string[]
  take(): string | undefined
}

/** Runs one worker process until no files are left, it is stopped, or it dies. */
function runWorker({ waiting, take }: Queue, { isolate, timeoutMs, graceMs, onResult }: PoolOptions): Promise<void> {
  const child = fork(new URL('./worker.ts', import.meta.url), [String(timeoutMs)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'], // the last one is the leash
    env: { NODE_COMPILE_CACHE: COMPILED, ...process.env },
    execArgv: [...process.execArgv, ...ROOM],
  })
  let result: FileResult | undefined
  let lastPath = 'test/runner/worker.ts'
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

  /** A failure while no file is running is attributed to the last file. */
  const fail = (failure: FileResult['failed'][number]) => {
    if (result) result.failed.push(failure)
    else onResult({ path: lastPath, passed: [], failed: [failure], skipped: [], ms: 0 })
  }

  const order = (what: Order) => void child.send(what)
  const next = (isFirst: boolean) => {
    const path = isolate && !isFirst ? undefined : take()
    if (path === undefined) return order({ do: 'stop' })
    result = { path, passed: [], failed: [], skipped: [], ms: 0 }
    lastPath = path
    startedAt = performance.now()
    return order({ do: 'run', path })
  }

  const watch = (limitMs: number) => {
    clearTimeout(overdue)
    overdue = setTimeout(() => {
      hung = true
      child.kill('SIGKILL')
    }, limitMs + graceMs)
  }

  child.on('message', (report: Report) => {
    if (report.at === 'passed') result?.passed.push(report.title)
    else if (report.at === 'failed') fail(report)
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
      if (result || code !== 0 || signal) fail({ title: phase, text })
      if (!result && phase === 'starting') waiting.length = 0 // if one worker can't start, none can
      finish()
      resolve()
    })
  })
}
