import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import { fakeUpstream, json } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite("embedding usage that the provider doesn't report")

const MODEL = 'google/gemini-embedding-001'
const input = 'a text of some words '.repeat(200)

const open = async () => {
  const upstream = fakeUpstream(() => json({ embedding: { values: [0.5, 1] } }))
  return { upstream, world: await openWorld({ fetch: upstream, catalog: defaultCatalog, connections: ['google'] }) }
}

test('missing usage is estimated and marked as an estimate', async () => {
  const { world } = await open()
  assert.is((await world.post('/v1/embeddings', { model: MODEL, input })).status, 200)
  const [usage] = world.recorded.usages
  assert.is(usage?.costSource, 'estimated')
  assert.ok((usage?.inputTokens ?? 0) > 500, String(usage?.inputTokens))
  assert.is(usage?.outputTokens, 0)
  assert.ok((usage?.costUsd ?? 0) > 0)
})

test('estimated usage counts toward a dollar limit', async () => {
  const { upstream, world } = await open()
  const { key } = await world.api.keys.create({ name: 'alice', limits: { usd: { total: 0.001 } } })
  const send = () =>
    world.post('/v1/embeddings', { model: MODEL, input }, { headers: { authorization: `Bearer ${key}` } })
  const statuses: number[] = []
  for (let time = 0; time < 30; time++) statuses.push((await send()).status)
  assert.is(statuses[0], 200)
  assert.is(statuses.at(-1), 402)
  assert.ok(upstream.calls.length < 10, String(upstream.calls.length))
})

test('usage is estimated if the reported count is 0 or negative, and capped if infinite', async () => {
  for (const tokens of ['0', '-1000000', '1e999']) {
    const response = `{"object":"list","data":[{"index":0,"embedding":[0.5,1]}],"usage":{"prompt_tokens":${tokens}}}`
    const headers = { 'content-type': 'application/json' }
    const upstream = fakeUpstream(() => new Response(response, { headers }))
    const world = await openWorld({ fetch: upstream, catalog: defaultCatalog, connections: ['openai'] })
    await world.post('/v1/embeddings', { model: 'openai/text-embedding-3-small', input })
    const { inputTokens = 0, costSource } = world.recorded.usages[0] ?? {}
    if (tokens === '1e999') assert.equal([inputTokens, costSource], [Number.MAX_SAFE_INTEGER, 'counted'])
    else assert.ok(costSource === 'estimated' && inputTokens > 500 && inputTokens < 2_000, `${inputTokens}`)
  }
})
