import { createRequire } from 'node:module'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { type FakeVendor, getVector, type Received, respond, vendors } from '../kinds/embedding/vendors.ts'
import { fakeUpstream } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { serve } from './support.ts'

const test = suite('unmodified embedding clients')

const require = createRequire(import.meta.url)

interface LangChain {
  embedDocuments(texts: string[]): Promise<number[][]>
  embedQuery(text: string): Promise<number[]>
}

interface Embedded {
  embeddings: { float: number[][] }
  meta?: { billedUnits?: { inputTokens?: number } }
}

const { CohereClient } = require('cohere-ai') as {
  CohereClient: new (options: {
    environment: string
    token: string
  }) => {
    readonly v2: {
      embed(request: {
        model: string
        texts: string[]
        inputType: string
        embeddingTypes: string[]
        outputDimension?: number
        truncate?: string
      }): Promise<Embedded>
    }
  }
}
const { VoyageAIClient } = require('voyageai') as {
  VoyageAIClient: new (options: {
    environment: string
    apiKey: string
  }) => {
    embed(request: {
      model: string
      input: string[]
      inputType?: string
      outputDimension?: number
    }): Promise<{ data?: Array<{ index?: number; embedding?: number[] }> }>
  }
}
const { OpenAIEmbeddings } = require('@langchain/openai') as {
  OpenAIEmbeddings: new (options: {
    model: string
    apiKey: string
    configuration: { baseURL: string }
    encodingFormat?: 'float' | 'base64'
  }) => LangChain
}
const { GoogleGenerativeAIEmbeddings } = require('@langchain/google-genai') as {
  GoogleGenerativeAIEmbeddings: new (options: { model: string; apiKey: string; baseUrl: string }) => LangChain
}

const TEXTS = ['alpha', 'beta beta', 'c']
const WANTED = TEXTS.map((text) => getVector(text))

for (const name of ['OpenAI', 'Cohere', 'Google', 'Voyage', 'Ollama']) {
  const vendor = vendors[name] as FakeVendor
  const model = `${vendor.connection.provider}/${vendor.model}`

  async function open() {
    const seen: Received[] = []
    const upstream = fakeUpstream(respond(vendor, (item) => seen.push(item)))
    const { gateway } = await openWorld({ fetch: upstream, catalog: defaultCatalog, connections: [vendor.connection] })
    return { seen, ...(await serve(gateway)) }
  }

  test(`Cohere's client creates embeddings at ${name}`, async () => {
    const { origin, close, seen } = await open()
    try {
      const cohere = new CohereClient({ environment: origin, token: 'x' })
      const request = { model, texts: TEXTS, inputType: 'search_query', embeddingTypes: ['float'] }
      assert.equal((await cohere.v2.embed(request)).embeddings.float, WANTED)
      const narrow = await cohere.v2.embed({ ...request, outputDimension: 3 })
      assert.equal(
        narrow.embeddings.float,
        TEXTS.map((text) => getVector(text, 3)),
      )
      assert.is(seen.at(-1)?.width, 3)
    } finally {
      await close()
    }
  })

  test(`Voyage's client creates embeddings at ${name}`, async () => {
    const { origin, close } = await open()
    try {
      const voyage = new VoyageAIClient({ environment: `${origin}/v1`, apiKey: 'x' })
      for (const extra of [{}, { inputType: 'document', outputDimension: 3 }]) {
        const { data = [] } = await voyage.embed({ model, input: TEXTS, ...extra })
        const width = 'outputDimension' in extra ? 3 : 4
        assert.equal(
          data.map(({ embedding }) => embedding),
          TEXTS.map((text) => getVector(text, width)),
        )
      }
    } finally {
      await close()
    }
  })

  test(`LangChain creates embeddings at ${name} with its OpenAI and Google clients`, async () => {
    const { origin, close } = await open()
    try {
      for (const client of [
        new OpenAIEmbeddings({ model, apiKey: 'x', configuration: { baseURL: `${origin}/v1` } }),
        new OpenAIEmbeddings({
          model,
          apiKey: 'x',
          configuration: { baseURL: `${origin}/v1` },
          encodingFormat: 'float',
        }),
        new GoogleGenerativeAIEmbeddings({ model, apiKey: 'x', baseUrl: origin }),
      ]) {
        assert.equal(await client.embedDocuments(TEXTS), WANTED)
        assert.equal(await client.embedQuery('alpha'), WANTED[0])
      }
    } finally {
      await close()
    }
  })
}
