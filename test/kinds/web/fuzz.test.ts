import fc from 'fast-check'
import { anyText } from '../../support/any-string.ts'
import { randomCases } from '../../support/ci.ts'
import { assert, suite } from '../../support/suite.ts'
import { openWeb } from './open-web.ts'

const test = suite('searches and fetches with arbitrary requests and responses')

/** The number of random cases, which is lower on developer machines. */
const RUNS = randomCases(10_000, 300)

const models = [
  'perplexity-agent',
  'tavily',
  'exa/search',
  'brave',
  'serper',
  'firecrawl',
  'jina',
  'searxng',
  'exa/fetch',
  'pool',
  'pages',
  'nobody',
  'tavily/search/x',
]
const value = fc.jsonValue({ maxDepth: 3 })
const likely = fc.constantFrom<unknown>(
  ...[
    'q',
    ['a', 'b'],
    'https://found.example/',
    ['https://found.example/'],
    5,
    0,
    -1,
    true,
    'markdown',
    'week',
    'de',
    ['en'],
    ['a.com', '-b.com'],
  ],
  ...[
    '2025-01-01',
    '11/24/2025',
    { full_page: true },
    { tavily: { days: 1 } },
    { search_depth: 'basic' },
    '',
    null,
    1e308,
    '\ud800',
  ],
)
const name = fc.oneof(
  fc.constantFrom(
    ...[
      'query',
      'max_results',
      'offset',
      'country',
      'language',
      'search_language_filter',
      'search_recency_filter',
      'time_range',
    ],
    ...[
      'search_domain_filter',
      'domain_filter',
      'search_after_date_filter',
      'last_updated_before_filter',
      'search_type',
      'search_mode',
    ],
    ...[
      'content_options',
      'provider_options',
      'max_tokens',
      'url',
      'urls',
      'format',
      'max_characters',
      'timeout_ms',
      'fresh',
    ],
    ...['include_links', 'stream', '__proto__', 'constructor', 'search_tool_name', 'provider'],
  ),
  fc.string({ maxLength: 5 }),
)
const body = fc
  .tuple(
    fc.constantFrom(...models),
    fc.dictionary(name, fc.oneof(likely, value, anyText()), { maxKeys: 6 }),
    fc.boolean(),
  )
  .map(([model, members, isRequested]) => ({
    ...(isRequested && { query: 'q', url: 'https://found.example/' }),
    ...members,
    model,
  }))

/** A vendor's response: any JSON, often with fields that the gateway reads. */
const junk = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(
      null,
      0,
      -1,
      1.7e308,
      '',
      'text',
      true,
      'Nov 3, 2025',
      '3 days ago',
      '<b>a</b>&#38;',
      'https://found.example/',
      404,
      'error',
    ),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        ...[
          'results',
          'data',
          'web',
          'news',
          'organic',
          'usage',
          'cost',
          'credits',
          'title',
          'url',
          'link',
          'content',
          'metadata',
        ],
        ...[
          'statusCode',
          'warning',
          'statuses',
          'status',
          'error',
          'failed_results',
          'highlights',
          'date',
          'code',
          'success',
          'markdown',
          '__proto__',
        ],
      ),
      tie('any'),
      { maxKeys: 5 },
    ),
  ),
})).any

test('arbitrary requests return JSON without a 500, and cause no gateway error', {
  timeoutMs: 300_000,
}, async () => {
  let sent: unknown
  let status = 200
  const web = await openWeb({
    respond: () => (sent === undefined ? undefined : Response.json(sent, { status })),
    combos: {
      pool: {
        kind: 'webSearch',
        strategy: 'round-robin',
        models: ['tavily', 'exa', 'brave', 'serper', 'firecrawl', 'jina', 'searxng'],
      },
      pages: { kind: 'webFetch', strategy: 'round-robin', models: ['jina', 'firecrawl', 'tavily', 'exa'] },
    },
  })
  const path = fc.constantFrom('/v1/search', '/v1/web/fetch', '/v1/search/pool')
  const statuses = fc.constantFrom(200, 200, 200, 400, 402, 404, 422, 429, 432, 500, 503)
  await fc.assert(
    fc.asyncProperty(
      path,
      body,
      fc.option(junk, { nil: undefined }),
      statuses,
      async (to, requested, reply, answered) => {
        sent = reply
        status = answered
        const response = await web.post(to, requested)
        const text = await response.text()
        const shown = `${to} ${JSON.stringify(requested)} ${JSON.stringify(reply)}`
        const isOurs = response.status === 500 && !(answered === 500 && reply !== undefined)
        assert.not.ok(isOurs, `${response.status} ${text} for ${shown}`)
        assert.is(typeof JSON.parse(text), 'object')
        assert.equal(web.recorded.errors, [], shown)
        web.recorded.requests.length =
          web.recorded.attempts.length =
          web.recorded.usages.length =
          web.upstream.calls.length =
            0
        await web.clock.advance(3_600_000) // until every target has recovered
      },
    ),
    { numRuns: RUNS * 2 },
  )
})
