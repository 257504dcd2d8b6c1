/* `npm run bench`: measures the cost of a request over HTTP against a bare proxy. README.md explains how to run it and read its output. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { measureLoad, measureStart } from './measure.ts'
import { hasOwnCpu, pinSelf, startPace } from './processes.ts'
import {
  addLatency,
  type Budgets,
  compare,
  formatId,
  keepSteady,
  type Result,
  type Sample,
  suggestBudgets,
} from './ratios.ts'
import { formatReadme, formatSuite } from './report.ts'
import { createServers } from './servers.ts'
import { listComparisons, type Row, type Suite, selectSuites, suites } from './suites.ts'

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    suggest: { type: 'boolean', default: false },
    'set-budgets': { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string', default: '' },
    records: { type: 'string', default: '100000' },
    out: { type: 'string', default: fileURLToPath(new URL('results/latest.json', import.meta.url)) },
  },
})
const isCheck = values.check
const isSuggesting = values.suggest || values['set-budgets'] !== undefined
const rounds = Number(values.rounds ?? (isCheck ? 2 : 5))
const seconds = Number(values.seconds ?? (isCheck ? 0.6 : 3))
/** The number of requests or chunks that warm up a row's code, and the time limit for them in seconds. */
const WARM_UP = { request: 20_000, chunk: 1_000, seconds: isCheck ? 5 : 20 }
/** The short check starts no more rounds after this time, in ms. It ends earlier if all ratios are within their budgets. */
const CHECK_MS = 200_000

const startedAt = performance.now()
/** Samples are excluded if their CPU was more than this factor slower than at its fastest. */
const UNSTEADY = 1.3

const budgetsFile = new URL('budgets.json', import.meta.url)
const budgets = JSON.parse(await readFile(budgetsFile, 'utf8')) as Budgets // ratios.test.ts checks this file

pinSelf()
if (!hasOwnCpu) console.log('The measured process shares its CPU with the load: there is only one, or no taskset.')
const pace = startPace()
await pace.measure() // warms up its code
const servers = await createServers({ isCheck, records: Number(values.records) })
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void servers.close().finally(() => process.exit(1))) // paused processes wouldn't end with this one
for (const reason of servers.missing) console.log(`Left out: ${reason}`)
const selected = selectSuites(values.only, { isCheck, servers: servers.names })
const comparisons = listComparisons(selected)
let samples: Sample[] = []
const steadySamples = () => keepSteady(samples, UNSTEADY)

try {
  for (const suite of selected) await warmUp(suite, suite.rows)
  for (const suite of selected)
    await warmUp(
      suite,
      suite.rows.filter(({ server }) => countSuites(server) === 1), // several suites warm up the other rows
    )
  for (let round = 0; round < rounds; round++) {
    if (round > 0 && isLate()) break
    console.log(`Round ${round + 1} of ${rounds} ...`)
    for (const suite of selected) await measureRound(suite, suite.rows, round)
  }
  if (isCheck && !isSuggesting) await measureAgain()
} finally {
  await servers.close()
  pace.stop()
}
for (const suite of selected) console.log(`\n${formatSuite(suite, steadySamples(), budgets)}`)
console.log(`\n${formatReadme(steadySamples())}\n`)
await writeResults()
await reportBudgets()
process.exit()

/** Runs each load once to warm up the code, without measuring it. */
async function warmUp({ load, unit, ...suite }: Suite, rows: readonly Row[]): Promise<void> {
  if (!load || !needsWarmUp(suite)) return
  const requestsEach = Math.ceil(WARM_UP[unit === 'chunk' ? 'chunk' : 'request'] / load.connections)
  for (const row of rows)
    await measureRow({ load: { ...load, requestsEach }, row, unit, durationMs: WARM_UP.seconds * 1_000 })
}

/** Returns whether a suite warms up its own rows. If it doesn't, other suites do. */
function needsWarmUp({ compared }: Pick<Suite, 'compared'>): boolean {
  return !compared.includes('lagP99') && !compared.includes('added')
}

function countSuites(server: Row['server']): number {
  const concerned = selected.filter((suite) => suite.load && needsWarmUp(suite))
  return concerned.filter(({ rows }) => rows.some((row) => row.server === server)).length
}

