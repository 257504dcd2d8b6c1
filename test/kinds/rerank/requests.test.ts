import type { JsonObject } from '../../../src/lib/json.ts'
import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { assert, suite } from '../../support/suite.ts'
import { getModel, openVendor, openVendors, type VendorName } from './support.ts'

const test = suite('rerank requests')

const query = 'red fruit'
const documents = ['a red fruit', 'a tree']
const plain = { query, documents }

/** Resolves to the body of the only call, and the warnings. */
async function getSentBody(name: VendorName, body: JsonObject, path = '/v1/rerank') {
  const { send, upstream } = await openVendor(name)
  const response = await send(path, body)
  assert.is(response.status, 200, await response.clone().text())
  assert.is(upstream.calls.length, 1)
  const warned = response.headers.get('x-signalbox-warning')
  return { body: JSON.parse(upstream.calls[0]?.body ?? '') as JsonObject, warned, call: upstream.calls[0] }
}

/** Resolves to the texts that a vendor receives for these documents. */
async function textsSent(name: VendorName, extra: JsonObject): Promise<unknown> {
  const { body } = await getSentBody(name, { query, ...extra })
  return body.documents
}

const callOptions: Record<VendorName, JsonObject> = {
  cohere: { model: 'rerank-v4.0-pro', query, documents, top_n: 2 },
  voyage: { model: 'rerank-2.5', query, documents, top_k: 2 },
  jina: { model: 'jina-reranker-v3', query, documents, top_n: 2, return_documents: false },
  together: { model: 'Salesforce/Llama-Rank-V1', query, documents, top_n: 2, return_documents: false },
  openrouter: { model: 'voyageai/rerank-2.5-lite', query, documents, top_n: 2 },
  bedrock: {
    queries: [{ type: 'TEXT', textQuery: { text: query } }],
    sources: documents.map((text) => ({
      type: 'INLINE',
      inlineDocumentSource: { type: 'TEXT', textDocument: { text } },
    })),
    rerankingConfiguration: {
      type: 'BEDROCK_RERANKING_MODEL',
      bedrockRerankingConfiguration: {
        numberOfResults: 2,
        modelConfiguration: { modelArn: 'arn:aws:bedrock:us-east-1::foundation-model/cohere.rerank-v3-5:0' },
      },
    },
  },
  vllm: { model: 'BAAI/bge-reranker-v2-m3', query, documents, top_n: 2 },
  infinity: { model: 'mixedbread-ai/mxbai-rerank-base-v1', query, documents, top_n: 2 },
  tei: { query, texts: documents, truncate: true },
}

for (const [name, body] of Object.entries(callOptions) as Array<[VendorName, JsonObject]>)
  test(`${name} gets requests in its own format, with the connection's credential`, async () => {
    const { body: own, warned, call } = await getSentBody(name, { ...plain, return_documents: true })
    assert.equal([own, warned], [body, null])
    assert.match(call?.headers.get('authorization') ?? '', /^Bearer (?:secret-of-|bedrock-api-key)/)
  })

test('a Cohere v2 request passes through to Cohere byte for byte except for the model', async () => {
  const { world, upstream } = await openVendor('cohere')
  const text = '{ "query":"q",\n "documents": ["a", "b"], "new_option" : 1e0, "model": "cohere/rerank-v4.0-pro"}'
  await world.post('/v2/rerank', text)
  assert.is(upstream.calls[0]?.body, text.replace('cohere/', ''))
  assert.is(upstream.calls[0]?.url.href, 'https://api.cohere.com/v2/rerank')
})

test("a request in Cohere's v2 format with fields of other formats is rewritten", async () => {
  for (const [extra, answered] of [
    [{ return_documents: false }, undefined],
    [{ return_documents: true }, { text: 'a red fruit' }],
    [{ rank_fields: ['text'] }, undefined],
    [{ truncation: true, max_chunks_per_doc: 3 }, undefined],
    [{ documents: [{ text: 'a red fruit' }, 'a tree'] }, undefined],
  ] as Array<[JsonObject, unknown]>) {
    const { send, upstream } = await openVendor('cohere')
    const response = await send('/v2/rerank', { ...plain, ...extra })
    assert.is(response.status, 200, await response.clone().text())
    assert.equal(JSON.parse(upstream.calls[0]?.body ?? ''), callOptions.cohere)
    const { results } = (await response.json()) as { results: JsonObject[] }
    assert.equal(results[0]?.document, answered)
  }
})

