import type { JsonObject } from '../../../src/lib/json.ts'
import type { UsageLimits } from '../../../src/types/limits.ts'
import { assert, suite } from '../../support/suite.ts'
import { openWeb } from './open-web.ts'

const test = suite('search and fetch under key limits')

async function open(limits: UsageLimits) {
  const web = await openWeb()
  const { key } = await web.api.keys.create({ name: 'alice', limits })
  const headers = { authorization: `Bearer ${key}` }
  const send = async (path: string, body: JsonObject) => {
    const response = await web.post(path, body, { headers })
    await response.text()
    return response
  }
  return {
    web,
    search: (model: string, extra: JsonObject = {}) => send('/v1/search', { model, query: 'q', ...extra }),
    fetch: (model: string, extra: JsonObject = {}) =>
      send('/v1/web/fetch', { model, ...(!extra.urls && { url: 'https://found.example/a' }), ...extra }),
  }
}

/** By vendor: the cost of a search and a page, as reported by the vendor or listed in the catalog. */
const costs: Array<[what: 'search' | 'fetch', model: string, cost: string]> = [
  ['search', 'perplexity-agent', '0.005'],
  ['search', 'tavily', '0.008'],
  ['search', 'exa', '0.007'],
  ['search', 'brave', '0.005'],
  ['search', 'serper', '0.001'],
  ['search', 'firecrawl', '0.004'],
  ['search', 'searxng', '0'],
  ['fetch', 'firecrawl', '0.002'],
  ['fetch', 'tavily', '0.008'],
  ['fetch', 'exa', '0.001'],
]

for (const [label, model, cost] of costs) {
  test(`a dollar limit applies to ${label === 'search' ? 'searches' : 'pages'} of ${model}`, async () => {
    const world = await open({ usd: { total: 0.0199 } })
    const most = cost === '0' ? 30 : Math.floor(0.0199 / Number(cost))
    for (let time = 0; time < most; time++) {
      const { status, headers } = await world[label](model)
      assert.equal([status, headers.get('x-signalbox-cost')], [200, cost])
    }
    if (cost === '0') return
    assert.is((await world[label](model)).status, 402)
    assert.is(world.web.upstream.calls.length, most)
  })
}

test('a request that may exceed the remaining budget is rejected without a vendor call', async () => {
  const { search, fetch, web } = await open({ usd: { total: 0.01 } })
  for (const extra of [
    { query: ['a', 'b'] },
    { max_results: 20 },
    { provider_options: { search_depth: 'advanced' } },
    { provider_options: { tavily: { search_depth: 'advanced' } } },
  ])
    assert.is((await search('tavily', extra)).status, 402, JSON.stringify(extra))
  assert.is((await search('exa', { content_options: { full_page: true } })).status, 402)
  assert.is((await fetch('tavily', { urls: ['https://a.example/', 'https://b.example/'] })).status, 402)
  assert.is(web.upstream.calls.length, 0)
})

test('a dollar limit skips vendors with an unknown price unless a custom price is set', async () => {
  const { search, web } = await open({ usd: { total: 1 } })
  assert.is((await search('jina')).status, 402)
  assert.is(web.upstream.calls.length, 0)
  await web.api.combos.create({ name: 'any', kind: 'webSearch', models: ['jina', 'brave'] })
  assert.is((await search('any')).headers.get('x-signalbox-target'), 'brave/search')
  const { connections } = await web.api.connections.list()
  const { id = '' } = connections.find(({ provider }) => provider === 'jina') ?? {}
  await web.api.connections.update(id, { prices: { search: { input: 0.05, search: 0.001 } } })
  const { status, headers } = await search('jina')
  assert.equal([status, headers.get('x-signalbox-cost')], [200, '0.0005'])
})

test('a call that reports units without a price is charged the reserved amount', async () => {
  const { search, web } = await open({ usd: { total: 0.0039 } })
  const { connections } = await web.api.connections.list()
  const { id = '' } = connections.find(({ provider }) => provider === 'jina') ?? {}
  await web.api.connections.update(id, { prices: { search: { search: 0.001 } } }) // the vendor also reports tokens
  const statuses: number[] = []
  for (let time = 0; time < 6; time++) statuses.push((await search('jina')).status)
  assert.equal(statuses, [200, 200, 200, 402, 402, 402])
})

test('malformed bodies and requests for absurd amounts fail with a 400 or 402', async () => {
  const { search, fetch } = await open({ usd: { total: 1 }, tokens: { total: 10 } })
  for (const extra of [
    { query: Array(1e4).fill('a') },
    { max_results: 1e308 },
    { max_results: -1 },
    { provider_options: [[]] },
  ])
    assert.ok([400, 402].includes((await search('tavily', extra)).status), JSON.stringify(extra).slice(0, 40))
  assert.ok([400, 402].includes((await fetch('exa', { urls: {} })).status))
})
