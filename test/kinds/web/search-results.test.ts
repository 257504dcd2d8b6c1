import { assert, suite } from '../../support/suite.ts'
import { openWeb } from './open-web.ts'
import { searchVendors } from './vendors.ts'

const test = suite('search results for clients')

const page = { title: 'A page', url: 'https://found.example/a', snippet: 'Words', position: 1 }
const full = { content: { format: 'markdown', text: '# W', length: 3, truncated: true } }
const image = 'https://found.example/i.png'
const favicon = 'https://found.example/f.ico'

/** By provider: the only result, the usage, and what hooks receive. */
const cases: Record<string, { result: object; usage: object; recorded: object }> = {
  'perplexity-agent': {
    result: { ...page, date: '2025-11-03', last_updated: '2025-11-04' },
    usage: { searches: 1 },
    recorded: { units: { search: 1 }, costUsd: 0.005 },
  },
  tavily: {
    result: { ...page, ...full, date: '2025-11-03', score: 0.9, favicon },
    usage: { searches: 1, credits: 1 },
    recorded: { units: { credit: 1 }, costUsd: 0.008 },
  },
  exa: {
    result: {
      ...page,
      ...{ snippet: 'Words … more words', date: '2025-11-03T00:00:00.000Z', author: 'An author', image, favicon },
      content: { format: 'text', text: 'Who', length: 3, truncated: true },
    },
    usage: { searches: 1, cost: 0.007 },
    recorded: { units: { search: 1 }, costUsd: 0.007 },
  },
  brave: {
    result: { ...page, snippet: 'Words & tags', date: '2025-11-03T10:00:00', author: 'Found', image, favicon },
    usage: { searches: 1 },
    recorded: { units: { search: 1 }, costUsd: 0.005 },
  },
  serper: {
    result: { ...page, date: '2025-11-03' },
    usage: { searches: 1, credits: 1 },
    recorded: { units: { credit: 1 }, costUsd: 0.001 },
  },
  firecrawl: {
    result: { ...page, ...full },
    usage: { searches: 1, credits: 2 },
    recorded: { units: { credit: 2 }, costUsd: 0.004 },
  },
  jina: {
    result: { ...page, ...full, date: '2025-11-03' },
    usage: { searches: 1, tokens: 10_000 },
    recorded: { inputTokens: 10_000, outputTokens: 0, units: undefined, costUsd: undefined },
  },
  searxng: {
    result: { ...page, date: '2025-11-03T00:00:00', score: 1.5, image },
    usage: { searches: 1 },
    recorded: { units: { search: 1 }, costUsd: 0 },
  },
}

for (const { provider } of searchVendors) {
  test(`results from ${provider} are converted to the common format`, async () => {
    const web = await openWeb()
    const content_options = { full_page: true, max_characters: 3 }
    const response = await web.post('/v1/search', { model: `${provider}/search`, query: 'q', content_options })
    assert.is(response.status, 200, await response.clone().text())
    assert.is(response.headers.get('content-type'), 'application/json')
    assert.is(response.headers.get('x-signalbox-target'), `${provider}/search`)
    const { id, ...reply } = await response.json()
    const expected = cases[provider]
    assert.ok(typeof id === 'string' && id !== '')
    const serverTime = provider === 'perplexity-agent' ? { server_time: '2026-01-01T00:00:00Z' } : {}
    assert.equal(reply, {
      ...{ object: 'search', model: `${provider}/search`, results: [expected?.result], usage: expected?.usage },
      ...serverTime,
    })
    const recorded: Record<string, unknown> = { ...web.recorded.usages.at(-1) }
    for (const [name, value] of Object.entries(expected?.recorded ?? {})) assert.equal(recorded[name], value, name)
    assert.is(web.upstream.open, 0)
  })

  test(`a search without results from ${provider} is a valid response`, async () => {
    const empty = { results: [], data: [], organic: [], web: { results: [] }, type: 'search', searchParameters: {} }
    const web = await openWeb({
      respond: () => Response.json(provider === 'firecrawl' ? { success: true, data: { web: [] } } : empty),
    })
    const response = await web.post('/v1/search', { model: `${provider}/search`, query: 'q' })
    assert.is(response.status, 200)
    assert.equal((await response.json()).results, [])
  })

  test(`a response from ${provider} that isn't a list of results is a failure`, async () => {
    for (const body of [{}, { results: 'none', data: 'none', organic: {}, web: 1 }, { message: 'hello' }]) {
      const web = await openWeb({ respond: () => Response.json(body) })
      const response = await web.post('/v1/search', { model: `${provider}/search`, query: 'q' })
      assert.is(response.status, 502)
      assert.equal(web.recorded.errors, [])
    }
  })

  test(`damaged results from ${provider} are skipped`, async () => {
    const junk = [
      null,
      1,
      'text',
      [],
      {},
      { url: 1 },
      { url: '', link: '' },
      { title: {}, url: 'https://ok.example/', link: 'https://ok.example/' },
    ]
    const bodies = {
      ...{ results: junk, data: junk, organic: junk, news: junk, web: { results: junk }, type: 'search' },
      ...{ usage: [], costDollars: 'much', creditsUsed: -1, credits: '1', meta: null, searchParameters: {} },
    }
    const web = await openWeb({
      respond: () => Response.json(provider === 'firecrawl' ? { success: true, data: { web: junk } } : bodies),
    })
    const response = await web.post('/v1/search', { model: `${provider}/search`, query: 'q' })
    assert.is(response.status, 200)
    assert.equal((await response.json()).results, [{ title: '', url: 'https://ok.example/', snippet: '', position: 1 }])
  })
}

test("a cost that a vendor doesn't report is unknown, never zero", async () => {
  const web = await openWeb({ respond: () => Response.json({ code: 200, data: [] }) })
  await web.post('/v1/search', { model: 'jina/search', query: 'q' })
  assert.equal(web.recorded.usages.at(-1)?.units, { search: 1 })
  assert.is(web.recorded.usages.at(-1)?.costUsd, undefined)
})
