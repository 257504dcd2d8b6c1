import fc from 'fast-check'
import { randomCases } from '../../support/ci.ts'
import { assert, suite } from '../../support/suite.ts'
import { models, open } from './support.ts'

const test = suite('moderation with arbitrary requests')

/** The number of random cases, which is lower on developer machines. */
const RUNS = randomCases(10_000, 500)

const value = fc.jsonValue({ maxDepth: 3 })
const mostlyAllowed = <T>(allowed: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 20, arbitrary: allowed }, { weight: 1, arbitrary: value })

const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text: mostlyAllowed(fc.string()) }),
  fc.record({ type: fc.constant('image_url'), image_url: mostlyAllowed(fc.record({ url: fc.string() })) }),
)
const body = fc.record(
  {
    model: fc.constantFrom(...Object.values(models), 'safe', 'nobody/m', ''),
    input: mostlyAllowed(
      fc.oneof(
        fc.string(),
        fc.array(mostlyAllowed(fc.string()), { maxLength: 5 }),
        fc.array(mostlyAllowed(part), { maxLength: 5 }),
      ),
    ),
    user: value,
    constructor: value,
  },
  { requiredKeys: ['model', 'input'] },
)

test(`none of ${RUNS} random moderation requests causes a gateway error`, { timeoutMs: 300_000 }, async () => {
  const combos = { safe: { models: [models.mistral, models.openai], kind: 'moderation' as const } }
  const { world } = await open({ combos })
  const seen = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(body, fc.boolean(), async (sent, isStrict) => {
      const headers: Record<string, string> = isStrict ? { 'x-signalbox-strict': '1' } : {}
      const response = await world.post('/v1/moderations', sent, { headers })
      const text = await response.text()
      assert.not.ok([500, 502].includes(response.status), `${response.status} ${text} for ${JSON.stringify(sent)}`)
      JSON.parse(text)
      assert.equal(world.recorded.errors, [], JSON.stringify(sent))
      seen.set(response.status, (seen.get(response.status) ?? 0) + 1)
      world.recorded.requests.length = world.recorded.attempts.length = world.recorded.usages.length = 0
    }),
    { numRuns: RUNS },
  )
  assert.ok((seen.get(200) ?? 0) > RUNS / 10, `responded: ${JSON.stringify([...seen])}`)
})
