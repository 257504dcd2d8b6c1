import fc from 'fast-check'
import { randomCases } from '../../support/ci.ts'
import { assert, suite } from '../../support/suite.ts'
import { getModel, openVendors, type VendorName } from './support.ts'

const test = suite('reranking with arbitrary requests')

/** The number of random cases, which is lower on developer machines. */
const RUNS = randomCases(5_000, 500)

const names: VendorName[] = ['cohere', 'voyage', 'jina', 'together', 'openrouter', 'bedrock', 'vllm', 'infinity', 'tei']
const models = [...names.map(getModel), 'rank', 'cohere/', 'nobody/m', '']

const value = fc.jsonValue({ maxDepth: 3 })
/** Usually generates an allowed value, and occasionally an arbitrary one. */
const mostlyAllowed = <T>(allowed: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary: allowed }, { weight: 1, arbitrary: value })

const documents = fc.array(
  fc.oneof(
    { weight: 60, arbitrary: fc.string() },
    { weight: 20, arbitrary: fc.constantFrom('', ' ', '\u0000', '__proto__') },
    {
      weight: 10,
      arbitrary: fc.record({ text: mostlyAllowed(fc.string()), image: fc.string() }, { requiredKeys: [] }),
    },
    {
      weight: 30,
      arbitrary: fc.dictionary(
        fc.oneof(fc.constantFrom('text', '__proto__', 'constructor', 'toString'), fc.string()),
        value,
      ),
    },
    { weight: 1, arbitrary: value },
  ),
  { minLength: 1, maxLength: 6 },
)
const body = fc.record(
  {
    model: fc.constantFrom(...models),
    query: mostlyAllowed(fc.string({ minLength: 1 })),
    documents: mostlyAllowed(documents),
    top_n: mostlyAllowed(fc.integer({ min: 1, max: 9 })),
    top_k: mostlyAllowed(fc.integer({ min: 1, max: 9 })),
    return_documents: mostlyAllowed(fc.boolean()),
    rank_fields: mostlyAllowed(fc.array(fc.constantFrom('text', 'title', '__proto__', 'constructor'))),
    max_tokens_per_doc: mostlyAllowed(fc.integer({ min: 1, max: 9_000 })),
    truncation: mostlyAllowed(fc.boolean()),
    priority: mostlyAllowed(fc.nat({ max: 9 })),
    toString: value,
  },
  { requiredKeys: ['model', 'query', 'documents'] },
)

for (const path of ['/v1/rerank', '/v2/rerank'])
  test(`none of ${RUNS} random requests to ${path} causes a gateway error`, {
    timeoutMs: 300_000,
  }, async () => {
    const combos = { rank: { models: [getModel('voyage'), getModel('cohere')], kind: 'rerank' as const } }
    const { world } = await openVendors({ combos })
    const seen = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(body, fc.boolean(), async (sent, isStrict) => {
        const headers: Record<string, string> = isStrict ? { 'x-signalbox-strict': '1' } : {}
        const response = await world.post(path, sent, { headers })
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
