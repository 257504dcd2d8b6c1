import { endpoints, findEndpoint } from '../../src/protocols/kinds/kinds.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { vendors } from './embedding/vendors.ts'

const test = suite('kinds in the built-in catalog')

/** A provider's embedding response, in every format at once. */
const ANSWERS: Record<string, object> = {
  embedding: {
    data: [{ object: 'embedding', index: 0, embedding: [1, 2] }],
    embeddings: { float: [[1, 2]] },
    embedding: { values: [1, 2] },
    predictions: [{ embeddings: { values: [1, 2] } }],
  },
}

const settings: Record<string, object> = {
  azure: { apiKey: 'azure-key-1', providerSpecificData: { resource: 'mine' } },
  vertex: { apiKey: 'ya29.token', providerSpecificData: { project: 'mine' } },
  bedrock: { apiKey: 'ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl', providerSpecificData: { region: 'eu-west-1' } },
}

test("OpenAI's image and audio models have prices", async () => {
  const unpriced = defaultCatalog.openai?.models?.filter(({ type = 'llm', price }) => type !== 'llm' && !price)
  assert.equal(unpriced, [])
  for (const [model, costUsd] of [
    ['gpt-image-1', (10 * 5 + 4_160 * 40) / 1e6],
    ['gpt-image-1-mini', (10 * 2 + 4_160 * 8) / 1e6],
    ['gpt-image-1.5', (10 * 5 + 4_160 * 32) / 1e6],
    ['gpt-image-2.5-flare', (10 * 5 + 4_160 * 30) / 1e6],
  ] as const) {
    const usage = { input_tokens: 10, output_tokens: 4_160, total_tokens: 4_170 }
    const { post, recorded } = await openWorld({
      fetch: fakeUpstream(() => json({ created: 1, data: [{ b64_json: 'aGk=' }], usage })),
      catalog: defaultCatalog,
      connections: ['openai'],
    })
    await (await post('/v1/images/generations', { model: `openai/${model}`, prompt: 'A cat' })).text()
    assert.equal([recorded.requests[0]?.costUsd, recorded.requests[0]?.costSource], [costUsd, 'counted'], model)
  }
})

for (const [provider, { serviceKinds = ['llm'], models = [] }] of Object.entries(defaultCatalog)) {
  if (!serviceKinds.includes('embedding')) continue
  test(`every ${provider} embedding model returns embeddings`, async () => {
    const of = models.filter(({ type }) => type === 'embedding').map(({ id }) => id)
    const upstream = fakeUpstream(() => json(ANSWERS.embedding))
    const { post } = await openWorld({
      fetch: upstream,
      catalog: defaultCatalog,
      connections: [{ provider, ...settings[provider] }],
    })
    for (const model of of.length > 0 ? of : ['any']) {
      const response = await post('/v1/embeddings', { model: `${provider}/${model}`, input: 'Hi' })
      const advice = 'If the vendor has its own format, add its response to ANSWERS.embedding.'
      assert.is(response.status, 200, `${model} ${await response.text()} ${advice}`)
    }
  })
}

test('findEndpoint supports the kind of every endpoint', () => {
  for (const { operation } of endpoints) assert.ok(findEndpoint(operation.kind), operation.kind)
})

test('more than fifteen embedding vendors have a fake server', () => {
  assert.ok(Object.keys(vendors).length > 15)
})
