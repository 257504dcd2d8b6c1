import { assert, suite } from '../../support/suite.ts'
import { lost, openWeb } from './open-web.ts'

const test = suite('search requests to vendors')

const everything = {
  query: 'cats & dogs',
  max_results: 5,
  offset: 10,
  country: 'de',
  search_language_filter: ['de'],
  search_recency_filter: 'week',
  search_domain_filter: ['example.com', 'docs.org', '-spam.com'],
  search_type: 'news',
  content_options: { full_page: true, format: 'markdown', max_characters: 3 },
  max_tokens: 100,
  search_context_size: 'low',
  nonsense: 1,
}

const sites = '(site:example.com OR site:docs.org)'

/** By vendor: the request it receives, and the fields of the client's request that it doesn't support. */
const cases: Record<string, { address: string; input: object; lost: string[] }> = {
  'perplexity-agent': {
    address: 'POST https://api.perplexity.ai/search',
    input: {
      query: 'cats & dogs',
      max_results: 5,
      country: 'DE',
      search_domain_filter: ['example.com', 'docs.org', '-spam.com'],
      search_language_filter: ['de'],
      search_recency_filter: 'week',
      max_tokens: 100,
      search_context_size: 'low',
    },
    lost: ['dropped:content_options.full_page', 'dropped:offset', 'dropped:search_type'],
  },
  tavily: {
    address: 'POST https://api.tavily.com/search',
    input: {
      query: 'cats & dogs',
      max_results: 5,
      topic: 'news',
      time_range: 'week',
      include_domains: ['example.com', 'docs.org'],
      exclude_domains: ['spam.com'],
      language: 'de',
      include_raw_content: 'markdown',
      include_usage: true,
    },
    lost: ['dropped:country', 'dropped:max_tokens', 'dropped:offset', 'dropped:search_context_size'],
  },
  exa: {
    address: 'POST https://api.exa.ai/search',
    input: {
      query: 'cats & dogs',
      numResults: 5,
      includeDomains: ['example.com', 'docs.org'],
      excludeDomains: ['spam.com'],
      startPublishedDate: '2025-12-25T00:00:00.000Z',
      userLocation: 'DE',
      category: 'news',
      contents: { highlights: true, text: true },
    },
    lost: [
      ...['dropped:max_tokens', 'dropped:offset', 'dropped:search_context_size', 'dropped:search_language_filter'],
      'replaced:content_options.format',
    ],
  },
  brave: {
    address: 'GET https://api.search.brave.com/res/v1/news/search',
    input: {
      q: `cats & dogs ${sites} NOT site:spam.com`,
      count: '5',
      offset: '2',
      country: 'DE',
      search_lang: 'de',
      freshness: 'pw',
    },
    lost: ['dropped:content_options.full_page', 'dropped:max_tokens', 'dropped:search_context_size'],
  },
  serper: {
    address: 'POST https://google.serper.dev/news',
    input: { q: `cats & dogs ${sites} -site:spam.com`, num: 5, gl: 'de', hl: 'de', page: 3, tbs: 'qdr:w' },
    lost: ['dropped:content_options.full_page', 'dropped:max_tokens', 'dropped:search_context_size'],
  },
  firecrawl: {
    address: 'POST https://api.firecrawl.dev/v2/search',
    input: {
      query: 'cats & dogs -site:spam.com',
      limit: 5,
      sources: ['news'],
      includeDomains: ['example.com', 'docs.org'],
      country: 'DE',
      tbs: 'qdr:w',
      scrapeOptions: { formats: ['markdown'] },
    },
    lost: [
      ...['dropped:max_tokens', 'dropped:offset', 'dropped:search_context_size'],
      'dropped:search_language_filter',
    ],
  },
  jina: {
    address: 'POST https://s.jina.ai/',
    input: { q: `cats & dogs ${sites} -site:spam.com`, num: 5, gl: 'de', hl: 'de', page: 3, type: 'news' },
    lost: ['dropped:max_tokens', 'dropped:search_context_size', 'dropped:search_recency_filter'],
  },
  searxng: {
    address: 'GET http://localhost:8080/search',
    input: {
      q: `cats & dogs ${sites} -site:spam.com`,
      format: 'json',
      language: 'de',
      time_range: 'month',
      pageno: '2',
      categories: 'news',
    },
    lost: [
      ...['dropped:content_options.full_page', 'dropped:country', 'dropped:max_tokens'],
      ...['dropped:search_context_size', 'replaced:search_recency_filter'],
    ],
  },
}

