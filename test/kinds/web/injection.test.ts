import { assert, suite } from '../../support/suite.ts'
import { lost, openWeb } from './open-web.ts'
import { type FakeVendor, fetchVendors, searchVendors } from './vendors.ts'

const test = suite("body fields can't alter a request that uses a stored key")

const EVIL = 'evil.example'
const evil = [
  `https://${EVIL}/`,
  `//${EVIL}`,
  `${EVIL}`,
  `../../${EVIL}`,
  `a\r\nx-evil: ${EVIL}`,
  `?key=${EVIL}&`,
  `#${EVIL}`,
]

/** Field names that some API or gateway accepts for a URL, a path, a header, or a credential. */
const names = [
  ...[
    'baseUrl',
    'base_url',
    'baseURL',
    'api_base',
    'apiBaseURL',
    'endpoint',
    'host',
    'path',
    'url',
    'method',
    'headers',
    'header',
  ],
  ...[
    'api_key',
    'apiKey',
    'key',
    'authorization',
    'token',
    'proxy',
    'proxyUrl',
    'proxy_url',
    'webhook',
    'callback',
    'integration',
  ],
  ...[
    'origin',
    'setCookies',
    'userAgent',
    'referer',
    'html',
    'pdf',
    'injectPageScript',
    'X-Target-Selector',
    'X-Proxy-Url',
  ],
  ...[
    'x-subscription-token',
    'Authorization',
    'accept',
    'actions',
    'scrapeOptions',
    'contents',
    'stream',
    'question',
    'q',
    'urls',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'max_results',
    'numResults',
    'limit',
    'num',
    'format',
    'include_usage',
    'formats',
  ],
]

const PLAIN = new Set(['content-type', 'accept', 'authorization', 'x-api-key', 'x-subscription-token'])
const JINA = /^x-(?:return-format|respond-with|timeout|no-cache|cache-tolerance|with-(?:links|images)-summary)$/

const kinds: Array<{ path: string; service: string; vendors: readonly FakeVendor[]; body: object }> = [
  { path: '/v1/search', service: 'search', vendors: searchVendors, body: { query: 'q' } },
  { path: '/v1/web/fetch', service: 'fetch', vendors: fetchVendors, body: { url: 'https://found.example/a' } },
]

for (const { path, service, vendors, body } of kinds) {
  for (const vendor of vendors) {
    const { provider } = vendor
    test(`${provider}/${service} gets no unlisted options, and the response has warnings`, async () => {
      const web = await openWeb()
      for (const value of evil) {
        for (const options of [
          (all: object) => all,
          (all: object) => ({ [provider]: all }),
          (all: object) => ({ [firstName(provider)]: all }),
        ]) {
          const all = JSON.parse(
            `{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`,
          )
          const response = await web.post(path, { model: provider, ...body, provider_options: options(all) })
          assert.is(response.status, 200, await response.clone().text())
          assert.ok(lost(response).length > 20)
          assertUntouched(web.upstream.calls.at(-1), vendor)
          const strict = { headers: { 'x-signalbox-strict': 'true' } }
          const calls = web.upstream.calls.length
          const rejected = await web.post(path, { model: provider, ...body, provider_options: options(all) }, strict)
          assert.is(rejected.status, 400)
          assert.is(web.upstream.calls.length, calls)
        }
      }
    })

    test(`body fields can't change the URL, path, or headers of ${provider}/${service}`, async () => {
      const web = await openWeb()
      for (const value of evil) {
        const known = new Set(['url', 'urls', 'format', 'query', 'max_results', 'stream', '__proto__'])
        const extra = Object.fromEntries(names.filter((name) => !known.has(name)).map((name) => [name, value]))
        const response = await web.post(path, { model: provider, ...extra, ...body })
        assert.is(response.status, 200, await response.clone().text())
        assertUntouched(web.upstream.calls.at(-1), vendor)
      }
    })
  }
}

test('arbitrary query text stays a single value in the URL', async () => {
  const web = await openWeb()
  for (const query of [
    'a&q=b&count=1#c',
    'a b+c%20d',
    "it's (a) *test* ~!",
    'ä😀',
    'a\u0000b',
    `a\r\nHost: ${EVIL}`,
    '?/../..',
    '\ud800',
  ]) {
    for (const provider of ['brave', 'searxng']) {
      const response = await web.post('/v1/search', { model: provider, query })
      assert.is(response.status, 200, `${provider}: ${query}`)
      const { url } = web.upstream.calls.at(-1) ?? {}
      assert.equal(url?.searchParams.getAll('q'), [query.replace('\ud800', '\ufffd')])
      assert.equal(url?.searchParams.getAll('count').length, provider === 'brave' ? 1 : 0)
      assert.is(url?.hash, '')
    }
  }
  assert.equal(web.recorded.errors, [])
})

test("vendor options reach only their vendor, and options nested under the vendor's name take precedence", async () => {
  const web = await openWeb()
  const provider_options = {
    search_depth: 'basic',
    tavily: { search_depth: 'advanced', exact_match: true },
    exa: { type: 'fast' },
  }
  const response = await web.post('/v1/search', { model: 'tavily', query: 'q', provider_options })
  assert.equal(lost(response), [])
  const { search_depth, exact_match, type } = web.sent().input
  assert.equal([search_depth, exact_match, type], ['advanced', true, undefined])
  const other = await web.post('/v1/search', { model: 'exa', query: 'q', provider_options })
  assert.equal(lost(other), ['dropped:provider_options.search_depth'])
  assert.is(web.sent().input.type, 'fast')
})

test('the model name is never part of a URL', async () => {
  const web = await openWeb()
  for (const model of [
    `tavily/../${EVIL}`,
    `tavily/search/../../${EVIL}`,
    `tavily/search?x=${EVIL}`,
    `tavily/search#${EVIL}`,
    'tavily//search',
  ]) {
    const response = await web.post('/v1/search', { model, query: 'q' })
    await response.text()
    for (const { url } of web.upstream.calls) assert.is(url.href, 'https://api.tavily.com/search')
  }
})

function assertUntouched(call: { url: URL; headers: Headers; body: string } | undefined, { host, paths }: FakeVendor) {
  assert.is(call?.url.host, host)
  assert.ok(Object.keys(paths).includes(call?.url.pathname ?? ''), call?.url.pathname)
  assert.is(call?.url.username, '')
  for (const [name, value] of call?.headers ?? []) {
    assert.ok(PLAIN.has(name) || (host.endsWith('.jina.ai') && JINA.test(name)), name)
    assert.ok(!value.includes(EVIL), `${name}: ${value}`)
  }
  assert.ok(!`${call?.url.href}${call?.body}`.includes(EVIL), call?.body)
}

const firstName = (provider: string) => provider.split('-')[0] ?? provider
