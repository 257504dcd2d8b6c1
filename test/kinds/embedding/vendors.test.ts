import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { fakeUpstream } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'
import { type FakeVendor, getBase64, getVector, type Received, respond, vendors } from './vendors.ts'

const test = suite('embeddings from every vendor for every client')

interface Options {
  task?: string
  width?: number
  truncate?: string
  headers?: Record<string, string>
}

/** Each client's request, and how the client reads the response. */
const clients: Record<string, Client> = {
  'OpenAI with floats': openai({}),
  'OpenAI with base64': openai({ encoding_format: 'base64' }),
  Cohere: {
    send: (model, texts, { task = 'search_document', width, truncate }) => [
      '/v2/embed',
      { model, texts, input_type: task, output_dimension: width, truncate, embedding_types: ['float'] },
    ],
    read: (response) => Object(response.embeddings).float,
    tokens: (response) => Object(response.meta).billed_units?.input_tokens,
  },
  'Google with multiple contents': {
    send: (model, texts, { task, width }) => [
      `/v1beta/models/${model}:batchEmbedContents`,
      {
        requests: texts.map((text) => ({
          model: `models/${model}`,
          content: { parts: [{ text }] },
          taskType: task && 'RETRIEVAL_QUERY',
          outputDimensionality: width,
        })),
      },
    ],
    read: (response) => (response.embeddings as { values: number[] }[]).map(({ values }) => values),
    tokens: (response) => Object(response.usageMetadata).promptTokenCount,
  },
}

interface Client {
  send(model: string, texts: string[], options: Options): [path: string, body: object]
  read(answer: Record<string, unknown>): unknown
  tokens(answer: Record<string, unknown>): unknown
}

function openai(extra: object): Client {
  const packs = 'encoding_format' in extra
  return {
    send: (model, input, { task, width, truncate }) => [
      '/v1/embeddings',
      { model, input, input_type: task, dimensions: width, truncate, ...extra },
    ],
    read: (response) =>
      (response.data as { embedding: unknown; index: number }[]).map(({ embedding, index }, i) => {
        assert.is(index, i)
        if (!packs) return embedding
        assert.type(embedding, 'string')
        const bytes = Buffer.from(String(embedding), 'base64')
        return Array.from({ length: bytes.length / 4 }, (_, number) => bytes.readFloatLE(number * 4))
      }),
    tokens: (response) => Object(response.usage).prompt_tokens,
  }
}

async function open(vendor: FakeVendor) {
  const seen: Received[] = []
  const upstream = fakeUpstream(respond(vendor, (item) => seen.push(item)))
  const world = await openWorld({ fetch: upstream, catalog: defaultCatalog, connections: [vendor.connection] })
  const send = async (client: Client, texts: string[], options: Options = {}) => {
    const [path, body] = client.send(`${vendor.connection.provider}/${vendor.model}`, texts, options)
    const response = await world.post(path, body, { headers: options.headers ?? {} })
    const text = await response.text()
    const warnings = response.headers.get('x-signalbox-warning') ?? ''
    return { status: response.status, text, warnings, response: JSON.parse(text) as Record<string, unknown> }
  }
  return { ...world, upstream, seen, send }
}

const TEXTS = ['alpha', 'beta beta', 'c']

