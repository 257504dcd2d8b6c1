import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { fakeUpstream } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'
import { answering, base64Of, type FakeVendor, type Seen, vectorOf, vendors } from './vendors.ts'

const test = suite('embeddings from every vendor for every client')

interface Options {
  task?: string
  width?: number
  truncate?: string
  headers?: Record<string, string>
}

/** Each client's request, and how it reads the response. */
const clients: Record<string, Client> = {
  'OpenAI with floats': openai({}),
  'OpenAI with base64': openai({ encoding_format: 'base64' }),
  Cohere: {
    ask: (model, texts, { task = 'search_document', width, truncate }) => [
      '/v2/embed',
      { model, texts, input_type: task, output_dimension: width, truncate, embedding_types: ['float'] },
    ],
    read: (answer) => Object(answer.embeddings).float,
    tokens: (answer) => Object(answer.meta).billed_units?.input_tokens,
  },
  'Google with several contents': {
    ask: (model, texts, { task, width }) => [
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
    read: (answer) => (answer.embeddings as { values: number[] }[]).map(({ values }) => values),
    tokens: (answer) => Object(answer.usageMetadata).promptTokenCount,
  },
}

interface Client {
  ask(model: string, texts: string[], options: Options): [path: string, body: object]
  read(answer: Record<string, unknown>): unknown
  tokens(answer: Record<string, unknown>): unknown
}

function openai(more: object): Client {
  const packs = 'encoding_format' in more
  return {
    ask: (model, input, { task, width, truncate }) => [
      '/v1/embeddings',
      { model, input, input_type: task, dimensions: width, truncate, ...more },
    ],
    read: (answer) =>
      (answer.data as { embedding: unknown; index: number }[]).map(({ embedding, index }, at) => {
        assert.is(index, at)
        if (!packs) return embedding
        assert.type(embedding, 'string')
        const bytes = Buffer.from(String(embedding), 'base64')
        return Array.from({ length: bytes.length / 4 }, (_, number) => bytes.readFloatLE(number * 4))
      }),
    tokens: (answer) => Object(answer.usage).prompt_tokens,
  }
}

async function open(vendor: FakeVendor) {
  const seen: Seen[] = []
  const up = fakeUpstream(answering(vendor, (one) => seen.push(one)))
  const world = await openWorld({ fetch: up, catalog: defaultCatalog, connections: [vendor.connection] })
  const ask = async (client: Client, texts: string[], options: Options = {}) => {
    const [path, body] = client.ask(`${vendor.connection.provider}/${vendor.model}`, texts, options)
    const response = await world.post(path, body, { headers: options.headers ?? {} })
    const text = await response.text()
    const warnings = response.headers.get('x-signalbox-warning') ?? ''
    return { status: response.status, text, warnings, answer: JSON.parse(text) as Record<string, unknown> }
  }
  return { ...world, up, seen, ask }
}

const TEXTS = ['alpha', 'beta beta', 'c']

for (const [name, vendor] of Object.entries(vendors)) {
  const { lacks = [] } = vendor

  for (const [who, client] of Object.entries(clients))
    test(`${who} gets embeddings from ${name}, in order`, async () => {
      const { ask, seen, recorded } = await open(vendor)
      const { status, text, answer } = await ask(client, TEXTS)
      assert.is(status, 200, text)
      assert.equal(
        client.read(answer),
        TEXTS.map((one) => vectorOf(one)),
      )
      assert.equal(
        seen.flatMap(({ texts }) => texts),
        TEXTS,
      )
      const unsaid = who === 'Cohere' ? 0 : undefined // its clients can't read a response without a number
      const tokens = lacks.includes('usage') ? unsaid : 9
      assert.is(client.tokens(answer), tokens)
      if (tokens) assert.is(recorded.usages[0]?.inputTokens, tokens)
    })

  for (const [who, client] of Object.entries(clients))
    test(`the vector length and task from ${who} reach ${name}, or cause warnings`, async () => {
      const { ask, seen } = await open(vendor)
      const options = { task: 'search_query', ...(!lacks.includes('width') && { width: 3 }) }
      const { status, text, answer, warnings } = await ask(client, TEXTS, options)
      assert.is(status, 200, text)
      const { width = 4 } = options
      assert.equal(
        client.read(answer),
        TEXTS.map((one) => vectorOf(one, width)),
      )
      for (const one of seen) {
        assert.is(one.task, vendor.query)
        if (!lacks.includes('width')) assert.is(one.width, 3)
      }
      const isPassed = who.startsWith('OpenAI') && KEEPS.has(name)
      if (lacks.includes('task') && !isPassed) assert.match(warnings, /dropped:(?:input_type|requests\[\]\.taskType)/)
      else assert.is(warnings, '')
    })

  if (lacks.includes('width'))
    test(`the error for a vector length identifies the field, because ${name} doesn't support it`, async () => {
      const { ask, up } = await open(vendor)
      for (const client of Object.values(clients)) {
        const { status, text } = await ask(client, TEXTS, { width: 3 })
        assert.is(status, 400, text)
        assert.match(text, /dimensions|output_dimension|outputDimensionality/)
      }
      assert.is(up.calls.length, 0)
    })

  test(`a truncation setting reaches ${name}, or the error identifies the field`, async () => {
    const { ask, seen, up } = await open(vendor)
    for (const truncate of ['NONE', 'START', 'END']) {
      const { status, text } = await ask(clients.Cohere as Client, TEXTS, { truncate })
      if (status === 200) continue
      assert.is(status, 400, text)
      assert.match(text, /\\"truncate\\": the target (?:can only truncate|rejects)/)
    }
    assert.is(seen.length, up.calls.length)
  })

  test(`many inputs for ${name} are split, and their vectors are joined in order`, async () => {
    const { ask, seen } = await open(vendor)
    const texts = Array.from({ length: 300 }, (_, at) => `text ${at}`)
    const { status, text, answer } = await ask(clients['OpenAI with base64'] as Client, texts)
    assert.is(status, 200, text)
    assert.equal(
      clients['OpenAI with base64']?.read(answer),
      texts.map((one) => vectorOf(one)),
    )
    assert.equal(seen.flatMap((one) => one.texts).sort(), [...texts].sort())
  })

  test(`the error for token input identifies the field if ${name} doesn't support tokens`, async () => {
    const { post, up } = await open(vendor)
    const response = await post('/v1/embeddings', {
      model: `${vendor.connection.provider}/${vendor.model}`,
      input: [[1, 2], [3]],
    })
    if (TOKENS.has(name)) return assert.equal(JSON.parse(up.calls[0]?.body ?? '').input, [[1, 2], [3]])
    assert.is(response.status, 400)
    assert.match(await response.text(), /\\"input\\": only OpenAI models accept tokens/)
    assert.is(up.calls.length, 0)
  })
}

/** Those whose clients of OpenAI's form are passed through word by word. */
const KEEPS: ReadonlySet<string> = new Set(['Nebius', 'Ollama', 'OpenRouter', 'a server set to the Responses format'])
const TOKENS: ReadonlySet<string> = new Set([
  'OpenAI',
  'Azure',
  'Nebius',
  'OpenRouter',
  'Ollama',
  'a server set to the Responses format',
])

test('a base64 vector has the same numbers bit for bit', () => {
  assert.is(base64Of([0.25, -0.5, 1]), 'AACAPgAAAL8AAIA/')
})
