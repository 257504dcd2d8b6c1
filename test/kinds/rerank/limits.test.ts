import type { JsonObject } from '../../../src/lib/json.ts'
import type { UsageLimits } from '../../../src/types/limits.ts'
import { assert, suite } from '../../support/suite.ts'
import { getModel, openVendors } from './support.ts'

const test = suite('reranking under key limits')

const body = { query: 'red fruit', documents: ['a red fruit', 'a tree'] }

/** Opens a gateway with all vendors, and returns a function that sends requests with a limited key. */
async function open(limits: UsageLimits) {
  const { world, send: createRequest, upstream } = await openVendors()
  const { key } = await world.api.keys.create({ name: 'alice', limits })
  const send = async (model: string, extra: JsonObject = {}) => {
    const response = await createRequest(model, '/v2/rerank', { ...body, ...extra }, { authorization: `Bearer ${key}` })
    await response.text()
    return response
  }
  return { send, upstream }
}

test('a dollar limit applies to searches, which are charged as reported', async () => {
  const { send, upstream } = await open({ usd: { total: 0.008 } })
  for (let times = 0; times < 3; times++) {
    const { status, headers } = await send(getModel('cohere'))
    assert.equal([status, headers.get('x-signalbox-cost')], [200, '0.0025'])
  }
  assert.is((await send(getModel('cohere'))).status, 402)
  assert.is(upstream.calls.length, 3)
})

test("a dollar limit applies to tokens, and the query's tokens are counted once per document", async () => {
  const { send, upstream } = await open({ usd: { total: 1 } })
  assert.is((await send(getModel('voyage'))).status, 200)
  const query = 'word '.repeat(4_000)
  const documents = Array.from({ length: 1_000 }, () => 'a')
  const { status } = await send(getModel('voyage'), { query, documents }) // up to 8 million tokens at $0.05 per million
  assert.is(status, 200)
  const dear = await open({ usd: { total: 0.1 } })
  assert.is((await dear.send(getModel('voyage'), { query, documents })).status, 402)
  assert.equal([upstream.calls.length, dear.upstream.calls.length], [2, 0])
})

test('a dollar limit rejects models without a price, and requests that may count as too many searches', async () => {
  const { send, upstream } = await open({ usd: { total: 0.008 } })
  const documents = Array.from({ length: 500 }, () => 'a')
  assert.is((await send(getModel('cohere'), { documents })).status, 402)
  for (const model of ['bedrock/amazon.rerank-v1:0', getModel('vllm')])
    assert.ok((await send(model)).status >= 400, model)
  assert.is(upstream.calls.length, 0)
  assert.is((await send(getModel('bedrock'))).status, 200)
})

test('a token limit counts the tokens that vendors report, and none for a search', async () => {
  const { send } = await open({ tokens: { total: 10_000 } })
  for (let times = 0; times < 30; times++) assert.is((await send(getModel('cohere'))).status, 200)
  let answered = 0
  while ((await send(getModel('voyage'))).status === 200) answered++
  assert.ok(answered > 10 && answered < 200, `${answered}`)
})
