import { createCohere } from '@ai-sdk/cohere'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { GoogleGenAI } from '@google/genai'
import { embed, embedMany } from 'ai'
import OpenAI from 'openai'
import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { fakeUpstream } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'
import { type FakeVendor, getVector, type Received, respond, vendors } from './vendors.ts'

const test = suite('embedding requests from the official clients')

const TEXTS = ['alpha', 'beta beta', 'c']
const WANTED = TEXTS.map((text) => getVector(text))

/** Vendors with OpenAI's format, with and without base64, and vendors with other formats. */
const requested = ['OpenAI', 'Ollama', 'Cohere', 'Google', 'Voyage', 'Titan on Bedrock'].map(
  (name): [string, FakeVendor] => [name, vendors[name] as FakeVendor],
)

async function open(vendor: FakeVendor) {
  const seen: Received[] = []
  const upstream = fakeUpstream(respond(vendor, (item) => seen.push(item)))
  const { gateway } = await openWorld({ fetch: upstream, catalog: defaultCatalog, connections: [vendor.connection] })
  const fetch = (input: string | URL | Request, init?: RequestInit) => gateway.fetch(new Request(input, init))
  return { up: upstream, seen, fetch, model: `${vendor.connection.provider}/${vendor.model}` }
}

for (const [name, vendor] of requested) {
  test(`openai gets embeddings from ${name}, with the default encoding and as floats`, async () => {
    const { fetch, model } = await open(vendor)
    const client = new OpenAI({ baseURL: 'http://gateway/v1', apiKey: 'none', fetch, maxRetries: 0 })
    for (const extra of [{}, { encoding_format: 'float' as const }]) {
      const { data } = await client.embeddings.create({ model, input: TEXTS, ...extra })
      assert.equal(
        data.map(({ embedding }) => [...embedding]),
        WANTED,
      )
    }
    const one = await client.embeddings.create({ model, input: 'alpha' })
    assert.equal([...(one.data[0]?.embedding ?? [])], WANTED[0])
  })

  test(`@google/genai gets single and multiple embeddings from ${name}`, async () => {
    const { fetch, model } = await open(vendor)
    const { models } = new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl: 'http://gateway', fetch } })
    const one = await models.embedContent({ model, contents: 'alpha' })
    assert.equal(one.embeddings?.[0]?.values, WANTED[0])
    const many = await models.embedContent({ model, contents: TEXTS })
    assert.equal(
      many.embeddings?.map(({ values }) => values),
      WANTED,
    )
  })

  test(`the AI SDK gets embeddings from ${name} through its OpenAI, Google, and Cohere providers`, async () => {
    const { fetch, model } = await open(vendor)
    const openai = createOpenAI({ baseURL: 'http://gateway/v1', apiKey: 'none', fetch })
    const google = createGoogleGenerativeAI({ baseURL: 'http://gateway/v1beta', apiKey: 'none', fetch })
    const cohere = createCohere({ baseURL: 'http://gateway/v2', apiKey: 'none', fetch })
    for (const embedder of [openai.embedding(model), google.embedding(model), cohere.embedding(model)]) {
      assert.equal((await embed({ model: embedder, value: 'alpha', maxRetries: 0 })).embedding, WANTED[0])
      assert.equal((await embedMany({ model: embedder, values: TEXTS, maxRetries: 0 })).embeddings, WANTED)
    }
  })
}