test('vendor options reach their vendor, and self-hosted servers get everything the client sends', async () => {
  const cases: Array<[VendorName, JsonObject, JsonObject]> = [
    ['cohere', { max_tokens_per_doc: 99, priority: 3 }, { max_tokens_per_doc: 99, priority: 3 }],
    ['voyage', { truncation: false }, { truncation: false }],
    ['openrouter', { user: 'u', provider: { order: ['x'] } }, { user: 'u', provider: { order: ['x'] } }],
    ['vllm', { truncate_prompt_tokens: 5, priority: 2 }, { truncate_prompt_tokens: 5, priority: 2 }],
    ['infinity', { raw_scores: true }, { raw_scores: true }],
  ]
  for (const [name, options, expected] of cases) {
    const { body, warned } = await getSentBody(name, { ...plain, ...options })
    assert.equal(
      [Object.fromEntries(Object.entries(body).slice(-Object.keys(expected).length)), warned],
      [expected, null],
    )
  }
  const { body } = await getSentBody('tei', { ...plain, top_k: 1, truncation: false })
  assert.is(body.truncate, false)
})

test("Bedrock supports a maximum document length for Cohere's models, and no options for Amazon's", async () => {
  const { send, upstream } = await openVendors()
  const getLength = (index: number) =>
    JSON.parse(upstream.calls[index]?.body ?? '').rerankingConfiguration.bedrockRerankingConfiguration
      .modelConfiguration
  const body = { ...plain, max_tokens_per_doc: 99 }
  const ofCohere = await send(getModel('bedrock'), '/v2/rerank', body)
  assert.equal(ofCohere.headers.get('x-signalbox-warning'), null)
  assert.equal(getLength(0).additionalModelRequestFields, { max_tokens_per_doc: 99 })
  const ofAmazon = await send('bedrock/amazon.rerank-v1:0', '/v2/rerank', body)
  assert.equal(ofAmazon.headers.get('x-signalbox-warning'), 'dropped:max_tokens_per_doc')
  assert.equal(getLength(1), { modelArn: 'arn:aws:bedrock:us-east-1::foundation-model/amazon.rerank-v1:0' })
})

test("a full ARN stays unchanged, and access keys sign the call to Bedrock's agent service", async () => {
  const apiKey = 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
  const connections = [{ provider: 'bedrock', apiKey, providerSpecificData: { region: 'us-east-1' } }]
  const { send, upstream } = await openVendors({ connections })
  const arn = 'arn:aws:bedrock:us-east-1::foundation-model/amazon.rerank-v1:0'
  const response = await send(`bedrock/${arn}`, '/v2/rerank', plain)
  assert.is(response.status, 200, await response.clone().text())
  const { modelArn } = JSON.parse(upstream.calls[0]?.body ?? '').rerankingConfiguration.bedrockRerankingConfiguration
    .modelConfiguration
  assert.is(modelArn, arn)
  const authorization = upstream.calls[0]?.headers.get('authorization') ?? ''
  assert.match(
    authorization,
    /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/us-east-1\/bedrock\/aws4_request/,
  )
})

test("Bedrock's URL and ARN use the connection's region, even if chat has a separate URL", async () => {
  const sendTo = async (providerSpecificData: { region: string; baseUrl?: string }) => {
    const connections = [{ provider: 'bedrock', apiKey: 'bedrock-api-key', providerSpecificData }]
    const { send, upstream } = await openVendors({ connections })
    await send('bedrock/amazon.rerank-v1:0', '/v2/rerank', plain)
    const { modelConfiguration } = JSON.parse(upstream.calls[0]?.body ?? '').rerankingConfiguration
      .bedrockRerankingConfiguration
    return [upstream.calls[0]?.url.href, modelConfiguration.modelArn]
  }
  const model = 'foundation-model/amazon.rerank-v1:0'
  assert.equal(await sendTo({ region: 'cn-north-1' }), [
    'https://bedrock-agent-runtime.cn-north-1.amazonaws.com.cn/rerank',
    `arn:aws-cn:bedrock:cn-north-1::${model}`,
  ])
  const baseUrl = 'https://bedrock-runtime.us-gov-west-1.amazonaws.com/'
  assert.equal(await sendTo({ region: 'us-gov-west-1', baseUrl }), [
    'https://bedrock-agent-runtime.us-gov-west-1.amazonaws.com/rerank',
    `arn:aws-us-gov:bedrock:us-gov-west-1::${model}`,
  ])
  assert.is(
    (await sendTo({ region: 'us-east-1', baseUrl: 'http://proxy.test/aws' }))[0],
    'http://proxy.test/aws/rerank',
  )
})

