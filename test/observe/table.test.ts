import { readFileSync } from 'node:fs'
import { getFamilyName } from '../../src/features/observe/exposition.ts'
import { labels, type Metric, measures } from '../../src/features/observe/measures.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('metrics documentation')
/** Removes the padding of columns. */
const page = readFileSync(new URL('../../docs/src/content/docs/reference/metrics.md', import.meta.url), 'utf8').replace(
  / +\|/g,
  ' |',
)

/** Returns a metric's row in the documented table. */
function getRow(metric: Metric): string {
  const { name, kind, labels: names, help } = metric
  const prometheus = `${getFamilyName(metric)}${kind === 'counter' ? '_total' : ''}`
  const kinds = { counter: 'counter', histogram: 'histogram', upDown: 'gauge', gauge: 'gauge' }
  return `| \`${name}\` | \`${prometheus}\` | ${kinds[kind]} | ${names.map((label) => `\`${label}\``).join(', ')} | ${help} |`.replace(
    / +\|/g,
    ' |',
  )
}

test('the documented table lists every metric with its definition', () => {
  for (const metric of Object.values(measures)) assert.ok(page.includes(getRow(metric)), getRow(metric))
})

test('the documented table lists every label', () => {
  for (const [name, meaning] of Object.entries(labels))
    assert.ok(page.includes(`| \`${name}\` | ${meaning} |`), `${name}: ${meaning}`)
})
