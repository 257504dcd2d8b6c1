import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { Worker } from 'node:worker_threads'
import { createRandom } from '../support/random.ts'
import { describeError } from './describe.ts'
import type { Order, Report } from './protocol.ts'
import { type FileRecord, openFile, SkipSignal, within } from './registry.ts'

/*
 * Loads and runs test files sequentially, and reports each step to its parent process, which kills this process if a step blocks. The argument is the
 * default test timeout, in ms.
 */

/** The seed for all random numbers. */
const SEED = Number(process.env.SEED ?? 1)

/** How long a file's leftover timers and promises may still throw before the process exits, in ms. */
const LATE_MS = 20

type Queue = Array<() => Promise<unknown>>
const uvu = globalThis as { UVU_DEFER?: number; UVU_QUEUE?: Queue[] }
uvu.UVU_DEFER = 1 // must be set before uvu is loaded, so uvu starts nothing itself

const timeoutMs = Number(process.argv[2])
/** Loading a file may take this many times as long as a test, because it may start another runtime. */
const LOADING = 3
const send = (report: Report) => void process.send?.(report)
const fail = (title: string, error: unknown) => send({ at: 'failed', title, text: describeError(error) })

for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
  process.on(event, (error: unknown) => fail(event, error))
}
new Worker(new URL('./leash.ts', import.meta.url)).unref()
silenceUvu()

process.on('message', async (order: Order) => {
  if (order.do === 'stop') return void setTimeout(() => process.exit(0), LATE_MS)
  await runFile(order.path)
  send({ at: 'end' })
})
send({ at: 'end' })

async function runFile(path: string): Promise<void> {
  const file: FileRecord = {
    timeoutMs,
    tests: [],
    starts: [],
    onPhase: (phase) => send({ at: 'phase', ...phase }),
    onFailure: fail,
    onOutcome: ({ suite, name, outcome }) => {
      const title = `${suite} › ${name}`
      if (outcome?.kind === 'failed') send({ at: 'failed', title, text: outcome.errors.map(describeError).join('\n') })
      else if (outcome?.kind === 'skipped') send({ at: 'skipped', title, reason: outcome.reason })
      else send({ at: 'passed', title })
    },
  }
  openFile(file)
  Math.random = createRandom(SEED).next // so failing tests can be reproduced
  try {
    await runSuites(path, file)
  } catch (error) {
    if (error instanceof SkipSignal) send({ at: 'skipped', title: 'the whole file', reason: error.message })
    else fail('the file itself', error)
  }
  // Waits two turns, so an unhandled rejection is attributed to the file that caused it.
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  openFile(undefined)
}

async function runSuites(path: string, file: FileRecord): Promise<void> {
  const loading = { title: 'loading', timeoutMs: timeoutMs * LOADING }
  file.onPhase(loading)
  const source = await readFile(path, 'utf8')
  if (/^import\b[^'"]*['"]uvu['"]/m.test(source)) {
    throw 'it imports uvu: take `suite` and `assert` from test/support/suite.ts, which forget nothing'
  }
  await seedProperties()
  const queue: Queue = []
  uvu.UVU_QUEUE = [queue]
  await within(loading, () => import(pathToFileURL(path).href))
  if (file.tests.length === 0) throw 'it declares no test'
  for (const start of file.starts) start()
  for (const runSuite of queue) await runSuite().catch(() => {}) // a hook's error has been reported
  for (const { outcome, suite, name } of file.tests) if (!outcome) fail(`${suite} › ${name}`, 'it did not run')
}

/** Makes property tests use the same cases in every run. */
async function seedProperties(): Promise<void> {
  const { configureGlobal } = await import('fast-check')
  configureGlobal({ seed: SEED })
}

/** Disables uvu's dots, because the runner prints the report. */
function silenceUvu(): void {
  const write = process.stdout.write.bind(process.stdout)
  const isUvu = /^(?:[•✘] | {2}\(\d+ \/ \d+\)\n)$/
  process.stdout.write = ((chunk: string | Uint8Array, ...rest: []) =>
    typeof chunk === 'string' && isUvu.test(stripVTControlCharacters(chunk))
      ? true
      : write(chunk, ...rest)) as typeof write
}
