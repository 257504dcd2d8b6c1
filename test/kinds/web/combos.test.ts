import { strategies } from '../../../src/types/unions.ts'
import { never } from '../../pipeline/support/upstream.ts'
import { fakeClock } from '../../support/clock.ts'
import { assert, suite } from '../../support/suite.ts'
import { openWeb } from './open-web.ts'

const test = suite('search and fetch combos')

const down = (...hosts: string[]) => ({
  respond: ({ url }: { url: URL }) =>
    hosts.some((host) => url.host.includes(host))
      ? Response.json({ error: { message: 'Down' } }, { status: 500 })
      : undefined,
})

test('a combo of search providers falls back twice', async () => {
  const models = ['tavily/search', 'brave/search', 'exa/search']
  const web = await openWeb({ ...down('tavily', 'brave'), combos: { any: { kind: 'webSearch', models } } })
  const response = await web.post('/v1/search', { model: 'any', query: 'q' })
  assert.is(response.status, 200)
  assert.is(response.headers.get('x-signalbox-target'), 'exa/search')
  assert.ok(
    /^tavily\/search=500.*brave\/search=500.*exa\/search=200/.test(response.headers.get('x-signalbox-attempts') ?? ''),
  )
  assert.is(web.upstream.open, 0)
})

test('a combo can consist of provider names, even through an alias or another combo', async () => {
  const web = await openWeb({
    ...down('tavily'),
    combos: {
      inner: { kind: 'webSearch', models: ['tavily', 'serper'] },
      outer: { kind: 'webSearch', models: ['inner', 'exa/search'] },
      pages: { kind: 'webFetch', models: ['tavily', 'jina'] },
    },
    aliases: { mine: 'outer', bare: 'exa' },
  })
  for (const model of ['inner', 'outer', 'mine']) {
    const response = await web.post('/v1/search', { model, query: 'q' })
    assert.is(response.status, 200, await response.clone().text())
    assert.is(response.headers.get('x-signalbox-target'), 'serper/search')
  }
  assert.is(
    (await web.post('/v1/search', { model: 'bare', query: 'q' })).headers.get('x-signalbox-target'),
    'exa/search',
  )
  assert.is((await web.post('/v1/web/fetch', { model: 'bare', url: 'https://a.example/' })).status, 200)
  const page = await web.post('/v1/web/fetch', { model: 'pages', url: 'https://a.example/' })
  assert.is(page.headers.get('x-signalbox-target'), 'jina/fetch')
})

for (const strategy of strategies) {
  test(`the strategy ${strategy} chooses among search providers`, async () => {
    const models = [
      { model: 'tavily/search', when: { bytes: { min: 1 } } },
      { model: 'serper/search', weight: 2 },
      { model: 'exa/search' },
    ]
    const combos = {
      any: {
        kind: 'webSearch' as const,
        strategy,
        models: strategy === 'conditional' ? models : models.map(({ when: _, ...one }) => one),
      },
    }
    const web = await openWeb({ combos })
    const targets: Array<string | null> = []
    for (let time = 0; time < 4; time++) {
      const response = await web.post('/v1/search', { model: 'any', query: 'q' })
      assert.is(response.status, 200, await response.clone().text())
      targets.push(response.headers.get('x-signalbox-target'))
    }
    const [first] = targets
    assert.ok(targets.every((target) => models.some(({ model }) => model === target)))
    if (strategy === 'fallback') assert.is(first, 'tavily/search')
    if (strategy === 'least-cost') assert.is(first, 'serper/search')
    if (strategy === 'round-robin') assert.is(new Set(targets).size, 3)
    const failing = await openWeb({ ...down('tavily', 'serper'), combos })
    const response = await failing.post('/v1/search', { model: 'any', query: 'q' })
    assert.is(response.headers.get('x-signalbox-target'), 'exa/search', strategy)
  })
}

test('a slow search is hedged', async () => {
  const clock = fakeClock()
  let isWarm = false
  const web = await openWeb({
    clock,
    respond: async ({ url }) => {
      if (!url.host.includes('tavily')) return Response.json({ results: [] })
      if (isWarm) return never()
      await clock.sleep(20)
      return Response.json({ results: [] })
    },
    combos: { any: { kind: 'webSearch', models: ['tavily/search', 'exa/search'], hedge: true } },
  })
  const send = async () =>
    (await web.post('/v1/search', { model: 'any', query: 'q' })).headers.get('x-signalbox-target')
  for (let time = 0; time < 25; time++) {
    const pending = send()
    while (web.upstream.calls.length === time) await clock.advance(0)
    await clock.advance(20)
    assert.is(await pending, 'tavily/search')
  }
  isWarm = true
  const pending = send()
  while (web.upstream.calls.length < 26) await clock.advance(0)
  await clock.advance(20)
  assert.is(await pending, 'exa/search')
  assert.is(web.upstream.open, 0)
})

