import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { familyName } from '../../src/observe/exposition.ts'
import { type Metric, measures } from '../../src/observe/measures.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the dashboard and the alerts of Grafana and Prometheus')

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

const fileOf = (name: string) => readFileSync(new URL(`../../src/observe/grafana/${name}`, import.meta.url), 'utf8')
const dashboard: Dashboard = JSON.parse(fileOf('signalbox.json'))
const panels = dashboard.panels.filter(({ type }) => type !== 'row')
const { groups }: Rules = parse(fileOf('alerts.yml'))
const rules = groups.flatMap((group) => group.rules)

/** The names under which a measure is scraped. */
function sampleNames(metric: Metric): string[] {
  const name = familyName(metric)
  if (metric.kind === 'histogram') return [`${name}_bucket`, `${name}_sum`, `${name}_count`]
  return [metric.kind === 'counter' ? `${name}_total` : name]
}

const labelsBySample = new Map([
  ['up', ['job', 'instance']], // which Prometheus records of each scrape
  ...Object.values<Metric>(measures).flatMap((metric) =>
    sampleNames(metric).map((name): [string, string[]] => {
      const own = metric.labels.map((label) => label.replaceAll('.', '_'))
      return [name, name.endsWith('_bucket') ? [...own, 'le'] : own]
    }),
  ),
])
const WORDS = new Set(['sum', 'max', 'by', 'rate', 'increase', 'histogram_quantile', 'unless', 'label_values'])

/** What in a query is no measure and no label of one that it asks for. */
function unknownIn(query: string): string[] {
  const bare = query.replace(/"[^"]*"/g, '').replace(/\[[^\]]*\]/g, '')
  const words = [...bare.matchAll(/[a-z_]\w*/gi)].map(([word]) => word).filter((word) => !WORDS.has(word))
  const measured = words.filter((word) => labelsBySample.has(word))
  const labels = new Set(measured.flatMap((word) => labelsBySample.get(word) ?? []))
  return measured.length === 0 ? words : words.filter((word) => !labelsBySample.has(word) && !labels.has(word))
}

/** The labels that a text takes from the result of a query, which are those that the query sums by. */
const missingIn = (text: string, names: RegExp, query: string) =>
  [...text.matchAll(names)].flatMap(([, name = '']) => (new RegExp(`by \\([^)]*\\b${name}\\b`).test(query) ? [] : name))

test('a query that names no measure, or a label that is not one of it, is found', () => {
  assert.equal(unknownIn('sum by (le) (rate(signalbox_attempts_total{signalbox_outcome="a", model="m"}[5m]))'), [
    'le',
    'model',
  ])
  assert.equal(unknownIn('rate(signalbox_attempts[5m])'), ['signalbox_attempts'])
  assert.equal(missingIn('{{a}}', /\{\{(\w+)\}\}/g, 'sum by (b) (x)'), ['a'])
})

test('every query of the dashboard asks for measures and labels that there are', () => {
  const queries = [
    ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...dashboard.templating.list.flatMap(({ definition }) => definition ?? []),
  ]
  assert.ok(queries.length > 30)
  for (const query of queries) assert.equal(unknownIn(query), [], query)
})

test('every panel says what it shows, in a unit, with labels that its query has, and covers no other', () => {
  assert.equal(new Set(panels.map(({ title }) => title)).size, panels.length)
  for (const { title, description, fieldConfig, targets = [], gridPos } of panels) {
    assert.ok(description && fieldConfig?.defaults.unit && targets.length > 0, title)
    for (const { expr, legendFormat } of targets) {
      assert.equal(missingIn(legendFormat, /\{\{(\w+)\}\}/g, expr), [], title)
      for (const [, name] of expr.matchAll(/\$(\w+)/g))
        assert.ok(
          name?.startsWith('__') || dashboard.templating.list.some((one) => one.name === name),
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

test('every alert asks for measures and labels that there are, and names no label that its query has not', () => {
  assert.ok(rules.length >= 6)
  for (const { alert, expr, annotations } of rules) {
    assert.equal(unknownIn(expr), [], alert)
    assert.equal(missingIn(annotations.summary, /\$labels\.(\w+)/g, expr), [], alert)
  }
})

test('the alert of a gateway that cannot be reached is for the job of the examples', () => {
  const { expr } = rules.find(({ alert }) => alert === 'SignalboxDown') ?? {}
  const [, job] = expr?.match(/\bup\{job="([^"]+)"\}/) ?? []
  for (const file of ['../../examples/container/prometheus.yml', '../../src/observe/README.md'])
    assert.ok(readFileSync(new URL(file, import.meta.url), 'utf8').includes(`job_name: ${job}\n`), file)
})
