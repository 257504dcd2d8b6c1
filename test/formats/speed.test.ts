import { wireFormats } from '../../src/types/unions.ts'
import { childProgram } from '../storage/support/children.ts'
import { assert, suite } from '../support/suite.ts'
import { printMatrix } from './support/matrix.ts'

const test = suite<{ ratios: Record<string, number> }>('the cost of translating a 100-event stream', { ratios: {} })

/** The maximum ratio to the time it takes to parse the events' JSON. */
const MOST = 3
/** The number of processes that measure before a ratio counts as too high, because JIT compilation changes the ratio by up to a tenth. */
const TIMES = 10

test.before({ timeoutMs: 300_000 }, async (context) => {
  const program = await childProgram(new URL('support/measure-speed.ts', import.meta.url))
  try {
    for (const from of wireFormats) {
      for (let time = 0; time < TIMES; time++) {
        const [measured = ''] = await program.start(from, String(MOST)).ended()
        const ratios: Record<string, number> = JSON.parse(measured)
        for (const [pair, ratio] of Object.entries(ratios))
          context.ratios[pair] = Math.min(ratio, context.ratios[pair] ?? Number.POSITIVE_INFINITY)
        if (Object.keys(ratios).every((pair) => (context.ratios[pair] ?? 0) <= MOST)) break
      }
    }
  } finally {
    await program.remove()
  }
})

for (const from of wireFormats)
  for (const to of wireFormats)
    test(`translation from ${from} to ${to} takes at most three times as long as parsing the JSON`, ({ ratios }) => {
      const ratio = ratios[`${from} ${to}`] ?? Number.POSITIVE_INFINITY
      assert.ok(ratio <= MOST, `translation takes ${ratio.toFixed(2)} times as long`)
    })

test.after(({ ratios }) =>
  printMatrix(new Map(Object.entries(ratios).map(([pair, ratio]) => [pair, ratio.toFixed(2)]))),
)
