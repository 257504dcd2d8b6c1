import { readFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { describeError } from './describe.ts'
import type { Order, Report } from './protocol.ts'
import { DEFAULT_TIMEOUT_MS, type FileRecord, openFile, SkipSignal } from './registry.ts'

/*
 * Loads and runs test files, one after the other, and reports each step to the process that started it,
 * which ends this one when a step blocks.
 */

type Queue = Array<() => Promise<unknown>>
const uvu = globalThis as { UVU_DEFER?: number; UVU_QUEUE?: Queue[] }
uvu.UVU_DEFER = 1 // before uvu is loaded: it then starts nothing by itself

let current: FileRecord | undefined
for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
  process.on(event, (error: unknown) => current?.failures.push({ title: event, error }))
}
quietUvu()

process.on('message', async (order: Order) => {
  if (order.do === 'stop') process.exit(0)
  await runFile(order.path)
  send({ at: 'end' })
})
send({ at: 'end' })

async function runFile(path: string): Promise<void> {
  const file: FileRecord = {
    tests: [],
    starts: [],
    failures: [],
    onPhase: (phase) => send({ at: 'phase', ...phase }),
    onOutcome: ({ suite, name, outcome }) => {
      const title = `${suite} › ${name}`
      if (outcome?.kind === 'failed') send({ at: 'failed', title, text: outcome.errors.map(describeError).join('\n') })
      else if (outcome?.kind === 'skipped') send({ at: 'skipped', title, reason: outcome.reason })
      else send({ at: 'passed', title })
    },
  }
  current = file
  openFile(file)
  try {
    await runSuites(path, file)
  } catch (error) {
    if (error instanceof SkipSignal) send({ at: 'skipped', title: 'the whole file', reason: error.message })
    else file.failures.push({ title: 'while loading', error })
  }
  // Two turns, so that a rejection nobody handles is seen while its file is still the current one.
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  openFile(undefined)
  for (const { title, error } of file.failures) send({ at: 'failed', title, text: describeError(error) })
}

async function runSuites(path: string, file: FileRecord): Promise<void> {
  file.onPhase({ title: 'loading', timeoutMs: DEFAULT_TIMEOUT_MS })
  if (/^import\b[^'"]*['"]uvu['"]/m.test(await readFile(path, 'utf8'))) {
    throw new Error('imports uvu itself: take `suite` and `assert` from test/support/suite.ts')
  }
  const queue: Queue = []
  uvu.UVU_QUEUE = [queue]
  await import(pathToFileURL(path).href)
  for (const start of file.starts) start()
  for (const runSuite of queue) await runSuite().catch(() => {}) // hooks have recorded what they threw
  if (file.tests.length === 0) throw `${relative(process.cwd(), path)} declares no test`
  for (const { outcome, suite, name } of file.tests) {
    if (!outcome) file.failures.push({ title: `${suite} › ${name}`, error: 'did not run' })
  }
}

/** uvu prints a dot a test; the report is somebody else's. */
function quietUvu(): void {
  const write = process.stdout.write.bind(process.stdout)
  const isUvu = /^(?:[•✘] | {2}\(\d+ \/ \d+\)\n)$/
  process.stdout.write = ((chunk: string | Uint8Array, ...rest: []) =>
    typeof chunk === 'string' && isUvu.test(stripVTControlCharacters(chunk))
      ? true
      : write(chunk, ...rest)) as typeof write
}

function send(report: Report): void {
  process.send?.(report)
}