for (const [name, vendor] of Object.entries(vendors)) {
  const { lacks = [] } = vendor

  for (const [source, client] of Object.entries(clients))
    test(`a client gets embeddings in order: ${source}, from ${name}`, async () => {
      const { send, seen, recorded } = await open(vendor)
      const { status, text, response } = await send(client, TEXTS)
      assert.is(status, 200, text)
      assert.equal(
        client.read(response),
        TEXTS.map((value) => getVector(value)),
      )
      assert.equal(
        seen.flatMap(({ texts }) => texts),
        TEXTS,
      )
      const unsaid = source === 'Cohere' ? 0 : undefined // Cohere's clients can't read a response without a token count
      const tokens = lacks.includes('usage') ? unsaid : 9
      assert.is(client.tokens(response), tokens)
      if (tokens) assert.is(recorded.usages[0]?.inputTokens, tokens)
    })

  for (const [source, client] of Object.entries(clients))
    test(`the vector length and task from ${source} either reach ${name} or cause warnings`, async () => {
      const { send, seen } = await open(vendor)
      const options = { task: 'search_query', ...(!lacks.includes('width') && { width: 3 }) }
      const { status, text, response, warnings } = await send(client, TEXTS, options)
      assert.is(status, 200, text)
      const { width = 4 } = options
      assert.equal(
        client.read(response),
        TEXTS.map((value) => getVector(value, width)),
      )
      for (const item of seen) {
        assert.is(item.task, vendor.query)
        if (!lacks.includes('width')) assert.is(item.width, 3)
      }
      const isPassed = source.startsWith('OpenAI') && KEEPS.has(name)
      if (lacks.includes('task') && !isPassed) assert.match(warnings, /dropped:(?:input_type|requests\[\]\.taskType)/)
      else assert.is(warnings, '')
    })

  if (lacks.includes('width'))
    test(`the error names the vector length field, which ${name} doesn't support`, async () => {
      const { send, upstream } = await open(vendor)
      for (const client of Object.values(clients)) {
        const { status, text } = await send(client, TEXTS, { width: 3 })
        assert.is(status, 400, text)
        assert.match(text, /dimensions|output_dimension|outputDimensionality/)
      }
      assert.is(upstream.calls.length, 0)
    })

  test(`a truncation setting either reaches ${name} or causes an error that names the field`, async () => {
    const { send, seen, upstream } = await open(vendor)
    for (const truncate of ['NONE', 'START', 'END']) {
      const { status, text } = await send(clients.Cohere as Client, TEXTS, { truncate })
      if (status === 200) continue
      assert.is(status, 400, text)
      assert.match(text, /\\"truncate\\": the target (?:can only truncate|rejects)/)
    }
    assert.is(seen.length, upstream.calls.length)
  })

  test(`many inputs for ${name} are split, and their vectors are joined in order`, async () => {
    const { send, seen } = await open(vendor)
    const texts = Array.from({ length: 300 }, (_, index) => `text ${index}`)
    const { status, text, response } = await send(clients['OpenAI with base64'] as Client, texts)
    assert.is(status, 200, text)
    assert.equal(
      clients['OpenAI with base64']?.read(response),
      texts.map((text) => getVector(text)),
    )
    assert.equal(seen.flatMap((item) => item.texts).sort(), [...texts].sort())
  })

  test(`${name} gets token input, or the error names the field`, async () => {
    const { post, upstream } = await open(vendor)
    const response = await post('/v1/embeddings', {
      model: `${vendor.connection.provider}/${vendor.model}`,
      input: [[1, 2], [3]],
    })
    if (TOKENS.has(name)) return assert.equal(JSON.parse(upstream.calls[0]?.body ?? '').input, [[1, 2], [3]])
    assert.is(response.status, 400)
    assert.match(await response.text(), /\\"input\\": only OpenAI models accept tokens/)
    assert.is(upstream.calls.length, 0)
  })
}

/** Vendors for which requests from OpenAI clients pass through unchanged. */
const KEEPS: ReadonlySet<string> = new Set(['Nebius', 'Ollama', 'OpenRouter', 'a server set to the Responses format'])
const TOKENS: ReadonlySet<string> = new Set([
  'OpenAI',
  'Azure',
  'Nebius',
  'OpenRouter',
  'Ollama',
  'a server set to the Responses format',
])

test("the fake vendors' base64 vectors are little-endian floats", () => {
  assert.is(getBase64([0.25, -0.5, 1]), 'AACAPgAAAL8AAIA/')
})
