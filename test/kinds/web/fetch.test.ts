import { assert, suite } from '../../support/suite.ts'
import { lost, openWeb } from './open-web.ts'

const test = suite('page fetches')

const PAGE = 'https://found.example/a'

const everything = {
  url: PAGE,
  format: 'html',
  max_characters: 3,
  timeout_ms: 61_000,
  fresh: 4_000,
  include_links: true,
  include_images: true,
  nonsense: 1,
}

const links = ['https://found.example/b']
const images = ['https://found.example/i.png']

interface Case {
  address: string
  input: object
  headers?: Record<string, string>
  lost: string[]
  response: object
  recorded: object
}

const cases: Record<string, Case> = {
  jina: {
    address: 'POST https://r.jina.ai/',
    input: { url: PAGE },
    headers: {
      'x-return-format': 'html',
      'x-timeout': '61',
      'x-cache-tolerance': '4000',
      'x-with-links-summary': 'true',
      'x-with-images-summary': 'true',
    },
    lost: [],
    response: {
      ...{ title: 'A page', links, images },
      content: { format: 'html', text: 'Who', length: 3, truncated: true },
      metadata: { published_at: '2025-11-03', status_code: 200 },
      usage: { fetches: 1, tokens: 12 },
    },
    recorded: { inputTokens: 12, units: undefined, costUsd: undefined },
  },
  firecrawl: {
    address: 'POST https://api.firecrawl.dev/v2/scrape',
    input: { url: PAGE, formats: ['html', 'links', 'images'], timeout: 61_000, maxAge: 4_000_000 },
    lost: [],
    response: {
      ...{ id: 'fetch-1', title: 'A page', links, images },
      content: { format: 'html', text: '<p>', length: 3, truncated: true },
      metadata: { published_at: '2025-11-03', language: 'en', status_code: 200, content_type: 'text/html' },
      usage: { fetches: 1, credits: 1 },
    },
    recorded: { units: { credit: 1 }, costUsd: 0.002 },
  },
  tavily: {
    address: 'POST https://api.tavily.com/extract',
    input: { urls: [PAGE], format: 'markdown', timeout: 60, include_images: true, include_usage: true },
    lost: ['clamped:timeout_ms', 'dropped:fresh', 'dropped:include_links', 'replaced:format'],
    response: {
      ...{ id: 'fetch-1', title: 'A page', links: [], images },
      content: { format: 'markdown', text: 'Who', length: 3, truncated: true },
      metadata: {},
      usage: { fetches: 1, credits: 1 },
    },
    recorded: { units: { credit: 1 }, costUsd: 0.008 },
  },
  exa: {
    address: 'POST https://api.exa.ai/contents',
    input: {
      urls: [PAGE],
      text: { includeHtmlTags: true },
      livecrawlTimeout: 61_000,
      maxAgeHours: 1,
      extras: { links: 100, imageLinks: 100 },
    },
    lost: [],
    response: {
      ...{ id: 'fetch-1', title: 'A page', links, images },
      content: { format: 'html', text: 'Who', length: 3, truncated: true },
      metadata: { author: 'An author', published_at: '2025-11-03T00:00:00.000Z' },
      usage: { fetches: 1, cost: 0.001 },
    },
    recorded: { units: { page: 1 }, costUsd: 0.001 },
  },
}