test('a request for more results than documents is limited to the documents', async () => {
  for (const [name, wanted] of [
    ['voyage', 'top_k'],
    ['cohere', 'top_n'],
    ['vllm', 'top_n'],
  ] as const) {
    const { body } = await getSentBody(name, { ...plain, [wanted]: 50 })
    assert.is(body[wanted], 2)
  }
})

test("an empty document is sent as a space, and the indexes don't change", async () => {
  const { send, upstream } = await openVendor('voyage')
  const response = await send('/v2/rerank', { query, documents: ['', 'a red fruit', ''] })
  assert.equal(JSON.parse(upstream.calls[0]?.body ?? '').documents, [' ', 'a red fruit', ' '])
  const { results } = (await response.json()) as { results: Array<{ index: number }> }
  assert.equal(
    results.map(({ index }) => index),
    [1, 0, 2],
  )
  assert.equal(
    JSON.parse((await getSentBody('cohere', { query, documents: ['', 'b'] }, '/v2/rerank')).call?.body ?? '').documents,
    [' ', 'b'],
  )
})

test('objects are ranked by their text, their requested fields, or all fields', async () => {
  const object = {
    title: 'Peru "and" more',
    text: 'A land',
    tags: ['x', 'y'],
    by: { name: 'Ann', year: 2020 },
    none: null,
  }
  const { text: _, ...untitled } = object
  assert.equal(await textsSent('cohere', { documents: [object, 'b'] }), ['A land', 'b'])
  assert.equal(await textsSent('voyage', { documents: [object], rank_fields: ['title', 'text'] }), [
    'title: Peru "and" more\ntext: A land',
  ])
  assert.equal(await textsSent('cohere', { documents: [untitled] }), [
    'title: Peru "and" more\ntags: x, y\nby.name: Ann\nby.year: 2020',
  ])
  assert.equal(await textsSent('cohere', { documents: [object], rank_fields: ['unknown'] }), [' '])
})

test('objects and their field names reach Together unchanged', async () => {
  const objects = [{ title: 'a', text: 'b' }]
  const { body } = await getSentBody('together', { query, documents: objects, rank_fields: ['title'] })
  assert.equal([body.documents, body.rank_fields], [objects, ['title']])
  assert.equal(await textsSent('together', { documents: [...objects, 'c'] }), ['b', 'c'])
})

test('an image document is ranked only by vendors that support images', async () => {
  const image = { image: 'data:image/png;base64,AAAA' }
  const both = { ...image, text: 'a red fruit' }
  assert.equal(await textsSent('jina', { documents: [image, 'b'] }), [image, 'b'])
  assert.equal(await textsSent('openrouter', { documents: [image, both] }), [image, { text: 'a red fruit', ...image }])
  const { body, warned } = await getSentBody('cohere', { query, documents: [both] })
  assert.equal([body.documents, warned], [['a red fruit'], 'dropped:documents[0].image'])

  const { send, upstream } = await openVendors({
    combos: { rank: { models: [getModel('voyage'), getModel('jina')], kind: 'rerank' } },
  })
  assert.is((await send('rank', '/v1/rerank', { query, documents: [image] })).status, 200)
  assert.equal(upstream.providers, ['api.jina.ai'])
  const alone = await send(getModel('voyage'), '/v1/rerank', { query, documents: ['a', image] })
  assert.is(alone.status, 400)
  assert.match(await alone.text(), /documents\[1\]\.image/)
})

test('a request with too many documents for a vendor falls back, or fails with a 400', async () => {
  const combos = { rank: { models: [getModel('voyage'), getModel('cohere')], kind: 'rerank' as const } }
  const { send, upstream } = await openVendors({ combos })
  const many = { query, documents: Array.from({ length: 1_001 }, (_, index) => `text ${index}`) }
  const response = await send('rank', '/v2/rerank', many)
  assert.equal([response.status, upstream.providers], [200, ['api.cohere.com']])
  const { meta } = (await response.json()) as { meta: JsonObject }
  assert.equal(meta.billed_units, { search_units: 11 })
  const alone = await send(getModel('voyage'), '/v2/rerank', many)
  assert.equal([alone.status, upstream.calls.length], [400, 1])
  assert.match(await alone.text(), /at most 1000 documents/)
})

