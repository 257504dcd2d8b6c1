import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { getFamilyName } from '../../src/features/observe/exposition.ts'
import { type Metric, measures } from '../../src/features/observe/measures.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the Grafana dashboard and the Prometheus alerts')

interface Panel {
  title: string
  type: string
  description?: string
  fieldConfig?: { defaults: { unit?: string } }
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string; legendFormat: string }[]
}
interface Dashboard {
  uid: string
  panels: Panel[]
  templating: { list: { name: string; definition?: string }[] }
}
interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[]
}

const getFile = (name: string) =>
  readFileSync(new URL(`../../src/features/observe/grafana/${name}`, import.meta.url), 'utf8')
const dashboard: Dashboard = JSON.parse(getFile('signalbox.json'))
const panels = dashboard.panels.filter(({ type }) => type !== 'row')
const { groups }: Rules = parse(getFile('alerts.yml'))
const rules = groups.flatMap((group) => group.rules)

/** Returns the names under which a metric is scraped. */
function getSampleNames(metric: Metric): string[] {
  const name = getFamilyName(metric)
  if (metric.kind === 'histogram') return [`${name}_bucket`, `${name}_sum`, `${name}_count`]
  return [metric.kind === 'counter' ? `${name}_total` : name]
}

const labelsBySample = new Map([
  ['up', ['job', 'instance']], // Prometheus adds this metric to each scrape
  ...Object.values<Metric>(measures).flatMap((metric) =>
    getSampleNames(metric).map((name): [string, string[]] => {
      const own = metric.labels.map((label) => label.replaceAll('.', '_'))
      return [name, name.endsWith('_bucket') ? [...own, 'le'] : own]
    }),
  ),
])
const WORDS = new Set(['sum', 'max', 'by', 'rate', 'increase', 'histogram_quantile', 'unless', 'label_values'])

/** Finds words in a query that are neither metrics nor labels of those metrics. */
function findUnknown(query: string): string[] {
  const bare = query.replace(/"[^"]*"/g, '').replace(/\[[^\]]*\]/g, '')
  const words = [...bare.matchAll(/[a-z_]\w*/gi)].map(([word]) => word).filter((word) => !WORDS.has(word))
  const measured = words.filter((word) => labelsBySample.has(word))
  const labels = new Set(measured.flatMap((word) => labelsBySample.get(word) ?? []))
  return measured.length === 0 ? words : words.filter((word) => !labelsBySample.has(word) && !labels.has(word))
}

/** Finds the labels that a text uses, but that the query doesn't aggregate by. */
const getMissing = (text: string, names: RegExp, query: string) =>
  [...text.matchAll(names)].flatMap(([, name = '']) => (new RegExp(`by \\([^)]*\\b${name}\\b`).test(query) ? [] : name))

test('a query with an unknown metric or label is detected', () => {
  assert.equal(findUnknown('sum by (le) (rate(signalbox_attempts_total{signalbox_outcome="a", model="m"}[5m]))'), [
    'le',
    'model',
  ])
  assert.equal(findUnknown('rate(signalbox_attempts[5m])'), ['signalbox_attempts'])
  assert.equal(getMissing('{{a}}', /\{\{(\w+)\}\}/g, 'sum by (b) (x)'), ['a'])
})

test('every query in the dashboard uses known metrics and labels', () => {
  const queries = [
    ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...dashboard.templating.list.flatMap(({ definition }) => definition ?? []),
  ]
  assert.ok(queries.length > 30)
  for (const query of queries) assert.equal(findUnknown(query), [], query)
})

test('every panel has a unique title, a description, a unit, and labels from its query, and overlaps no other', () => {
  assert.equal(new Set(panels.map(({ title }) => title)).size, panels.length)
  for (const { title, description, fieldConfig, targets = [], gridPos } of panels) {
    assert.ok(description && fieldConfig?.defaults.unit && targets.length > 0, title)
    for (const { expr, legendFormat } of targets) {
      assert.equal(getMissing(legendFormat, /\{\{(\w+)\}\}/g, expr), [], title)
      for (const [, name] of expr.matchAll(/\$(\w+)/g))
        assert.ok(
          name?.startsWith('__') || dashboard.templating.list.some((item) => item.name === name),
          `${title}: ${name}`,
        )
    }
    assert.ok(gridPos.x + gridPos.w <= 24, title)
    const over = dashboard.panels.filter(
      ({ gridPos: { x, y, w, h } }) =>
        x < gridPos.x + gridPos.w && gridPos.x < x + w && y < gridPos.y + gridPos.h && gridPos.y < y + h,
    )
    assert.is(over.length, 1, title)
  }
})

test('every alert uses known metrics and labels, and refers only to labels in its query', () => {
  assert.ok(rules.length >= 6)
  for (const { alert, expr, annotations } of rules) {
    assert.equal(findUnknown(expr), [], alert)
    assert.equal(getMissing(annotations.summary, /\$labels\.(\w+)/g, expr), [], alert)
  }
})

test('the alert for an unreachable gateway uses the job name from the examples', () => {
  const { expr } = rules.find(({ alert }) => alert === 'SignalboxDown') ?? {}
  const [, job] = expr?.match(/\bup\{job="([^"]+)"\}/) ?? []
  for (const file of [
    '../../examples/container/prometheus.yml',
    '../../docs/src/content/docs/guides/metrics-traces-logs.md',
  ])
    assert.ok(readFileSync(new URL(file, import.meta.url), 'utf8').includes(`job_name: ${job}\n`), file)
})
