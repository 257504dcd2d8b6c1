import { defaultCatalog } from '../../../src/providers/catalog.ts'
import { type Answering, fakeUpstream, json } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('requests with more inputs than a vendor takes')

interface Sent {
  [name: string]: unknown
  texts: string[]
  input: string[]
  requests: object[]
}

async function open(provider: string, answer: (sent: Sent, nth: number) => object) {
  const answering: Answering = ({ body }, nth) => json(answer(JSON.parse(body), nth))
  const up = fakeUpstream(answering)
  const { post } = await openWorld({
    fetch: up,
    catalog: defaultCatalog,
    connections: [{ provider, ...(provider === 'bedrock' && { providerSpecificData: { region: 'us-east-1' } }) }],
  })
  return { post, sent: () => up.calls.map(({ body }): Sent => JSON.parse(body)) }
}

const texts = Array.from({ length: 300 }, (_, at) => `${at}`)

test('keep what the client says to a vendor that speaks its form', async () => {
  const cohere = await open('cohere', (sent) => ({
    embeddings: { int8: sent.texts.map((text) => [Number(text) % 100]) },
  }))
  const asked = { input_type: 'search_query', embedding_types: ['int8'], max_tokens: 100, priority: 1 }
  const response = await cohere.post('/v2/embed', { model: 'cohere/embed-v4.0', texts, ...asked })
  assert.equal(Object(await response.json()).embeddings, { int8: texts.map((text) => [Number(text) % 100]) })
  assert.equal(
    cohere.sent().map(({ texts: list, model, ...rest }) => [list.length, model, rest]),
    [96, 96, 96, 12].map((size) => [size, 'embed-v4.0', asked]),
  )

  const google = await open('google', ({ requests }) => ({ embeddings: requests.map(() => ({ values: [1] })) }))
  const request = { content: { parts: [{ text: 'a' }] }, autoTruncate: true }
  await google.post('/v1/models/google/gemini-embedding-001:batchEmbedContents', {
    requests: texts.map(() => ({ ...request, model: 'models/of-the-client' })),
  })
  for (const { requests } of google.sent())
    assert.equal(
      requests,
      requests.map(() => ({ ...request, model: 'models/gemini-embedding-001' })),
    )
})

test('keep numbers as the vendor packs them, where the client asks for that', async () => {
  const packed = (text: string) => `${text.padStart(4, 'A')}`
  const { post, sent } = await open('voyage', ({ input }) => ({
    data: input.map((text, index) => ({ index, embedding: packed(text) })),
  }))
  const asked = { output_dtype: 'int8', encoding_format: 'base64' }
  const response = await post('/v1/embeddings', { model: 'voyage/voyage-3.5', input: texts, ...asked })
  assert.equal(
    Object(await response.json()).data,
    texts.map((text, index) => ({ object: 'embedding', index, embedding: packed(text) })),
  )
  for (const { input, model, ...rest } of sent()) assert.equal([input.length <= 128, rest], [true, asked])
})

test('are no answer when the vectors of two parts have two widths', async () => {
  const { post } = await open('bedrock', (_, nth) => ({ embedding: nth === 3 ? [1, 2] : [1, 2, 3] }))
  const model = 'bedrock/amazon.titan-embed-text-v2:0'
  const response = await post('/v1/embeddings', { model, input: texts.slice(0, 5) })
  assert.is(response.status, 502)
  assert.match(await response.text(), /embeddings of one width/)
})