/** Measures each row once, in an order that rotates every round. */
async function measureRound({ name: suite, load, unit }: Suite, rows: readonly Row[], round: number): Promise<void> {
  const turned = rows.map((_, index) => rows[(index + round) % rows.length]).filter((row) => row !== undefined)
  for (const row of turned) {
    const before = await pace.measure()
    const measured = load
      ? await measureRow({ load, row, unit, durationMs: seconds * 1_000 })
      : await measureSeeded(row)
    samples.push({ suite, row: row.name, figures: measured, paceMs: Math.max(before, await pace.measure()) })
  }
  samples = addLatency(samples)
}

interface RowMeasurement {
  load: NonNullable<Suite['load']>
  row: Row
  unit: Suite['unit']
  durationMs: number
}

async function measureRow({ load, row, unit, durationMs }: RowMeasurement): Promise<Sample['figures']> {
  const server = await servers.open(row.server)
  const key = (row.isLimited ? server.limitedKey : server.key) ?? 'none'
  return measureLoad({
    server,
    isDirect: row.server === 'direct',
    load: { ...load, url: server.url, key, cookie: server.cookie, durationMs },
    unit,
  })
}

/**
 * Measures the cold start of a server with usage records in its store. Returns no figures if the store has lost some, which counts as over every
 * budget.
 */
async function measureSeeded(row: Row): Promise<Sample['figures']> {
  const load = suites.find(({ name }) => name === 'json')?.load
  if (!load) throw new Error('There is no suite named json.')
  try {
    return await measureStart(await servers.seed(row.server), { ...load, durationMs: 0 })
  } catch (error) {
    console.log(`Not measured: the start of ${row.label}. ${error instanceof Error ? error.message : error}`)
    return {}
  }
}

function isLate(): boolean {
  return isCheck && performance.now() - startedAt > CHECK_MS
}

/** Measures more rounds, which even out noise but not a regression. */
async function measureAgain(): Promise<void> {
  for (let round = rounds; !isLate(); round++) {
    const exceeded = compare(steadySamples(), comparisons, budgets).filter(({ isExceeded }) => isExceeded)
    if (exceeded.length === 0) return
    console.log(`Once more, over budget: ${exceeded.map(formatId).join(', ')} ...`)
    for (const suite of selected) {
      const concerned = exceeded.filter((result) => result.suite === suite.name)
      const names = new Set(concerned.flatMap(({ row, floor }) => [row, floor, 'direct']))
      if (concerned.length > 0 && !isLate())
        await measureRound(
          suite,
          suite.rows.filter(({ name }) => names.has(name)),
          round,
        )
    }
  }
}

async function writeResults(): Promise<void> {
  const results = compare(steadySamples(), comparisons, budgets)
  const machine = { node: process.version, cpu: cpus()[0]?.model, cpus: cpus().length, hasOwnCpu }
  const took = Math.round((performance.now() - startedAt) / 1_000)
  const meta = { date: new Date().toISOString(), ...machine, arguments: process.argv.slice(2), seconds: took }
  await mkdir(dirname(values.out), { recursive: true })
  await writeFile(values.out, `${JSON.stringify({ meta, results, samples }, null, 1)}\n`)
  console.log(`Took ${took} s; results: ${values.out}`)
}

/** Prints or writes new budgets if requested. Otherwise, makes the process fail if a budget is exceeded. */
async function reportBudgets(): Promise<void> {
  const results = compare(steadySamples(), comparisons, budgets)
  if (isSuggesting) {
    const suggested = `${JSON.stringify(suggestBudgets(results, budgets, values['set-budgets']), null, 2)}\n`
    if (values['set-budgets'] === undefined) console.log(suggested)
    else await writeFile(budgetsFile, suggested)
    return
  }
  if (!isCheck) return
  const exceeded = results.filter(({ isExceeded }) => isExceeded)
  const isUneven = (result: Result) =>
    Number.isNaN(result.ratio) && !Number.isNaN(compare(samples, [result], budgets)[0]?.ratio)
  for (const result of exceeded)
    console.log(
      isUneven(result)
        ? `Not judged: ${formatId(result)}, because the CPU changed its speed whenever it was measured`
        : formatExceeded(result),
    )
  if (exceeded.some((result) => !isUneven(result))) process.exitCode = 1
  else console.log('All ratios are within their budgets (test/bench/budgets.json).')
}

function formatExceeded(result: Result): string {
  const { ratio, atMost } = result
  const measured = Number.isNaN(ratio) ? 'was not measured' : `is ${ratio.toFixed(2)} times its floor`
  return `Over budget: ${formatId(result)} ${measured}, at most ${atMost} is allowed (test/bench/budgets.json)`
}
