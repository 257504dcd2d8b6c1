import { never } from '../../pipeline/support/upstream.ts'
import { randomCases } from '../../support/ci.ts'
import { assert, suite } from '../../support/suite.ts'
import { openWeb } from './open-web.ts'

const test = suite('failing searches and fetches')

const requests: Array<[path: string, body: object, calls: number]> = [
  ['/v1/search', { model: 'brave', query: 'q' }, 1],
  ['/v1/search/tavily', { query: ['a', 'b', 'c'] }, 3],
  ['/v1/web/fetch', { model: 'exa', url: 'https://found.example/' }, 1],
  [
    '/v1/web/fetch',
    { model: 'jina', urls: ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `https://${name}.example/`) },
    4,
  ],
]

for (const [path, body, calls] of requests) {
  for (const phase of ['headers', 'body'] as const) {
    test(`all calls of ${path} (${calls}) are aborted when the client disconnects before the ${phase}`, async () => {
      const endless = () =>
        new Response(new ReadableStream({ pull: never }), { headers: { 'content-type': 'application/json' } })
      const web = await openWeb({ respond: () => (phase === 'headers' ? never() : endless()) })
      for (let time = 0; time < randomCases(250, 10); time++) {
        const controller = new AbortController()
        const before = web.upstream.calls.length
        const pending = web.post(path, body, { signal: controller.signal })
        while (web.upstream.calls.length < before + calls) await web.clock.advance(0)
        if (phase === 'body') await web.clock.advance(1)
        assert.is(web.upstream.calls.length - before, calls)
        controller.abort()
        assert.is((await pending).status, 499)
        assert.is(web.upstream.open, 0)
      }
      assert.equal(web.recorded.errors, [])
    })
  }

  test(`${path} times out if a vendor doesn't respond`, async () => {
    const web = await openWeb({ respond: () => never() })
    const pending = web.post(path, body)
    while (web.upstream.calls.length < calls) await web.clock.advance(0)
    await web.clock.advance(200_000)
    assert.is((await pending).status, 504)
    assert.is(web.upstream.open, 0)
  })

  test(`${path} rejects bodies that aren't valid requests`, async () => {
    const web = await openWeb()
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`
    for (const [text, status] of [
      ['', 400],
      ['{', 400],
      ['[]', 400],
      ['null', 400],
      ['"text"', 400],
      [`{"model":"brave","query":${deep}}`, 400],
      [`{"model":"brave","query":"${'a'.repeat(21 * 1024 * 1024)}"}`, 413],
    ] as const) {
      const response = await web.post(path, text)
      assert.is(response.status, status, text.slice(0, 40))
      assert.is(typeof (await response.json()).error.message, 'string')
    }
    const compressed = await web.post(path, body, { headers: { 'content-encoding': 'gzip' } })
    assert.is(compressed.status, 415)
    const simple = await web.post(path, body, {
      headers: { 'content-type': 'text/plain', origin: 'https://evil.example' },
    })
    assert.is(simple.status, 415)
    assert.equal(web.upstream.calls, [])
  })

  test(`${path} never exposes a credential that a vendor echoes`, async () => {
    for (const status of [200, 400, 401, 422, 500]) {
      const web = await openWeb({
        respond: ({ headers }) => {
          const key = headers.get('authorization') ?? headers.get('x-api-key') ?? headers.get('x-subscription-token')
          const error = `The key ${key} is bad.`
          return Response.json(
            { success: false, code: 500, error, message: error, detail: { error } },
            { status, headers: { 'x-key': key ?? '' } },
          )
        },
      })
      const response = await web.post(path, body)
      assert.ok(response.status >= 400)
      const shown = JSON.stringify([
        await response.text(),
        [...response.headers],
        web.recorded.attempts,
        web.recorded.requests,
      ])
      assert.ok(!shown.includes('secret-of-'), shown)
    }
  })
}

test("a search vendor's redirect isn't followed", async () => {
  const web = await openWeb({
    respond: () => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } }),
  })
  const response = await web.post('/v1/search', { model: 'exa', query: 'q' })
  assert.is(response.status, 502)
  assert.equal(
    web.upstream.calls.map(({ url, init }) => [url.host, init.redirect]),
    [['api.exa.ai', 'manual']],
  )
})

test('explaining a search calls no vendor, and shows its targets and dropped fields', async () => {
  const web = await openWeb({ combos: { any: { kind: 'webSearch', models: ['tavily', 'brave/search', 'nobody'] } } })
  const { targets } = await web.api.explain({ model: 'any', path: '/v1/search', body: { query: 'q', offset: 20 } })
  assert.equal(
    targets.map(({ provider, model, use }) => [provider, model, use]),
    [
      ['tavily', 'search', 'first'],
      ['brave', 'search', 'next'],
    ],
  )
  const bare = await web.api.explain({ model: 'exa', path: '/v1/web/fetch', body: { url: 'https://found.example/' } })
  assert.equal([bare.targets[0]?.provider, bare.targets[0]?.use], ['exa', 'first'])
  const inside = await web.api.explain({ model: 'exa', path: '/v1/web/fetch', body: { url: 'http://127.0.0.1/' } })
  assert.is(inside.targets[0]?.use, 'skipped')
  assert.equal(web.upstream.calls, [])
})

test("a combo gets a warning for names that don't resolve, but not for provider names", async () => {
  const web = await openWeb({ connections: ['tavily'] })
  const good = await web.api.combos.create({ name: 'good', kind: 'webSearch', models: ['tavily'] })
  assert.is(good.warnings, undefined)
  const poor = await web.api.combos.create({ name: 'poor', kind: 'webSearch', models: ['tavily', 'exa'] })
  assert.is(poor.warnings?.length, 1)
  assert.ok(
    /"exa" doesn't resolve yet: there is no active connection to "exa"/.test(poor.warnings?.[0] ?? ''),
    poor.warnings?.[0],
  )
})

/** Dates as vendors write them, and as clients receive them on 2026-01-01. */
const dates: Array<[given: string, read: string | undefined]> = [
  ['2025-11-03', '2025-11-03'],
  ['2025-11-03T10:00:00.000Z', '2025-11-03T10:00:00.000Z'],
  ['Nov 3, 2025', '2025-11-03'],
  ['November 3, 2025', '2025-11-03'],
  ['3 Nov 2025', '2025-11-03'],
  ['Mon, 03 Nov 2025 10:00:00 GMT', '2025-11-03'],
  ['3 days ago', '2025-12-29'],
  ['1 hour ago', '2025-12-31'],
  ['a week ago', '2025-12-25'],
  ['yesterday', '2025-12-31'],
  ['2025-13-45', undefined],
  ['sometime', undefined],
  ['99999 days ago', undefined],
  ['Foo 3, 2025', undefined],
]

test('search result dates are parsed in every format, and invalid ones are omitted', async () => {
  const organic = dates.map(([date], index) => ({ title: date, link: `https://${index}.example/`, snippet: 's', date }))
  const web = await openWeb({ respond: () => Response.json({ organic, credits: 1 }) })
  const response = await web.post('/v1/search', { model: 'serper', query: 'q', max_results: 50 })
  const { results } = await response.json()
  for (const [index, [input, read]] of dates.entries()) assert.is(results[index].date, read, input)
})

test('titles and snippets are plain text, and text that only looks like a tag is kept', async () => {
  const texts: Array<[given: string, read: string]> = [
    ['A <strong>b</strong> <em class="x">c</em>', 'A b c'],
    ['a &amp; b &lt;b&gt; &quot;c&quot; &#39;d&#39; &#x1F600; &nbsp;', 'a & b <b> "c" \'d\' 😀  '],
    ['List<String> & Map<K, V> when a < b', 'List<String> & Map<K, V> when a < b'],
    ['&unknown; &#0; &#xD800; &#99999999;', '&unknown; &#0; &#xD800; &#99999999;'],
    [`${'<b '.repeat(1_000)}`, `${'<b '.repeat(1_000)}`],
  ]
  const results = texts.map(([title], index) => ({ title, url: `https://${index}.example/`, content: title }))
  const web = await openWeb({ respond: () => Response.json({ results }) })
  const response = await web.post('/v1/search', { model: 'searxng', query: 'q', max_results: 50 })
  const reply = await response.json()
  for (const [index, [input, read]] of texts.entries()) {
    assert.is(reply.results[index].title, read, input)
    assert.is(reply.results[index].snippet, read, input)
  }
})
