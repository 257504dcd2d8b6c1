import type { JsonObject } from '../../../src/lib/json.ts'
import { rerankVendors as vendors } from '../../../src/protocols/kinds/rerank/rerank-adapters.ts'
import { assert, suite } from '../../support/suite.ts'
import { rank, rerankVendors } from '../support/rerank-vendors.ts'
import { openVendor, type VendorName } from './support.ts'

const test = suite('reranking with each client format and vendor')

const query = 'capital of the United States'
const texts = [
  'Carson City is the capital city of the American state of Nevada.',
  'Washington, D.C. is the capital of the United States.',
  'Capital punishment is legal in some states.',
  'Washington, D.C. is the capital of the United States.',
]
const best = rank(query, texts)

/** A client's request, and how the client reads the response. */
interface ClientAdapter {
  path: string
  body: JsonObject
  read(answer: JsonObject): Array<[index: unknown, score: unknown, document: unknown]>
  /** The response without the results, ID, and model. */
  rest(answer: JsonObject): JsonObject
}

interface Result {
  index: number
  relevance_score: number
  document?: unknown
}

const readResults = (list: unknown): Array<[number, number, unknown]> =>
  (list as Result[]).map(({ index, relevance_score, document }) => [index, relevance_score, document])

const clients: Record<string, ClientAdapter> = {
  'Cohere v2': {
    path: '/v2/rerank',
    body: { query, documents: texts, top_n: 3, max_tokens_per_doc: 200, priority: 1 },
    read: ({ results }) => readResults(results),
    rest: ({ id: _, results: __, ...rest }) => rest,
  },
  'Cohere v1': {
    path: '/v1/rerank',
    body: {
      query,
      documents: texts.map((text, index) => (index === 0 ? text : { text, at: index })),
      top_n: 3,
      return_documents: true,
      max_chunks_per_doc: 2,
    },
    read: ({ results }) => readResults(results),
    rest: ({ id: _, results: __, model: ___, ...rest }) => rest,
  },
  Jina: {
    path: '/v1/rerank',
    body: { query, documents: texts, top_n: 3, return_documents: true },
    read: ({ results }) => readResults(results),
    rest: ({ id: _, results: __, model: ___, ...rest }) => rest,
  },
  Together: {
    path: '/v1/rerank',
    body: { query, documents: texts.map((text) => ({ text, source: 'x' })), top_n: 3, rank_fields: ['text'] },
    read: ({ results }) => readResults(results),
    rest: ({ id: _, results: __, model: ___, ...rest }) => rest,
  },
  Voyage: {
    path: '/v1/rerank',
    body: { query, documents: texts, top_k: 3, return_documents: true, truncation: true },
    read: ({ data }) => readResults(data),
    rest: ({ data: _, model: __, ...rest }) => rest,
  },
}

/** The options that each vendor doesn't support, by client format. */
const lost: Record<VendorName, Partial<Record<string, string[]>>> = {
  cohere: { 'Cohere v1': ['max_chunks_per_doc'], Voyage: ['truncation'] },
  voyage: { 'Cohere v2': ['max_tokens_per_doc', 'priority'], 'Cohere v1': ['max_chunks_per_doc'] },
  jina: {
    'Cohere v2': ['max_tokens_per_doc', 'priority'],
    'Cohere v1': ['max_chunks_per_doc'],
    Voyage: ['truncation'],
  },
  together: {
    'Cohere v2': ['max_tokens_per_doc', 'priority'],
    'Cohere v1': ['max_chunks_per_doc'],
    Voyage: ['truncation'],
  },
  openrouter: {
    'Cohere v2': ['max_tokens_per_doc', 'priority'],
    'Cohere v1': ['max_chunks_per_doc'],
    Voyage: ['truncation'],
  },
  bedrock: { 'Cohere v2': ['priority'], 'Cohere v1': ['max_chunks_per_doc'], Voyage: ['truncation'] },
  vllm: {},
  infinity: {},
  tei: { 'Cohere v2': ['max_tokens_per_doc', 'priority'], 'Cohere v1': ['max_chunks_per_doc'] },
}

test('every rerank vendor has a fake', () => {
  const untested = vendors.map(({ name }) => name).filter((name) => !Object.hasOwn(rerankVendors, name))
  assert.equal(untested, [], 'Add each to test/kinds/support/rerank-vendors.ts.')
})

/** Vendors that charge per search instead of per token. */
const searching = new Set<VendorName>(['cohere', 'bedrock'])

for (const name of Object.keys(rerankVendors) as VendorName[])
  for (const [form, client] of Object.entries(clients)) {
    test(`a ${form} client gets its own format from ${name}`, async () => {
      const { send, upstream } = await openVendor(name)
      const response = await send(client.path, client.body)
      assert.is(response.status, 200, await response.clone().text())
      const reply = (await response.json()) as JsonObject
      const results = client.read(reply)
      assert.equal(
        results.map(([index, score]) => [index, score]),
        best.slice(0, 3).map(({ index, score }) => [index, score]),
      )
      assert.is(upstream.calls.length, 1)
      const documents = results.map(([, , document]) => document)
      assert.equal(
        documents,
        best.slice(0, 3).map(({ index }) => getDocument(client.body, form, index)),
      )

      const warned = response.headers.get('x-signalbox-warning')?.split(', ') ?? []
      assert.equal(
        warned,
        (lost[name][form] ?? []).map((field) => `dropped:${field}`),
      )
      assertUsage(client.rest(reply), form, name)
    })
  }

/** Returns the document in a response of this format, if the client requested it. */
function getDocument({ documents, return_documents: isRequested }: JsonObject, form: string, index: number): unknown {
  if (!isRequested) return undefined
  const sent = (documents as unknown[])[index]
  if (form === 'Voyage') return texts[index]
  return typeof sent === 'string' ? { text: sent } : sent
}

/** Checks that the usage is in searches if the vendor counts them, and otherwise in tokens. */
function assertUsage(rest: JsonObject, form: string, name: VendorName) {
  const tokens = (rest.usage as { total_tokens?: number } | undefined)?.total_tokens
  const billed = (rest.meta as { billed_units?: JsonObject } | undefined)?.billed_units
  const isCounted = !searching.has(name)
  if (form !== 'Cohere v2') assert.is(Number(tokens) > 0, isCounted, JSON.stringify(rest))
  if (form === 'Voyage') return assert.equal(rest, { object: 'list', usage: { total_tokens: tokens } })
  assert.equal(Object.keys(billed ?? {}), searching.has(name) ? ['search_units'] : isCounted ? ['input_tokens'] : [])
}
