import type { JsonObject } from '../../../src/lib/json.ts'
import { strategies } from '../../../src/types/unions.ts'
import type { Strategy } from '../../../src/types.ts'
import { fakeUpstream, json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { rerankVendors, respondAsVendor } from '../support/rerank-vendors.ts'
import { getModel, openVendors } from './support.ts'

const test = suite('rerank targets')

const body = { query: 'red fruit', documents: ['a tree', 'a red fruit'] }
const models = [getModel('voyage'), getModel('cohere')]

/** Creates vendors, with this response in place of Voyage's own. */
const openVoyage = (respond: () => Response) =>
  fakeUpstream((call) =>
    call.url.host === 'api.voyageai.com' ? respond() : respondAsVendor(rerankVendors.cohere, call),
  )

/** Creates a combo that tries the same target first under every strategy. */
const getCombo = (strategy: Strategy) => ({ models, strategy, kind: 'rerank' as const })

for (const strategy of strategies)
  test(`a failing first target falls back to the next under ${strategy}`, async () => {
    const upstream = openVoyage(() => json({ detail: 'overloaded' }, 503))
    const { send } = await openVendors({ fetch: upstream, combos: { rank: getCombo(strategy) } })
    for (let times = 0; times < 4; times++) {
      const response = await send('rank', '/v1/rerank', body)
      assert.is(response.status, 200, await response.clone().text())
      assert.is(response.headers.get('x-signalbox-target'), models[1])
    }
    assert.ok(upstream.calls.length >= 4)
  })

test('a request that one vendor rejects is a client error, without a fallback', async () => {
  const upstream = openVoyage(() => json({ detail: 'The query is too long.' }, 400))
  const { send } = await openVendors({ fetch: upstream, combos: { rank: getCombo('fallback') } })
  const response = await send('rank', '/v1/rerank', body)
  assert.is(response.status, 400)
  assert.match(await response.text(), /The query is too long\./)
  assert.is(upstream.calls.length, 1)
})

test('an invalid rerank response falls back to the next target', async () => {
  const wrong: unknown[] = [
    {},
    { data: [] },
    { data: {} },
    { data: [{ index: 0 }] },
    { data: [{ index: 2, relevance_score: 1 }] },
    { data: [{ index: -1, relevance_score: 1 }] },
    { data: [{ index: 0.5, relevance_score: 1 }] },
    { data: [{ index: 0, relevance_score: '1' }] },
    { data: [null] },
    { data: [0, 0].map((index) => ({ index, relevance_score: 1 })) },
    { error: [{ text: 'no' }] },
    { error: { message: 'no' } },
    [],
    'text',
    null,
  ]
  for (const reply of wrong) {
    const upstream = openVoyage(() => json(JSON.stringify(reply)))
    const { send, world } = await openVendors({ fetch: upstream, combos: { rank: getCombo('fallback') } })
    const response = await send('rank', '/v2/rerank', body)
    assert.equal([response.status, upstream.calls.length], [200, 2], JSON.stringify(reply))
    assert.equal(world.recorded.errors, [])
  }
})

test('a vendor error that is a list is reported without a message', async () => {
  const { send } = await openVendors({ fetch: openVoyage(() => json({ error: [{ text: 'no' }] })) })
  assert.match(await (await send(getModel('voyage'), '/v2/rerank', body)).text(), /an error without a message/)
})

test("rerank results are sorted by score, in the vendor's order for ties, up to top_n", async () => {
  const data = [0, 1, 2, 3].map((index) => ({ index, relevance_score: index === 2 ? 0.5 : -3.25 }))
  const { send } = await openVendors({ fetch: openVoyage(() => json({ data })) })
  const documents = ['a', 'b', 'c', 'd']
  const response = await send(models[0] ?? '', '/v2/rerank', { query: 'q', documents, top_n: 3 })
  const { results } = (await response.json()) as JsonObject
  assert.equal(results, [
    { index: 2, relevance_score: 0.5 },
    { index: 0, relevance_score: -3.25 },
    { index: 1, relevance_score: -3.25 },
  ])
})

test("rerank usage has the vendor's unit, and a cost if the price is known or reported", async () => {
  const { send, world } = await openVendors()
  const many = { query: 'q', documents: Array.from({ length: 101 }, () => 'a b') }
  const requestOptions = ['cohere', 'voyage', 'openrouter', 'bedrock', 'jina', 'vllm'] as const
  for (const name of requestOptions) await send(getModel(name), '/v1/rerank', many)
  const recorded = world.recorded.usages.map(({ inputTokens = 0, units, costUsd, costSource }) => ({
    isCounted: inputTokens > 0,
    units,
    costUsd: costUsd === undefined ? undefined : Number((costUsd - (inputTokens * 0.05) / 1e6).toFixed(9)),
    costSource,
  }))
  assert.equal(recorded[0], { isCounted: false, units: { search: 2 }, costUsd: 0.005, costSource: 'counted' })
  assert.equal(recorded[1], { isCounted: true, units: undefined, costUsd: 0, costSource: 'counted' })
  assert.equal(
    [recorded[2]?.isCounted, world.recorded.usages[2]?.costUsd, recorded[2]?.costSource],
    [true, 3.4e-7, 'reported'],
  )
  assert.equal(recorded[3], { isCounted: false, units: { search: 2 }, costUsd: 0.004, costSource: 'counted' })
  assert.equal([recorded[4]?.isCounted, recorded[4]?.costUsd], [true, undefined])
  assert.equal([recorded[5]?.isCounted, recorded[5]?.costUsd], [true, undefined])
})

test('a model or combo of another kind returns a 400 that names the right endpoint', async () => {
  const combos = {
    rank: getCombo('fallback'),
    chat: { models: ['openai/gpt-4o'] },
  }
  const connections = ['voyage', 'cohere', 'openai']
  const { send, world, upstream } = await openVendors({ combos, connections })
  const wrong: Array<[string, string, JsonObject, RegExp]> = [
    ['rank', '/v1/chat/completions', { messages: [] }, /POST \/v1\/rerank/],
    [models[1] ?? '', '/v1/chat/completions', { messages: [] }, /POST \/v1\/rerank/],
    [models[1] ?? '', '/v1/moderations', { input: 'a' }, /POST \/v1\/rerank/],
    ['openai/omni-moderation-latest', '/v1/rerank', body, /POST \/v1\/moderations/],
    ['chat', '/v2/rerank', body, /POST \/v1\/chat\/completions/],
  ]
  for (const [model, path, sent, reason] of wrong) {
    const response = await send(model, path, sent)
    assert.is(response.status, 400, `${model} at ${path}: ${await response.clone().text()}`)
    assert.match(await response.text(), reason)
  }
  assert.is(upstream.calls.length, 0)
  for (const path of ['/v1/models', '/v1/models/llm', '/v1/models/embedding']) {
    const list = await (await world.gateway.fetch(new Request(`http://gateway${path}`))).text()
    assert.not.match(list, /rerank|moderation|"rank"/, path)
  }
})

test("an explanation lists a rerank request's targets, including those that can't handle it", async () => {
  const { world } = await openVendors({ combos: { rank: getCombo('fallback') } })
  const request = { model: 'rank', path: '/v2/rerank', body: { ...body, max_tokens_per_doc: 9 } }
  const getUses = async (headers: Record<string, string>) => {
    const { targets } = await world.api.explain({ ...request, headers })
    return targets.map(({ provider, model, use }) => `${provider}/${model} ${use}`)
  }
  assert.equal(await getUses({}), [`${models[0]} first`, `${models[1]} next`])
  const { targets } = await world.api.explain({ model: 'rank', path: '/v1/rerank' }) // a request summary without documents
  assert.equal(
    targets.map(({ use }) => use),
    ['first', 'next'],
  )
  assert.equal(await getUses({ 'x-signalbox-strict': '1' }), [`${models[0]} skipped`, `${models[1]} first`])
})
