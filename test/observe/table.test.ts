import { readFileSync } from 'node:fs'
import { familyName } from '../../src/observe/exposition.ts'
import { labels, type Metric, measures } from '../../src/observe/measures.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the page about metrics')
/** Without the blanks that line columns up. */
const page = readFileSync(new URL('../../src/observe/README.md', import.meta.url), 'utf8').replace(/ +\|/g, ' |')

/** A row of the table of the page. */
function rowOf(metric: Metric): string {
  const { name, kind, labels: names, help } = metric
  const prometheus = `${familyName(metric)}${kind === 'counter' ? '_total' : ''}`
  const kinds = { counter: 'counter', histogram: 'histogram', upDown: 'gauge', gauge: 'gauge' }
  return `| \`${name}\` | \`${prometheus}\` | ${kinds[kind]} | ${names.map((label) => `\`${label}\``).join(', ')} | ${help} |`
}

test('has every measure, as the table of measures has it', () => {
  for (const metric of Object.values(measures)) assert.ok(page.includes(rowOf(metric)), rowOf(metric))
})

test('has every label', () => {
  for (const [name, meaning] of Object.entries(labels))
    assert.ok(page.includes(`| \`${name}\` | ${meaning} |`), `${name}: ${meaning}`)
})
