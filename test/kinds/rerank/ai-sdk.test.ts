import { createCohere } from '@ai-sdk/cohere'
import { APICallError, rerank } from 'ai'
import { assert, suite } from '../../support/suite.ts'
import { rerankVendors } from '../support/rerank-vendors.ts'
import { getModel, openVendors, type VendorName } from './support.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false }) // the AI SDK warns about objects that it sends as JSON

const test = suite('reranking with the AI SDK')

async function open() {
  const { world, upstream } = await openVendors()
  const fetch = (input: string | URL | Request, init?: RequestInit) => world.gateway.fetch(new Request(input, init))
  return { up: upstream, cohere: createCohere({ baseURL: 'http://gateway/v2', apiKey: 'x', fetch }) }
}

const documents = ['sunny day at the beach', 'rainy afternoon in the city', 'a rainy day']

for (const name of Object.keys(rerankVendors) as VendorName[])
  test(`${name} ranks strings and objects`, async () => {
    const { cohere } = await open()
    const model = cohere.reranking(getModel(name))
    const { ranking, rerankedDocuments } = await rerank({ model, query: 'a rainy day', documents, topN: 2 })
    assert.equal(
      ranking.map(({ originalIndex }) => originalIndex),
      [2, 0],
    )
    assert.is(ranking[0]?.score, 1)
    assert.equal(rerankedDocuments, ['a rainy day', 'sunny day at the beach'])
    const objects = documents.map((text) => ({ text }))
    const ranked = await rerank({ model, query: 'a rainy day', documents: objects })
    assert.equal(
      ranked.ranking.map(({ originalIndex }) => originalIndex),
      [2, 0, 1],
    )
  })

test("an error has the gateway's or the vendor's message", async () => {
  const { cohere } = await open()
  const getError = async (model: string, query: string, priority = 0) => {
    const callOptions = { model: cohere.reranking(model), query, documents, maxRetries: 0 }
    const error: unknown = await rerank({ ...callOptions, providerOptions: { cohere: { priority } } }).catch(
      (error) => error,
    )
    assert.ok(APICallError.isInstance(error), String(error))
    return `${error.statusCode} ${error.message}`
  }
  assert.match(await getError('nobody/m', 'q'), /^404 .*nobody/)
  assert.match(await getError(getModel('voyage'), ''), /^400 "query": is required/)
  assert.match(await getError(getModel('cohere'), 'q', -1), /^422 .*parameter 'priority' is not valid/)
})
