import { readFileSync } from 'node:fs'
import { assert, suite } from '../support/suite.ts'
import {
  addLatency,
  type Budgets,
  type Comparison,
  compare,
  formatId,
  keepSteady,
  type Sample,
  suggestBudget,
  suggestBudgets,
  summarize,
} from './ratios.ts'
import { listComparisons, type ServerName, selectSuites } from './suites.ts'

const test = suite('benchmark ratios')

const cpu: Comparison = { suite: 'json', row: 'file', floor: 'proxy', figure: 'cpuPerRequest' }

/** Returns a row's samples, one per round, with a single figure. */
function rounds(row: string, values: readonly number[], figure: Comparison['figure'] = 'cpuPerRequest'): Sample[] {
  return values.map((value) => ({ suite: 'json', row, figures: { [figure]: value } }))
}

const judge = (file: readonly number[], proxy: readonly number[], atMost: number) =>
  compare([...rounds('file', file), ...rounds('proxy', proxy)], [cpu], {
    'json.file.cpuPerRequest': { atMost, reason: 'a test' },
  })

test("noise in one round doesn't push a ratio over its budget", () => {
  const [result] = judge([300, 150, 152], [101, 100, 260], 1.6)
  assert.is(result?.ratio, 1.5)
  assert.is(result?.isExceeded, false)
})

test("noise in the proxy's measurement doesn't hide a regression", () => {
  const [result] = judge([190, 192, 191], [100, 160, 101], 1.6)
  assert.is(result?.ratio, 1.9)
  assert.is(result?.isExceeded, true)
})

test('another round lowers a ratio that noise has inflated', () => {
  assert.is(judge([180], [100], 1.6)[0]?.isExceeded, true)
  assert.is(judge([180, 150], [100, 103], 1.6)[0]?.isExceeded, false)
})

test('samples taken while the CPU was slow are excluded', () => {
  const samples = [10, 14, 11, 52].map((paceMs) => ({ suite: 'json', row: 'file', figures: {}, paceMs }))
  assert.equal(
    keepSteady(samples, 1.3).map(({ paceMs }) => paceMs),
    [10, 11],
  )
})

test("a row that wasn't measured counts as over budget", () => {
  for (const [result] of [judge([], [100], 1.6), judge([150], [], 1.6)]) assert.is(result?.isExceeded, true)
})

test('a figure without a budget is shown, but never counts as over budget', () => {
  const [result] = compare([...rounds('file', [900]), ...rounds('proxy', [100])], [cpu], {})
  assert.is(result?.ratio, 9)
  assert.is(result?.atMost, undefined)
  assert.is(result?.isExceeded, false)
})

test('the best round counts for request times and rates, and the median for memory', () => {
  const read = (figure: Comparison['figure']) => summarize(rounds('file', [3, 1, 2], figure), { ...cpu, figure })
  assert.equal(
    [read('cpuPerRequest'), read('lagP99'), read('cpuPerChunk'), read('memory'), read('rate')],
    [1, 1, 2, 2, 3],
  )
})

test('added latency is measured from the lowest latency without a proxy', () => {
  const direct = rounds('direct', [0.4, 0.1], 'p50')
  const [, , first, second] = addLatency([...direct, ...rounds('file', [0.5, 0.3], 'p50')])
  assert.is(Math.round(first?.figures.added ?? 0), 400)
  assert.is(Math.round(second?.figures.added ?? 0), 200)
})

test('a suggested budget fails a 30% regression, or a 20% regression in CPU time', () => {
  assert.is(suggestBudget('cpuPerRequest', 1.5), 1.68)
  for (const ratio of [0.98, 1.234, 3.4567]) {
    const atMost = suggestBudget('cpuPerRequest', ratio)
    assert.ok(atMost > ratio && atMost < ratio * 1.2, `${atMost} for ${ratio}`)
    for (const figure of ['added', 'memory', 'start'] as const) assert.ok(suggestBudget(figure, ratio) < ratio * 1.3)
  }
})

test('suggesting budgets keeps existing reasons and all other budgets', () => {
  const current: Budgets = {
    'json.file.cpuPerRequest': { atMost: 3, reason: 'before SQLite' },
    'start.file.start': { atMost: 1.2, reason: 'first measured' },
  }
  const results = compare([...rounds('file', [150]), ...rounds('proxy', [100])], [cpu], current)
  assert.equal(suggestBudgets(results, current), {
    ...current,
    'json.file.cpuPerRequest': { atMost: 1.68, reason: 'before SQLite' },
  })
  assert.is(
    suggestBudgets(results, current, 'the store is SQLite')['json.file.cpuPerRequest']?.reason,
    'the store is SQLite',
  )
})

test('exactly the ratios in the short check have a budget and a reason', () => {
  const text = readFileSync(new URL('budgets.json', import.meta.url), 'utf8')
  const budgets = JSON.parse(text) as Budgets // checked below
  const servers = new Set<ServerName>(['direct', 'proxy', 'translator', 'file', 'identified', 'usage-off', 'memory'])
  const ids = listComparisons(selectSuites('', { isCheck: true, servers })).map(formatId)
  assert.equal(Object.keys(budgets).sort(), ids.sort())
  for (const [id, { atMost, reason }] of Object.entries(budgets)) {
    assert.ok(Number.isFinite(atMost) && atMost > 0, id)
    assert.ok(reason.length > 10, `${id} needs a reason`)
  }
})

test('every row is compared with a row in the same suite', () => {
  for (const { name, rows } of selectSuites('', { isCheck: false, servers: allServers }))
    for (const { floor } of rows) assert.ok(!floor || rows.some((row) => row.name === floor), `${name}: ${floor}`)
})

const allServers = new Set<ServerName>([
  ...(['direct', 'proxy', 'translator', 'file', 'identified', 'usage-off', 'memory'] as const),
  ...(['redis', 'postgres', 'bun-proxy', 'bun'] as const),
])
