import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { fakeUpstream, json } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('vector lengths that no vendor supports')

const content = { parts: [{ text: 'Hi' }] }
const requests: Record<string, (model: string, width: unknown) => [at: string, body: object, field: RegExp]> = {
  OpenAI: (model, dimensions) => ['/v1/embeddings', { model, input: 'Hi', dimensions }, /dimensions/],
  Voyage: (model, width) => ['/v1/embeddings', { model, input: 'Hi', output_dimension: width }, /output_dimension/],
  Cohere: (model, width) => ['/v2/embed', { model, texts: ['Hi'], output_dimension: width }, /output_dimension/],
  Google: (model, outputDimensionality) => [
    `/v1beta/models/${model}:embedContent`,
    { content, outputDimensionality },
    /outputDimensionality/,
  ],
  'Google, in a batch': (model, outputDimensionality) => [
    `/v1beta/models/${model}:batchEmbedContents`,
    { requests: [{ content, outputDimensionality }] },
    /outputDimensionality/,
  ],
  'the AI SDK': (_, outputDimensionality) => [
    '/v4/ai/embedding-model',
    { values: ['Hi'], providerOptions: { google: { outputDimensionality } } },
    /providerOptions|dimensions/,
  ],
}

for (const [client, request] of Object.entries(requests))
  for (const model of [
    'openai/text-embedding-3-small',
    'google/gemini-embedding-001',
    'cohere/embed-v4.0',
    'voyage/voyage-3.5',
  ])
    test(`an unsupported vector length fails before ${model} is called (${client})`, async () => {
      const upstream = fakeUpstream(() => json({}, 400))
      const connections = ['openai', 'google', 'cohere', 'voyage']
      const { gateway } = await openWorld({ fetch: upstream, catalog: defaultCatalog, connections })
      for (const width of ['-1', '0', '1.5', '1e400', '"8"', 'true', '{"toString":1}', '[8]']) {
        const [at, body, field] = request(model, 'WIDTH')
        const headers = {
          'content-type': 'application/json',
          ...{ 'ai-model-id': model, 'ai-embedding-model-specification-version': '4' },
        }
        const text = JSON.stringify(body).replace('"WIDTH"', width)
        const response = await gateway.fetch(
          new Request(`http://gateway${at}`, { method: 'POST', headers, body: text }),
        )
        const error = await response.text()
        assert.is(response.status, 400, error)
        assert.match(error, field)
      }
      assert.is(upstream.calls.length, 0)
    })
