import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import type { Kind } from '../../../src/types.ts'
import { assert, suite } from '../../support/suite.ts'
import { openWeb } from './open-web.ts'
import { fetchVendors, searchVendors } from './vendors.ts'

const test = suite('search and fetch destinations')

/** Returns the built-in catalog's providers of a kind. */
const listServing = (kind: Kind) =>
  Object.entries(defaultCatalog)
    .filter(([, { serviceKinds = [] }]) => serviceKinds.includes(kind))
    .map(([id]) => id)
    .sort()

test('every built-in search or fetch provider can be called by its listed ID', async () => {
  assert.equal(listServing('webSearch'), searchVendors.map(({ provider }) => provider).sort())
  assert.equal(listServing('webFetch'), fetchVendors.map(({ provider }) => provider).sort())
  const web = await openWeb()
  const listing = await web.gateway.fetch(new Request('http://gateway/v1/models/web'))
  const { data } = await listing.json()
  const listed: Array<{ id: string; kind: Kind }> = data
  assert.is(listed.length, searchVendors.length + fetchVendors.length)
  for (const { id, kind } of listed) {
    const isSearch = kind === 'webSearch'
    const response = isSearch
      ? await web.post('/v1/search', { model: id, query: 'q' })
      : await web.post('/v1/web/fetch', { model: id, url: 'https://found.example/a' })
    assert.is(response.status, 200, `${id}: ${await response.clone().text()}`)
    const requested = await web.gateway.fetch(new Request(`http://gateway/v1/models/${id}`))
    assert.is((await requested.json()).kind, kind)
  }
})

test("a connection's base URL takes precedence over the vendor's", async () => {
  const respond = () => Response.json({ results: [], data: { markdown: 'Whole' }, success: true })
  const connections = [
    { provider: 'searxng', baseUrl: 'http://10.0.0.5:8888/', apiKey: undefined },
    { provider: 'firecrawl', baseUrl: 'http://firecrawl.lab:3002/v2' },
    {
      provider: 'openai-compatible-lab',
      baseUrl: 'http://gateway.lab/v1',
      prefix: 'lab',
      format: 'openai-chat' as const,
    },
  ].map(({ baseUrl, prefix, format, ...connection }) => ({
    ...connection,
    providerSpecificData: { baseUrl, ...(prefix && { prefix }), ...(format && { format }) },
  }))
  const web = await openWeb({ respond, connections: connections as never })
  await web.post('/v1/search', { model: 'searxng', query: 'q' })
  assert.equal([web.sent().address, web.sent().headers.authorization], ['GET http://10.0.0.5:8888/search', undefined])
  await web.post('/v1/web/fetch', { model: 'firecrawl', url: 'https://found.example/a' })
  assert.is(web.sent().address, 'POST http://firecrawl.lab:3002/v2/scrape')
  await web.post('/v1/search', { model: 'lab/search', query: 'q' })
  assert.is(web.sent().address, 'POST http://gateway.lab/v1/search')
  assert.equal(web.sent().input, { model: 'search', query: 'q', max_results: 10 })
  const provider_options = { baseUrl: 'https://evil.example', lab: { url: 'https://evil.example' } }
  for (const [path, request] of [
    ['/search', { query: 'q' }],
    ['/web/fetch', { url: 'https://found.example/a' }],
  ] as const) {
    await web.post(`/v1${path}`, { model: 'lab/any', ...request, provider_options })
    assert.is(web.sent().address, `POST http://gateway.lab/v1${path}`)
    assert.not.ok(JSON.stringify(web.sent()).includes('evil'))
  }
})

test("a connection can use another vendor's format, and the app can define its own service", async () => {
  const web = await openWeb({
    respond: () => Response.json({ results: [], organic: [], searchParameters: {} }),
    catalog: {
      ...defaultCatalog,
      find: {
        serviceKinds: ['webSearch'],
        searchConfig: { baseUrl: 'https://api.find.example/v9', keyHeader: 'X-Find', price: { search: 0.5 } },
      },
    },
    connections: [
      'find',
      { provider: 'mirror', providerSpecificData: { baseUrl: 'http://mirror.lab', format: 'serper' as never } },
    ],
  })
  await web.post('/v1/search', { model: 'find', query: 'q' })
  assert.is(web.sent().address, 'POST https://api.find.example/v9/search')
  assert.is(web.sent().headers['x-find'], 'secret-of-find')
  assert.is(web.sent().headers.authorization, undefined)
  assert.is(web.recorded.usages.at(-1)?.costUsd, 0.5)
  await web.post('/v1/search', { model: 'mirror/search', query: 'q' })
  assert.is(web.sent().address, 'POST http://mirror.lab/search')
  assert.equal(web.sent().input, { q: 'q', num: 10 })
  assert.is(web.sent().headers['x-api-key'], 'secret-of-mirror')
})