/** Errors of accounts without credit, which would also affect any other search. */
const spent: Array<[provider: string, status: number, body: object]> = [
  ['tavily', 432, { detail: { error: "This request exceeds your plan's set usage limit." } }],
  ['tavily', 433, { detail: { error: 'This request exceeds the pay-as-you-go limit.' } }],
  ['serper', 400, { message: 'Not enough credits', statusCode: 400 }],
  ['exa', 402, { requestId: 'r', error: 'You have exceeded your credits limit.', tag: 'NO_MORE_CREDITS' }],
  ['firecrawl', 402, { success: false, error: 'Insufficient credits to perform this request.' }],
  [
    'jina',
    402,
    {
      data: null,
      code: 402,
      name: 'InsufficientBalanceError',
      status: 40203,
      message: 'Account balance not enough to run this query, please recharge.',
    },
  ],
]

for (const [provider, status, body] of spent) {
  test(`${provider} without credit (${status}) is skipped until its cooldown ends`, async () => {
    const web = await openWeb({
      respond: ({ url }) => (url.host.includes(provider) ? Response.json(body, { status }) : undefined),
      combos: { any: { kind: 'webSearch', models: [`${provider}/search`, 'brave/search'] } },
    })
    for (let time = 0; time < 3; time++) {
      const response = await web.post('/v1/search', { model: 'any', query: 'q' })
      assert.is(response.headers.get('x-signalbox-target'), 'brave/search')
    }
    assert.is(web.upstream.calls.filter(({ url }) => url.host.includes(provider)).length, 1)
    assert.is(web.recorded.attempts.find((attempt) => attempt.provider === provider)?.outcome, 'credentials')
  })
}

