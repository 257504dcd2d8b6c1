import { type Budgets, compare, type Figure, figures, type Result, type Sample, summarize } from './ratios.ts'
import { listComparisons, type Suite } from './suites.ts'

const FIRST_WIDTH = 40
const WIDTH = 14

/** Returns a suite's table: its figures, followed by the ratio and budget of each compared figure. */
export function formatSuite(suite: Suite, samples: readonly Sample[], budgets: Budgets): string {
  const results = compare(samples, listComparisons([suite]), budgets)
  const head = [
    ...suite.shown.map((figure) => figures[figure].label),
    ...suite.compared.flatMap((figure) => [figures[figure].label, 'ratio', 'budget']),
  ]
  const lines = suite.rows.map(({ name, label, floor }) => {
    const value = (figure: Figure) => formatNumber(summarize(samples, { suite: suite.name, row: name, figure }))
    const cells = suite.compared.flatMap((figure) => {
      const result = floor && results.find((result) => result.row === name && result.figure === figure)
      return [value(figure), ...(result ? formatRatio(result) : ['', ''])]
    })
    return formatLine([label, ...suite.shown.map(value), ...cells])
  })
  return [formatLine([suite.label, ...head]), ...lines].join('\n')
}

function formatRatio({ ratio, atMost, isExceeded }: Result): [string, string] {
  return [(Number.isNaN(ratio) ? '–' : ratio.toFixed(2)) + (isExceeded ? ' !' : ''), atMost?.toFixed(2) ?? '']
}

function formatLine([first = '', ...cells]: string[]): string {
  const start = first.length > FIRST_WIDTH ? `${first}\n${' '.repeat(FIRST_WIDTH)}` : first.padEnd(FIRST_WIDTH)
  return (start + cells.map((cell) => cell.padStart(WIDTH)).join('')).trimEnd()
}

function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return value >= 1_000 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3)
}

/** The rows of the table in the main README. */
const readmeRows: [string, string, string, string, Figure, string][] = [
  ['CPU time per JSON response', 'json', 'file', 'proxy', 'cpuPerRequest', 'µs'],
  ['CPU time per JSON response, key with limits', 'json', 'file-limited', 'proxy', 'cpuPerRequest', 'µs'],
  ['CPU time per JSON response, usage records off', 'json', 'usage-off', 'proxy', 'cpuPerRequest', 'µs'],
  ['CPU time per embedding', 'embeddings', 'file', 'proxy', 'cpuPerRequest', 'µs'],
  ['CPU time per chunk of a stream', 'streams', 'file', 'proxy', 'cpuPerChunk', 'µs'],
  [
    'CPU time per translated chunk, Messages client (minimal translator)',
    'messages-to-chat',
    'file',
    'translator',
    'cpuPerChunk',
    'µs',
  ],
  [
    'CPU time per translated chunk, Chat client (minimal translator)',
    'chat-to-messages',
    'file',
    'translator',
    'cpuPerChunk',
    'µs',
  ],
  ['Added latency (p50), one request at a time', 'latency', 'file', 'proxy', 'added', 'µs'],
  ['Lag of a chunk (p99), 500 slow streams', 'slow-streams', 'file', 'proxy', 'lagP99', 'ms'],
  ['Peak memory, 32 connections', 'json', 'file', 'proxy', 'memory', 'MiB'],
  ['Peak memory, 500 slow streams', 'slow-streams', 'file', 'proxy', 'memory', 'MiB'],
  ['Cold start with 100,000 usage records', 'start', 'file', 'proxy', 'start', 'ms'],
]

/** Returns the measured rows of the main README's table, in Markdown. */
export function formatReadme(samples: readonly Sample[]): string {
  const rows = readmeRows.flatMap(([label, suite, row, floor, figure, unit]) => {
    const value = summarize(samples, { suite, row, figure })
    const base = summarize(samples, { suite, row: floor, figure })
    if (!Number.isFinite(value / base)) return []
    return [[label, `${formatNumber(base)} ${unit}`, `${formatNumber(value)} ${unit}`, (value / base).toFixed(2)]]
  })
  return ['| Default configuration | Bare proxy | Signalbox | Ratio |', '| --- | --: | --: | --: |']
    .concat(rows.map((cells) => `| ${cells.join(' | ')} |`))
    .join('\n')
}
