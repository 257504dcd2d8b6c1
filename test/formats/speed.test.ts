import { execFile } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { wireFormats } from '../../src/lib/unions.ts'
import { assert, suite } from '../support/suite.ts'
import { printMatrix } from './support/matrix.ts'

const test = suite<{ ratios: Record<string, number> }>('the cost of translating a stream of 100 events', { ratios: {} })

/** So many times the parsing of the events' JSON at most. */
const MOST = 3

const script = fileURLToPath(new URL('support/measure-speed.ts', import.meta.url))

test.before(async (context) => {
  for (const from of wireFormats) {
    const { stdout } = await promisify(execFile)(process.execPath, [script, from, String(MOST)])
    Object.assign(context.ratios, JSON.parse(stdout))
  }
})

for (const from of wireFormats)
  for (const to of wireFormats)
    test(`${from} for ${to}: at most three times the parsing of their JSON`, ({ ratios }) => {
      const ratio = ratios[`${from} ${to}`] ?? Number.POSITIVE_INFINITY
      assert.ok(ratio <= MOST, `it costs ${ratio.toFixed(2)} times as much`)
    })

test.after(({ ratios }) =>
  printMatrix(new Map(Object.entries(ratios).map(([pair, ratio]) => [pair, ratio.toFixed(2)]))),
)
