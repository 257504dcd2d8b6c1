import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { fakeUpstream, json, type Respond } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('requests with more inputs than a vendor accepts')

interface Sent {
  [name: string]: unknown
  texts: string[]
  input: string[]
  requests: object[]
}

async function open(provider: string, respond: (sent: Sent, nth: number) => object) {
  const createResponse: Respond = ({ body }, index) => json(respond(JSON.parse(body), index))
  const upstream = fakeUpstream(createResponse)
  const { post } = await openWorld({
    fetch: upstream,
    catalog: defaultCatalog,
    connections: [{ provider, ...(provider === 'bedrock' && { providerSpecificData: { region: 'us-east-1' } }) }],
  })
  return { post, sent: () => upstream.calls.map(({ body }): Sent => JSON.parse(body)) }
}

const texts = Array.from({ length: 300 }, (_, index) => `${index}`)

test('split requests keep client options for a vendor that uses the same API', async () => {
  const cohere = await open('cohere', (sent) => ({
    embeddings: { int8: sent.texts.map((text) => [Number(text) % 100]) },
  }))
  const requestOptions = { input_type: 'search_query', embedding_types: ['int8'], max_tokens: 100, priority: 1 }
  const response = await cohere.post('/v2/embed', { model: 'cohere/embed-v4.0', texts, ...requestOptions })
  assert.equal(Object(await response.json()).embeddings, { int8: texts.map((text) => [Number(text) % 100]) })
  assert.equal(
    cohere.sent().map(({ texts: list, model, ...rest }) => [list.length, model, rest]),
    [96, 96, 96, 12].map((size) => [size, 'embed-v4.0', requestOptions]),
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

test("split requests keep the vendor's packed vectors if the client requests them", async () => {
  const packVector = (text: string) => `${text.padStart(4, 'A')}`
  const { post, sent } = await open('voyage', ({ input }) => ({
    data: input.map((text, index) => ({ index, embedding: packVector(text) })),
  }))
  const requestOptions = { output_dtype: 'int8', encoding_format: 'base64' }
  const response = await post('/v1/embeddings', { model: 'voyage/voyage-3.5', input: texts, ...requestOptions })
  assert.equal(
    Object(await response.json()).data,
    texts.map((text, index) => ({ object: 'embedding', index, embedding: packVector(text) })),
  )
  for (const { input, model, ...rest } of sent()) assert.equal([input.length <= 128, rest], [true, requestOptions])
})

test('a split request fails if two parts return vectors of different lengths', async () => {
  const { post } = await open('bedrock', (_, index) => ({ embedding: index === 3 ? [1, 2] : [1, 2, 3] }))
  const model = 'bedrock/amazon.titan-embed-text-v2:0'
  const response = await post('/v1/embeddings', { model, input: texts.slice(0, 5) })
  assert.is(response.status, 502)
  assert.match(await response.text(), /embeddings of equal length/)
})

/** Creates this many words, each of which is one token in every tokenizer. */
const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ')
const getWords = (text: string) => text.split(' ').length

/** The maximum number of tokens per call, from the vendors' documentation and https://github.com/langchain-ai/langchain/issues/31227. */
const TOKENS: ReadonlyArray<readonly [model: string, most: number]> = [
  ['openai/text-embedding-3-small', 300_000],
  ['mistral/mistral-embed', 16_384],
  ['openrouter/openai/text-embedding-3-small', 300_000],
  ['openrouter/mistralai/mistral-embed-2312', 16_384],
  ['voyage/voyage-3-large', 120_000],
  ['voyage/voyage-code-3', 120_000],
  ['voyage/voyage-3.5', 320_000],
  ['voyage/voyage-4-lite', 1_000_000],
  ['cohere/embed-v4.0', 128_000],
  ['google/gemini-embedding-001', 20_000],
]

const PATHS = ['/v1/embeddings', '/v2/embed', '/v1beta/models/{model}:batchEmbedContents', '/v4/ai/embedding-model']

/** Returns the texts in a request of any vendor's format. */
const getTexts = ({ texts: list, input, requests }: Sent): string[] =>
  list ?? input ?? requests?.map((request) => Object(request).content.parts[0].text)

for (const [i, [model, most]] of TOKENS.entries())
  for (const path of i < 2 ? PATHS : PATHS.slice(0, 1))
    test(`requests are split by tokens for ${model} at ${path}`, async () => {
      const inputs = Array.from({ length: 1_000 }, (_, index) => `${index} ${words(540)}`)
      const respond = (sent: Sent) => {
        const vectors = getTexts(sent).map((text) => [Number.parseInt(text, 10), 1])
        return {
          data: vectors.map((embedding, index) => ({ index, embedding })),
          embeddings: sent.requests ? vectors.map((values) => ({ values })) : { float: vectors },
        }
      }
      const { post, sent } = await open(model.slice(0, model.indexOf('/')), respond)
      const body = {
        '/v1/embeddings': { model, input: inputs },
        '/v2/embed': { model, texts: inputs, input_type: 'search_document' },
        '/v4/ai/embedding-model': { values: inputs },
      }[path] ?? { requests: inputs.map((text) => ({ content: { parts: [{ text }] } })) }
      const headers = { 'ai-model-id': model, 'ai-embedding-model-specification-version': '4' }
      const response = await post(path.replace('{model}', model), body, { headers })
      assert.is(response.status, 200, await response.clone().text())
      const { data, embeddings } = Object(await response.json())
      const actual = data ?? embeddings.float ?? embeddings
      const firsts = actual.map(
        (item: unknown) => (Array.isArray(item) ? item : (Object(item).embedding ?? Object(item).values))[0],
      )
      assert.equal(firsts, [...inputs.keys()])
      for (const item of sent())
        assert.ok(
          getTexts(item).reduce((sum, text) => sum + getWords(text), 0) <= most,
          `${getTexts(item).length} texts`,
        )
    })

test('token inputs are split by token count, and an oversized input gets its own call', async () => {
  const { post, sent } = await open('openai', ({ input }) => ({
    data: input.map((_, index) => ({ index, embedding: [1] })),
  }))
  const tokens = Array.from({ length: 1_000 }, () => Array.from({ length: 540 }, () => 7))
  assert.is((await post('/v1/embeddings', { model: 'openai/text-embedding-3-small', input: tokens })).status, 200)
  assert.equal(
    sent().map(({ input }) => input.length),
    [555, 445],
  )
  const mistral = await open('mistral', ({ input }) => ({
    data: input.map((_, index) => ({ index, embedding: [1] })),
  }))
  const input = ['a', words(30_000), 'b', 'c']
  assert.is((await mistral.post('/v1/embeddings', { model: 'mistral/mistral-embed', input })).status, 200)
  assert.equal(
    mistral.sent().map((item) => item.input.length),
    [1, 1, 2],
  )
})

test('short embedding inputs are sent in a single call', async () => {
  const { post, sent } = await open('mistral', ({ input }) => ({
    data: input.map((_, index) => ({ index, embedding: [1] })),
  }))
  await post('/v1/embeddings', { model: 'mistral/mistral-embed', input: texts })
  await post('/v1/embeddings', { model: 'mistral/mistral-embed', input: words(40_000) })
  assert.equal(
    sent().map(({ input }) => [input].flat().length),
    [300, 1],
  )
})