/** Vendor errors, their failure class, and the message for the client if there is no other target. */
const errors: Array<[provider: string, status: number, body: object | string, outcome: string, words: RegExp]> = [
  [
    'perplexity-agent',
    401,
    { error: { message: 'Invalid API key', type: 'invalid_api_key', code: 401 } },
    'credentials',
    /rejected the connection's credentials/,
  ],
  [
    'tavily',
    401,
    { detail: { error: 'Unauthorized: missing or invalid API key.' } },
    'credentials',
    /rejected the connection's credentials/,
  ],
  [
    'exa',
    401,
    { requestId: 'r', error: 'Invalid API key', tag: 'INVALID_API_KEY' },
    'credentials',
    /rejected the connection's credentials/,
  ],
  [
    ...(['brave', 422] as const),
    {
      type: 'ErrorResponse',
      error: {
        code: 'SUBSCRIPTION_TOKEN_INVALID',
        detail: 'The provided subscription token is invalid.',
        meta: {},
        status: 422,
      },
    },
    ...(['credentials', /rejected the connection's credentials/] as const),
  ],
  [
    'serper',
    403,
    { message: 'Unauthorized.', statusCode: 403 },
    'credentials',
    /rejected the connection's credentials/,
  ],
  [
    'firecrawl',
    401,
    { success: false, error: 'Unauthorized: Invalid token' },
    'credentials',
    /rejected the connection's credentials/,
  ],
  [
    'jina',
    401,
    { data: null, code: 401, name: 'AuthenticationFailedError', status: 40103, message: 'Invalid API key' },
    'credentials',
    /rejected the connection's credentials/,
  ],
  [
    'tavily',
    429,
    { detail: { error: 'Your request has been blocked due to excessive requests.' } },
    'rate-limit',
    /excessive requests/,
  ],
  [
    ...(['brave', 429] as const),
    {
      type: 'ErrorResponse',
      error: { code: 'RATE_LIMITED', detail: 'Request rate limit exceeded for plan.', meta: {}, status: 429 },
    },
    ...(['rate-limit', /rate limit exceeded/] as const),
  ],
  ['exa', 429, { error: 'Rate limit exceeded' }, 'rate-limit', /Rate limit/],
  ['firecrawl', 429, { success: false, error: 'Rate limit exceeded.' }, 'rate-limit', /Rate limit/],
  ['firecrawl', 408, { success: false, code: 'SCRAPE_TIMEOUT', error: 'The scrape timed out' }, 'timeout', /timed out/],
  ['firecrawl', 200, { success: false, error: 'Something broke' }, 'server', /Something broke/],
  ['jina', 200, { code: 503, status: 50300, message: 'Search is away', data: null }, 'server', /Search is away/],
  ['searxng', 403, '<!doctype html><title>403 Forbidden</title>', 'forbidden', /403/],
  ['serper', 500, { message: 'Internal', statusCode: 500 }, 'server', /Internal/],
  ['exa', 200, '<html>not json</html>', 'content', /page/],
]

for (const [provider, status, body, outcome, words] of errors) {
  test(`a ${status} from ${provider} counts as ${outcome}, and falls back to the next target`, async () => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const web = await openWeb({
      respond: ({ url }) =>
        isFrom(provider, url)
          ? new Response(text, { status, headers: { 'content-type': 'application/json' } })
          : undefined,
      combos: {
        any: {
          kind: 'webSearch',
          models: [`${provider}/search`, provider === 'serper' ? 'exa/search' : 'serper/search'],
        },
      },
    })
    const response = await web.post('/v1/search', { model: 'any', query: 'q' })
    assert.is(response.status, 200, await response.clone().text())
    assert.is(web.recorded.attempts[0]?.outcome, outcome)
    await web.clock.advance(3_600_000)
    const alone = await web.post('/v1/search', { model: `${provider}/search`, query: 'q' })
    const { error } = await alone.json()
    assert.ok(words.test(error.message), error.message)
    assert.is(typeof error.type, 'string')
    assert.ok(alone.status >= 400)
  })
}

const isFrom = (provider: string, url: URL) =>
  url.host.includes(provider === 'searxng' ? 'localhost' : (provider.split('-')[0] ?? ''))

test('a request that one vendor rejects as malformed falls back to another vendor', async () => {
  const web = await openWeb({
    respond: ({ url }) =>
      url.host.includes('tavily') ? Response.json({ detail: { error: 'Bad.' } }, { status: 400 }) : undefined,
    combos: { any: { kind: 'webSearch', models: ['tavily/search', 'exa/search'] } },
  })
  assert.is((await web.post('/v1/search', { model: 'any', query: 'q' })).status, 200)
  const alone = await web.post('/v1/search', { model: 'tavily/search', query: 'q' })
  assert.is(alone.status, 400)
  assert.is((await alone.json()).error.message, 'Bad.')
})

test('the error for a combo or model of another kind names the right endpoint', async () => {
  const web = await openWeb({
    combos: { searching: { kind: 'webSearch', models: ['exa/search'] }, chatting: ['exa/search'] },
  })
  const wrong: Array<[path: string, body: object, right: RegExp]> = [
    ['/v1/chat/completions', { model: 'searching', messages: [] }, /\/v1\/search/],
    ['/v1/web/fetch', { model: 'searching', url: 'https://a.example/' }, /\/v1\/search/],
    ['/v1/search', { model: 'chatting', query: 'q' }, /\/v1\/chat\/completions/],
    ['/v1/search', { model: 'exa/fetch', query: 'q' }, /\/v1\/web\/fetch/],
    ['/v1/web/fetch', { model: 'exa/search', url: 'https://a.example/' }, /\/v1\/search/],
    ['/v1/messages', { model: 'exa/search', max_tokens: 1, messages: [] }, /\/v1\/search/],
  ]
  for (const [path, body, right] of wrong) {
    const response = await web.post(path, body)
    assert.is(response.status, 400, path)
    assert.ok(right.test((await response.json()).error.message), path)
  }
  assert.equal(web.upstream.calls, [])
})

test('a provider name without a connection returns a 404 that says so', async () => {
  const web = await openWeb({ connections: ['tavily'] })
  for (const model of ['exa', 'exa/search']) {
    const response = await web.post('/v1/search', { model, query: 'q' })
    assert.is(response.status, 404)
    const { error } = await response.json()
    assert.ok(/exa/.test(error.message) && /connection/.test(error.message), error.message)
  }
})

test('an unknown name returns a 404, and a missing name returns a 400', async () => {
  const web = await openWeb()
  assert.is((await web.post('/v1/search', { model: 'nobody', query: 'q' })).status, 404)
  assert.is((await web.post('/v1/search', { model: 'nobody/search', query: 'q' })).status, 404)
  assert.is((await web.post('/v1/search', { query: 'q' })).status, 400)
  assert.is((await web.post('/v1/web/fetch', { url: 'https://a.example/' })).status, 400)
})
