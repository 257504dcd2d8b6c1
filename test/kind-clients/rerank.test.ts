import OpenAI, { APIError } from 'openai'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { getModel, openVendors, type VendorName } from '../kinds/rerank/support.ts'
import { moderationVendors, respondToModeration } from '../kinds/support/moderation-vendors.ts'
import { rerankVendors } from '../kinds/support/rerank-vendors.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { CohereClient, CohereError, VoyageAIClient, VoyageAIError } from './packages.ts'
import { serve } from './support.ts'

const test = suite('unmodified rerank and moderation clients')

const query = 'a rainy day'
const texts = ['sunny day at the beach', 'rainy afternoon in the city', 'a rainy day']

/** Serves a gateway with all vendors on a port, and opens the clients for it. */
async function open() {
  const { world } = await openVendors()
  const { origin, close } = await serve(world.gateway)
  return {
    close,
    cohere: new CohereClient({ environment: origin, token: 'x' }),
    voyage: new VoyageAIClient({ environment: `${origin}/v1`, apiKey: 'x' }),
  }
}

for (const name of Object.keys(rerankVendors) as VendorName[]) {
  const model = getModel(name)

  test(`Cohere's client can read responses from ${name} in both API versions`, async () => {
    const { cohere, close } = await open()
    try {
      const second = await cohere.v2.rerank({ model, query, documents: texts, topN: 2 })
      assert.equal(
        second.results.map(({ index, relevanceScore }) => [index, relevanceScore]),
        [
          [2, 1],
          [0, 0.2],
        ],
      )
      assert.ok(second.id && second.meta?.apiVersion?.version === '2')
      const documents = texts.map((text, index) => (index === 1 ? text : { text, title: 'day' }))
      const first = await cohere.rerank({
        model,
        query,
        documents,
        topN: 1,
        returnDocuments: true,
        rankFields: ['text'],
      })
      assert.equal([first.results[0]?.index, first.results[0]?.document?.text], [2, 'a rainy day'])
      const all = await cohere.rerank({ model, query, documents: texts })
      assert.equal(
        all.results.map(({ index }) => index),
        [2, 0, 1],
      )
    } finally {
      await close()
    }
  })

  test(`Voyage's client can read responses from ${name}`, async () => {
    const { voyage, close } = await open()
    try {
      const { data, usage } = await voyage.rerank({ model, query, documents: texts, topK: 1, returnDocuments: true })
      assert.equal(
        data?.map(({ index, relevanceScore, document }) => [index, relevanceScore, document]),
        [[2, 1, 'a rainy day']],
      )
      assert.is(typeof usage?.totalTokens, 'number')
      const bare = await voyage.rerank({ model, query, documents: texts })
      assert.equal(
        bare.data?.map(({ index }) => index),
        [2, 0, 1],
      )
    } finally {
      await close()
    }
  })
}

test("Cohere's and Voyage's clients throw errors with the status and the message", async () => {
  const { cohere, voyage, close } = await open()
  try {
    const ofCohere: unknown = await cohere.v2
      .rerank({ model: 'nobody/m', query, documents: texts }, { maxRetries: 0 })
      .catch((error) => error)
    assert.ok(ofCohere instanceof CohereError)
    assert.is(ofCohere.statusCode, 404)
    assert.match((ofCohere.body as { message: string }).message, /nobody/)
    const ofVoyage: unknown = await voyage
      .rerank({ model: getModel('voyage'), query, documents: [] }, { maxRetries: 0 })
      .catch((error) => error)
    assert.ok(ofVoyage instanceof VoyageAIError)
    assert.is(ofVoyage.statusCode, 400)
    assert.match((ofVoyage.body as { detail: string }).detail, /"documents": is required/)
  } finally {
    await close()
  }
})

test("OpenAI's client calls the moderation models of OpenAI and Mistral", async () => {
  const upstream = fakeUpstream((call) => {
    const vendor = Object.values(moderationVendors).find(({ url }) => new URL(url).host === call.url.host)
    return vendor ? respondToModeration(vendor, call) : json({}, 404)
  })
  const world = await openWorld({ fetch: upstream, catalog: defaultCatalog, connections: ['openai', 'mistral'] })
  const { origin, close } = await serve(world.gateway)
  try {
    const openai = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'x', maxRetries: 0 })
    for (const model of ['openai/omni-moderation-latest', 'mistral/mistral-moderation-2603']) {
      const { results } = await openai.moderations.create({ model, input: ['a walk', 'they kill'] })
      assert.equal(
        results.map(({ flagged, categories, category_scores: scores }) => [
          flagged,
          categories.violence,
          scores.violence,
        ]),
        [
          [false, false, 0.01],
          [true, true, 0.9],
        ],
      )
    }
    const image = { type: 'image_url' as const, image_url: { url: 'https://example.test/a.png' } }
    const seen = await openai.moderations.create({
      model: 'openai/omni-moderation-latest',
      input: [{ type: 'text', text: 'a walk' }, image],
    })
    assert.is(seen.results.length, 1)
    const error: unknown = await openai.moderations
      .create({ model: 'mistral/mistral-moderation-2603', input: [image] })
      .catch((error) => error)
    assert.ok(error instanceof APIError)
    assert.equal([error.status, error.param], [400, 'input[0]'])
  } finally {
    await close()
  }
})