for (const [provider, expected] of Object.entries(cases)) {
  test(`a page request for ${provider} is translated to its format, and the response to the common one`, async () => {
    const web = await openWeb()
    const response = await web.post('/v1/web/fetch', { model: `${provider}/fetch`, ...everything })
    assert.is(response.status, 200, await response.clone().text())
    const { address, input, headers } = web.sent()
    assert.is(address, expected.address)
    assert.equal(input, expected.input)
    for (const [name, value] of Object.entries(expected.headers ?? {})) assert.is(headers[name], value)
    assert.equal(lost(response), [...expected.lost, 'dropped:nonsense'].sort())
    const { id, ...reply } = await response.json()
    assert.ok(id)
    assert.equal(
      { id, ...reply },
      { id, object: 'web.fetch', model: `${provider}/fetch`, url: PAGE, ...expected.response },
    )
    const recorded: Record<string, unknown> = { ...web.recorded.usages.at(-1) }
    for (const [name, value] of Object.entries(expected.recorded)) assert.equal(recorded[name], value, name)
  })

  test(`${provider} gets a plain request without extra fields in strict mode`, async () => {
    const web = await openWeb()
    const headers = { 'x-signalbox-strict': 'true' }
    const format = provider === 'exa' ? 'text' : 'markdown'
    const response = await web.post('/v1/web/fetch', { model: provider, url: PAGE, format }, { headers })
    assert.is(response.status, 200, await response.clone().text())
    assert.equal(lost(response), [])
    const { content } = await response.json()
    assert.equal(content, { format, text: 'Whole', length: 5, truncated: false })
  })

  test(`a response from ${provider} without a page is a failure`, async () => {
    for (const body of [{}, { results: [], failed_results: [] }, { success: true, data: {} }, { data: null }]) {
      const web = await openWeb({ respond: () => Response.json(body) })
      const response = await web.post('/v1/web/fetch', { model: `${provider}/fetch`, url: PAGE })
      assert.is(response.status, 502)
      assert.equal(web.recorded.errors, [])
    }
  })

  test(`${provider} fetches a list of pages`, async () => {
    const urls = ['https://found.example/a', 'https://found.example/b', 'https://found.example']
    const web = await openWeb({
      respond({ url, body }) {
        const input = JSON.parse(body)
        const requested: string[] = input.urls ?? [input.url]
        if (url.host === 'api.tavily.com')
          return Response.json({ results: requested.map((value) => ({ url: value, raw_content: value })).reverse() })
        if (url.host === 'api.exa.ai')
          return Response.json({
            results: requested.map((value) => ({ id: value, url: value, text: value })).reverse(),
          })
        if (url.host === 'r.jina.ai') return Response.json({ code: 200, data: { content: input.url } })
        return Response.json({ success: true, data: { markdown: input.url, metadata: { creditsUsed: 1 } } })
      },
    })
    const response = await web.post('/v1/web/fetch', { model: `${provider}/fetch`, urls })
    assert.is(response.status, 200, await response.clone().text())
    const reply = await response.json()
    const read = reply.results.map((page: { url: string; content: { text: string } }) => [page.url, page.content.text])
    assert.equal(read, [
      ['https://found.example/a', 'https://found.example/a'],
      ['https://found.example/b', 'https://found.example/b'],
      ['https://found.example', 'https://found.example/'],
    ])
    assert.equal(reply.failed, [])
    assert.is(reply.usage.fetches, 3)
  })
}

test('a page is truncated at a character boundary', async () => {
  const web = await openWeb({ respond: () => Response.json({ code: 200, data: { content: '😀😀😀' } }) })
  const response = await web.post('/v1/web/fetch', { model: 'jina', url: PAGE, max_characters: 2 })
  assert.equal((await response.json()).content, { format: 'markdown', text: '😀😀', length: 2, truncated: true })
})

/** By provider: a 200 response that contains the page's own error status. */
const statuses: Record<string, (status: number) => object> = {
  jina: (status) => ({
    code: 200,
    data: { title: '', url: PAGE, content: 'Gone', warning: `Target URL returned error ${status}: Not so` },
  }),
  firecrawl: (status) => ({ success: true, data: { markdown: 'Gone', metadata: { statusCode: status } } }),
  tavily: (status) => ({ results: [], failed_results: [{ url: PAGE, error: `Failed with status ${status}` }] }),
  exa: (status) => ({
    results: [],
    statuses: [{ id: PAGE, status: 'error', error: { tag: 'CRAWL_FAILED', httpStatusCode: status } }],
  }),
}

for (const [provider, answerOf] of Object.entries(statuses)) {
  for (const status of [404, 410]) {
    test(`a page that ${provider} reports as missing (${status}) is reported as missing to the client`, async () => {
      const web = await openWeb({
        respond: ({ url }) => (isFrom(provider, url) ? Response.json(answerOf(status)) : undefined),
        combos: { any: { kind: 'webFetch', models: [`${provider}/fetch`, other(provider)] } },
      })
      const response = await web.post('/v1/web/fetch', { model: 'any', url: PAGE })
      assert.is(response.status, 200)
      assert.is(response.headers.get('x-signalbox-target'), `${provider}/fetch`)
      const { metadata, url } = await response.json()
      assert.is(metadata.status_code, status)
      assert.is(url, PAGE)
    })
  }

  for (const status of [403, 429, 500, 503]) {
    test(`a page that blocks ${provider} (${status}) is fetched by another vendor, without a cooldown for ${provider}`, async () => {
      const web = await openWeb({
        respond: ({ url }) => (isFrom(provider, url) ? Response.json(answerOf(status)) : undefined),
        combos: { any: { kind: 'webFetch', models: [`${provider}/fetch`, other(provider)] } },
      })
      for (let time = 0; time < 10; time++) {
        const response = await web.post('/v1/web/fetch', { model: 'any', url: PAGE })
        assert.is(response.status, 200)
        assert.is(response.headers.get('x-signalbox-target'), other(provider))
        assert.is(response.headers.get('x-signalbox-attempts')?.split('=')[0], `${provider}/fetch`)
      }
      const alone = await web.post('/v1/web/fetch', { model: `${provider}/fetch`, url: PAGE })
      assert.is(alone.status, 422)
      const { error } = await alone.json()
      assert.ok(/page/.test(error.message), error.message)
    })
  }
}

