import fc from 'fast-check'
import { times } from '../support/ci.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { randomAnswers, randomKinds, randomWorld } from './random-world.ts'
import { referenceListing } from './reference.ts'
import { listWorld } from './world.ts'

const test = suite('comparing listings with a reference implementation of the specification')

test('the listing matches the reference on thousands of random data sets', async () => {
  const clock = fakeClock(1_700_000_000_999)
  const seen = { entries: 0, lookUps: 0 }
  const property = fc.asyncProperty(randomWorld, randomKinds, randomAnswers, async (world, kinds, responses) => {
    const fetch = async (url: string) => {
      const response = responses[url]
      seen.lookUps++
      return response === undefined ? new Response('no', { status: 503 }) : Response.json(response)
    }
    const actual = await listWorld(world, kinds, { fetch, clock })
    const expected = referenceListing(world, kinds, 1_700_000_000, (url) => responses[url])
    seen.entries += actual.length
    assert.equal(actual, expected)
  })
  await fc.assert(property, { seed: 20_261_121, numRuns: times(6_000) })
  assert.ok(seen.entries > times(15_000), `the worlds are too empty: ${seen.entries} entries`)
  assert.ok(seen.lookUps > times(1_000), `the upstreams are queried too seldom: ${seen.lookUps} times`)
})
