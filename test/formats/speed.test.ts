import { wireFormats } from '../../src/types/unions.ts'
import { childProgram } from '../storage/support/children.ts'
import { assert, suite } from '../support/suite.ts'
import { printMatrix } from './support/matrix.ts'

const test = suite<{ ratios: Record<string, number> }>('the cost of translating a stream of 100 events', { ratios: {} })

/** So many times the parsing of the events' JSON at most. */
const MOST = 3

test.before(async (context) => {
  const program = await childProgram(new URL('support/measure-speed.ts', import.meta.url))
  try {
    for (const from of wireFormats) {
      const [measured = ''] = await program.start(from, String(MOST)).ended()
      Object.assign(context.ratios, JSON.parse(measured))
    }
  } finally {
    await program.remove()
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