const isFrom = (provider: string, url: URL) => url.host.includes(provider)
const other = (provider: string) => (provider === 'exa' ? 'tavily/fetch' : 'exa/fetch')

test("pages in a list that couldn't be read are reported", async () => {
  const bad = 'https://found.example/bad'
  const web = await openWeb({
    respond({ url, body }) {
      const input = JSON.parse(body)
      if (url.host === 'r.jina.ai')
        return Response.json(input.url === bad ? statuses.jina?.(403) : { code: 200, data: { content: 'Whole' } })
      return Response.json({
        results: [{ url: PAGE, raw_content: 'Whole' }],
        failed_results: [{ url: bad, error: 'No access' }],
      })
    },
  })
  for (const provider of ['jina', 'tavily']) {
    const response = await web.post('/v1/web/fetch', { model: provider, urls: [bad, PAGE] })
    assert.is(response.status, 200)
    const { results, failed } = await response.json()
    assert.equal(
      results.map((page: { url: string }) => page.url),
      [PAGE],
    )
    assert.is(failed.length, 1)
    assert.is(failed[0].url, bad)
    assert.ok(failed[0].error)
  }
})

test('a list of one unreadable page falls back to the next target', async () => {
  for (const provider of ['jina', 'firecrawl', 'tavily', 'exa']) {
    const web = await openWeb({
      respond: ({ url }) => (isFrom(provider, url) ? Response.json(statuses[provider]?.(403)) : undefined),
      combos: { pages: { kind: 'webFetch', models: [`${provider}/fetch`, other(provider)] } },
    })
    const response = await web.post('/v1/web/fetch', { model: 'pages', urls: [PAGE] })
    assert.is(response.headers.get('x-signalbox-target'), other(provider))
    const { results, failed } = await response.json()
    assert.equal([results.length, failed], [1, []])
  }
})

test('pages in a list that the vendor omits are reported', async () => {
  const web = await openWeb({ respond: () => Response.json({ results: [{ url: PAGE, raw_content: 'Whole' }] }) })
  const response = await web.post('/v1/web/fetch', { model: 'tavily', urls: [PAGE, 'https://found.example/b'] })
  const { failed } = await response.json()
  assert.equal(
    failed.map((page: { url: string }) => page.url),
    ['https://found.example/b'],
  )
})

const refusals: Array<[body: object, param: string]> = [
  [{}, 'url'],
  [{ url: 1 }, 'url'],
  [{ url: '' }, 'url'],
  [{ url: 'found.example' }, 'url'],
  [{ urls: [] }, 'urls'],
  [{ urls: 'https://found.example' }, 'urls'],
  [{ urls: Array.from({ length: 21 }, (_, index) => `https://found.example/${index}`) }, 'urls'],
  [{ urls: [PAGE, 'http://127.0.0.1'] }, 'urls[1]'],
  [{ url: PAGE, urls: [PAGE] }, 'urls'],
  [{ url: PAGE, format: 'pdf' }, 'format'],
  [{ url: PAGE, max_characters: 0 }, 'max_characters'],
  [{ url: PAGE, timeout_ms: -1 }, 'timeout_ms'],
  [{ url: PAGE, timeout_ms: 1e9 }, 'timeout_ms'],
  [{ url: PAGE, fresh: '1' }, 'fresh'],
  [{ url: PAGE, include_links: 'yes' }, 'include_links'],
  [{ url: PAGE, provider_options: 'x' }, 'provider_options'],
  [{ url: PAGE, provider_options: { engine: 'vlm' } }, 'provider_options.engine'],
]

for (const [body, param] of refusals) {
  test(`the error for an invalid fetch names the field: ${JSON.stringify(body).slice(0, 80)}`, async () => {
    const web = await openWeb()
    const response = await web.post('/v1/web/fetch', { model: 'jina/fetch', ...body })
    assert.is(response.status, 400)
    assert.is((await response.json()).error.param, param)
    assert.equal(web.upstream.calls, [])
  })
}