test('a malformed request fails with a 400 that identifies the field, without a provider call', async () => {
  const { send, upstream } = await openVendors()
  const wrong: Array<[JsonObject, string]> = [
    [{ documents }, 'query'],
    [{ query: '', documents }, 'query'],
    [{ query: 7, documents }, 'query'],
    [{ query }, 'documents'],
    [{ query, documents: [] }, 'documents'],
    [{ query, documents: 'a' }, 'documents'],
    [{ query, documents: ['a', 7] }, 'documents[1]'],
    [{ query, documents: [null] }, 'documents[0]'],
    [{ ...plain, top_n: 0 }, 'top_n'],
    [{ ...plain, top_n: -1 }, 'top_n'],
    [{ ...plain, top_n: 1.5 }, 'top_n'],
    [{ ...plain, top_n: '3' }, 'top_n'],
    [{ ...plain, return_documents: 'yes' }, 'return_documents'],
    [{ ...plain, rank_fields: 'text' }, 'rank_fields'],
    [{ ...plain, max_tokens_per_doc: 'many' }, 'max_tokens_per_doc'],
  ]
  for (const name of ['cohere', 'voyage', 'vllm'] as const)
    for (const path of ['/v1/rerank', '/v2/rerank'])
      for (const [body, param] of wrong) {
        const response = await send(getModel(name), path, body)
        const { error } = (await response.json()) as { error: { param: string } }
        assert.equal([response.status, error.param], [400, param], `${name} ${path} ${JSON.stringify(body)}`)
      }
  const both = await getSentBody('vllm', { ...plain, top_k: 1, top_n: 2 })
  assert.equal([both.body.top_n, both.warned], [1, 'dropped:top_n'])
  const top = await send(getModel('cohere'), '/v1/rerank', { ...plain, top_k: 0 })
  assert.match(await top.text(), /"top_k\\": must be a whole number|"param":"top_k"/)
  assert.is(upstream.calls.length, 0)
})

test('unsupported options fail with a 400 in strict mode, without a provider call', async () => {
  const { send, upstream } = await openVendors()
  const strict = { 'x-signalbox-strict': 'true' }
  const response = await send(getModel('voyage'), '/v2/rerank', { ...plain, max_tokens_per_doc: 5 }, strict)
  const { error } = (await response.json()) as { error: { param: string } }
  assert.equal([response.status, error.param, upstream.calls.length], [400, 'max_tokens_per_doc', 0])
  assert.is((await send(getModel('voyage'), '/v2/rerank', { ...plain, top_n: 1 }, strict)).status, 200)
})

test('Voyage clients are recognized by their fields or user agent', async () => {
  const { send } = await openVendors()
  const shapeFor = async (body: JsonObject, headers = {}) => {
    const response = (await (
      await send(getModel('cohere'), '/v1/rerank', { ...plain, ...body }, headers)
    ).json()) as JsonObject
    return 'data' in response ? 'Voyage' : 'results' in response ? 'others' : undefined
  }
  assert.is(await shapeFor({ top_k: 1 }), 'Voyage')
  assert.is(await shapeFor({ truncation: true }), 'Voyage')
  assert.is(await shapeFor({}, { 'user-agent': 'voyageai/0.4.0' }), 'Voyage')
  assert.is(await shapeFor({ top_n: 1, truncation: true }), 'others')
  assert.is(await shapeFor({ top_k: null }), 'others')
})

test("a connection's base URL works with or without the version segment", async () => {
  const sendTo = async (provider: VendorName, baseUrl: string, form?: string) => {
    const id = form === undefined ? provider : 'openai-compatible-x'
    const providerSpecificData = { baseUrl, ...(form !== undefined && { format: form as 'openai-chat' }) }
    const { send, upstream } = await openVendors({ connections: [{ provider: id, providerSpecificData }] })
    await send(`${id}/m`, '/v2/rerank', plain)
    return upstream.calls[0]?.url.href
  }
  assert.is(await sendTo('cohere', 'http://c.test/compatibility/v1'), 'http://c.test/v2/rerank')
  assert.is(await sendTo('cohere', 'http://c.test/v2/'), 'http://c.test/v2/rerank')
  assert.is(await sendTo('cohere', 'http://c.test/proxy'), 'http://c.test/proxy/v2/rerank')
  assert.is(await sendTo('jina', 'http://j.test/v1'), 'http://j.test/v1/rerank')
  assert.is(await sendTo('tei', 'http://t.test/v1', 'tei'), 'http://t.test/rerank')
  assert.is(await sendTo('voyage', 'http://v.test/v1', 'voyage'), 'http://v.test/v1/rerank')
  assert.is(defaultCatalog.cohere?.baseUrl, 'https://api.cohere.ai/compatibility/v1')
})