for (const [provider, expected] of Object.entries(cases)) {
  test(`${provider} gets all supported fields, and the response lists the others`, async () => {
    const web = await openWeb()
    const response = await web.post('/v1/search', { model: `${provider}/search`, ...everything })
    assert.is(response.status, 200, await response.clone().text())
    const { address, input } = web.sent()
    assert.is(address, expected.address)
    assert.equal(input, expected.input)
    assert.equal(lost(response), [...expected.lost, 'dropped:nonsense'].sort())
  })

  test(`in strict mode, ${provider} isn't called if it doesn't support a feature`, async () => {
    const web = await openWeb()
    const headers = { 'x-signalbox-strict': 'true' }
    const response = await web.post('/v1/search', { model: `${provider}/search`, ...everything }, { headers })
    assert.is(response.status, 400)
    const { error } = await response.json()
    assert.ok(error.param, error.message)
    assert.equal(web.upstream.calls, [])
  })

  test(`${provider} gets a plain request without extra fields, even in strict mode`, async () => {
    const web = await openWeb()
    const headers = { 'x-signalbox-strict': 'true' }
    const response = await web.post('/v1/search', { model: provider, query: 'cats' }, { headers })
    assert.is(response.status, 200)
    assert.equal(lost(response), [])
  })
}

/** Other gateways' names for the same fields. */
test("a search request can use other gateways' field names", async () => {
  const web = await openWeb()
  await web.post('/v1/search', {
    ...{ search_tool_name: 'serper/search', query: 'cats', language: 'pt-BR', time_range: 'day' },
    domain_filter: ['-spam.com'],
  })
  assert.equal(web.sent().input, { q: 'cats -site:spam.com', num: 10, hl: 'pt-br', tbs: 'qdr:d' })
  const response = await web.post('/v1/search', { provider: 'tavily', query: 'cats', time_range: 'any' })
  assert.is(response.status, 200)
  assert.equal(web.sent().input, { query: 'cats', max_results: 10, include_usage: true })
  assert.is((await web.post('/v1/search/tavily/search', { query: 'cats' })).status, 200)
  assert.is((await web.post('/v1/search/exa', { query: 'cats' })).status, 200)
  assert.equal(web.upstream.calls.map(({ url }) => url.host).slice(2), ['api.tavily.com', 'api.exa.ai'])
})

/** By vendor: the translation of dates, which some vendors only accept as an age. */
const days: Record<string, object> = {
  'perplexity-agent': { search_after_date_filter: '11/01/2025', search_before_date_filter: '12/24/2025' },
  tavily: { start_date: '2025-11-01', end_date: '2025-12-24' },
  exa: { startPublishedDate: '2025-11-01T00:00:00.000Z', endPublishedDate: '2025-12-24T23:59:59.999Z' },
  brave: { freshness: '2025-11-01to2025-12-24' },
  serper: { tbs: 'cdr:1,cd_min:11/01/2025,cd_max:12/24/2025' },
  firecrawl: { tbs: 'cdr:1,cd_min:11/01/2025,cd_max:12/24/2025' },
}

for (const [provider, expected] of Object.entries(days)) {
  test(`${provider} gets dates as days, regardless of their format in the request`, async () => {
    const web = await openWeb()
    const range = { search_after_date_filter: '11/1/2025', search_before_date_filter: '2025-12-24T10:00:00Z' }
    const response = await web.post('/v1/search', { model: `${provider}/search`, query: 'cats', ...range })
    assert.is(response.status, 200, await response.clone().text())
    const { input } = web.sent()
    assert.equal(Object.fromEntries(Object.keys(expected).map((name) => [name, input[name]])), expected)
  })
}

test('several queries become concurrent calls to a single-query vendor, with interleaved results', async () => {
  const web = await openWeb({
    respond({ url, body }) {
      if (url.host !== 'api.tavily.com') return undefined
      const { query } = JSON.parse(body)
      const results = ['same', `${query}-1`, `${query}-2`].map((name) => ({
        title: name,
        url: `https://${name}.example/`,
        content: '',
      }))
      return Response.json({ results, usage: { credits: 1 } })
    },
  })
  const response = await web.post('/v1/search', { model: 'tavily', query: ['cats', 'dogs'], max_results: 4 })
  const { results, usage } = await response.json()
  assert.equal(
    results.map(({ title, position }: { title: string; position: number }) => [title, position]),
    [
      ['same', 1],
      ['cats-1', 2],
      ['dogs-1', 3],
      ['cats-2', 4],
    ],
  )
  assert.equal(usage, { searches: 2, credits: 2 })
  assert.is(web.upstream.calls.length, 2)
  assert.equal(web.recorded.usages.at(-1)?.units, { credit: 2 })
  await web.post('/v1/search', { model: 'perplexity-agent', query: ['cats', 'dogs'] })
  assert.equal(web.sent().input.query, ['cats', 'dogs'])
})

const refusals: Array<[body: object, param: string]> = [
  [{}, 'query'],
  [{ query: '' }, 'query'],
  [{ query: ' \n' }, 'query'],
  [{ query: [] }, 'query'],
  [{ query: ['a', 1] }, 'query'],
  [{ query: Array(6).fill('a') }, 'query'],
  [{ query: 'a'.repeat(4_001) }, 'query'],
  [{ query: { text: 'a' } }, 'query'],
  [{ query: 'a', max_results: 0 }, 'max_results'],
  [{ query: 'a', max_results: 101 }, 'max_results'],
  [{ query: 'a', max_results: 1.5 }, 'max_results'],
  [{ query: 'a', max_results: '5' }, 'max_results'],
  [{ query: 'a', country: 'Germany' }, 'country'],
  [{ query: 'a', country: 'd&' }, 'country'],
  [{ query: 'a', language: 'en&q=b' }, 'language'],
  [{ query: 'a', search_language_filter: ['en', 'not a language'] }, 'search_language_filter'],
  [{ query: 'a', time_range: 'decade' }, 'time_range'],
  [{ query: 'a', search_recency_filter: 'qdr:h' }, 'search_recency_filter'],
  [{ query: 'a', search_after_date_filter: '31/12/2025' }, 'search_after_date_filter'],
  [{ query: 'a', search_after_date_filter: '2025-02-30' }, 'search_after_date_filter'],
  [{ query: 'a', search_before_date_filter: 'yesterday' }, 'search_before_date_filter'],
  [{ query: 'a', search_domain_filter: 'example.com' }, 'search_domain_filter'],
  [{ query: 'a', search_domain_filter: ['a.com OR b'] }, 'search_domain_filter'],
  [{ query: 'a', domain_filter: ['a.com\nsite:b'] }, 'domain_filter'],
  [{ query: 'a', search_type: 'images' }, 'search_type'],
  [{ query: 'a', search_mode: 'all' }, 'search_mode'],
  [{ query: 'a', offset: -1 }, 'offset'],
  [{ query: 'a', content_options: true }, 'content_options'],
  [{ query: 'a', content_options: { full_page: 'yes' } }, 'content_options.full_page'],
  [{ query: 'a', content_options: { full_page: true, format: 'pdf' } }, 'content_options.format'],
  [{ query: 'a', content_options: { max_characters: 0 } }, 'content_options.max_characters'],
  [{ query: 'a', provider_options: [] }, 'provider_options'],
  [{ query: 'a', provider_options: { search_depth: 'bottomless' } }, 'provider_options.search_depth'],
  [{ query: 'a', provider_options: { tavily: { days: -1 } } }, 'provider_options.tavily.days'],
]

for (const [body, param] of refusals) {
  test(`the error for an invalid search names the field: ${JSON.stringify(body).slice(0, 80)}`, async () => {
    const web = await openWeb()
    const response = await web.post('/v1/search', { model: 'tavily/search', ...body })
    assert.is(response.status, 400)
    assert.is((await response.json()).error.param, param)
    assert.equal(web.upstream.calls, [])
  })
}

test('a query that is too long for one vendor falls back to the next', async () => {
  const web = await openWeb({ combos: { any: { kind: 'webSearch', models: ['brave/search', 'serper/search'] } } })
  const response = await web.post('/v1/search', { model: 'any', query: 'word '.repeat(60) })
  assert.is(response.status, 200)
  assert.is(response.headers.get('x-signalbox-target'), 'serper/search')
  assert.is((await web.post('/v1/search', { model: 'brave/search', query: 'word '.repeat(60) })).status, 400)
})
