import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Catalog } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite("model lists in each vendor's format")

const names = ['a', 'b', 'c', 'd', 'e']
const catalog: Catalog = {
  ac: { serviceKinds: ['llm', 'image'], models: [...names.map((id) => ({ id })), { id: 'painter', type: 'image' }] },
}
const gateway = createGateway({ storage: memoryStorage(), catalog, logger: false })
const all = names.map((id) => `ac/${id}`)

const anthropicHeaders = { 'anthropic-version': '2023-06-01' }
const googleHeaders = { 'x-goog-api-key': 'k' }

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await gateway.fetch(new Request(`http://gw${path}`, { headers }))
  const body: Record<string, unknown> & { error?: { message?: string } } = await response.json()
  return { status: response.status, origin: response.headers.get('access-control-allow-origin'), body }
}
const gatewayFetch = (input: string | URL | Request, init?: RequestInit) => gateway.fetch(new Request(input, init))
const openai = new OpenAI({ apiKey: 'k', baseURL: 'http://gw/v1', fetch: gatewayFetch, maxRetries: 0 })
const anthropic = new Anthropic({ apiKey: 'k', baseURL: 'http://gw', fetch: gatewayFetch, maxRetries: 0 })

async function getIds(models: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids: string[] = []
  for await (const model of models) ids.push(model.id)
  return ids
}

test('the openai package lists models and retrieves one', async () => {
  assert.equal(await getIds(openai.models.list()), all)
  const model = await openai.models.retrieve('ac/b')
  assert.equal([model.id, model.object, model.owned_by], ['ac/b', 'model', 'ac'])
  assert.is((await openai.models.retrieve('ac/painter')).id, 'ac/painter')
  const error: unknown = await openai.models.retrieve('ac/painterr').catch((reason: unknown) => reason)
  assert.instance(error, OpenAI.NotFoundError)
  assert.match(String(error), /Did you mean "ac\/painter"/)
})

test('the @anthropic-ai/sdk package lists models in pages of any size, forward and backward', async () => {
  assert.equal(await getIds(anthropic.models.list()), all)
  for (const limit of [1, 2, 5, 6]) assert.equal(await getIds(anthropic.models.list({ limit })), all, `limit ${limit}`)
  assert.equal(await getIds(anthropic.models.list({ limit: 2, after_id: 'ac/b' })), ['ac/c', 'ac/d', 'ac/e'])
  const back = await anthropic.models.list({ limit: 2, before_id: 'ac/d' })
  assert.equal(
    back.data.map((model) => model.id),
    ['ac/b', 'ac/c'],
  )
  assert.is(back.has_more, true)
  assert.equal(
    (await back.getNextPage()).data.map((model) => model.id),
    ['ac/a'],
  )
})

test('the @anthropic-ai/sdk package retrieves a model', async () => {
  const model = await anthropic.models.retrieve('ac/b')
  assert.equal([model.id, model.type, model.display_name, model.lifecycle], ['ac/b', 'model', 'ac/b', 'active'])
  assert.is(Number.isNaN(Date.parse(model.created_at)), false)
  const error: unknown = await anthropic.models.retrieve('ac/zz').catch((reason: unknown) => reason)
  assert.instance(error, Anthropic.NotFoundError)
})

test("the list for OpenAI clients isn't paginated", async () => {
  const { body } = await get('/v1/models?limit=1&after_id=ac/b&pageSize=1')
  assert.equal(Object.keys(body), ['object', 'data'])
  assert.is(Array.isArray(body.data) && body.data.length, 5)
})

test('Anthropic’s list includes the first and last ID of its page', async () => {
  const getPageEnds = async (query: string) => {
    const { body } = await get(`/v1/models${query}`, anthropicHeaders)
    return [body.first_id, body.last_id, body.has_more]
  }
  assert.equal(await getPageEnds(''), ['ac/a', 'ac/e', false])
  assert.equal(await getPageEnds('?limit=2'), ['ac/a', 'ac/b', true])
  assert.equal(await getPageEnds('?limit=2&after_id=ac/b'), ['ac/c', 'ac/d', true])
  assert.equal(await getPageEnds('?limit=2&after_id=ac%2Fd'), ['ac/e', 'ac/e', false])
  assert.equal(await getPageEnds('?limit=2&after_id=ac/e'), [null, null, false])
  assert.equal(await getPageEnds('?after_id=ac/a&before_id=ac/d'), ['ac/b', 'ac/c', false])
  assert.equal(await getPageEnds('?limit=1&after_id=ac/a&before_id=ac/d'), ['ac/b', 'ac/b', true])
  assert.equal(await getPageEnds('?after_id=ac/d&before_id=ac/b'), [null, null, false])
  assert.equal(await getPageEnds('?limit=5'), ['ac/a', 'ac/e', false])
  assert.equal(await getPageEnds('?limit=1000'), ['ac/a', 'ac/e', false])
})

test('Google’s list contains Google’s model names and capabilities', async () => {
  const model = (id: string) => ({
    name: `models/ac/${id}`,
    displayName: `ac/${id}`,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  })
  for (const [path, headers] of [
    ['/v1/models', googleHeaders],
    ['/v1/models', { 'x-goog-api-client': 'google-genai-sdk/3.1.0' }],
    ['/v1beta/models', {}],
    ['/v1/models', { ...googleHeaders, ...anthropicHeaders }],
  ] as const) {
    assert.equal((await get(path, headers)).body, { models: names.map(model) })
  }
  assert.equal((await get('/v1beta/models/ac/b')).body, model('b'))
  assert.equal((await get('/v1/models/ac%2Fb', googleHeaders)).body, model('b'))
  assert.equal((await get('/v1beta/models/ac/painter')).body, { name: 'models/ac/painter', displayName: 'ac/painter' })
})

test('Google’s list is paginated, and only the last page has no page token', async () => {
  for (const pageSize of [1, 2, 5, 9]) {
    const seen: unknown[] = []
    let token: unknown = ''
    for (let page = 0; token !== undefined; page++) {
      assert.ok(page < 6, 'paging must end')
      const query = `pageSize=${pageSize}${token ? `&pageToken=${encodeURIComponent(String(token))}` : ''}`
      const { body } = await get(`/v1beta/models?${query}`)
      assert.ok(Array.isArray(body.models) && body.models.length <= pageSize)
      for (const model of body.models) seen.push(model.displayName)
      token = body.nextPageToken
      assert.is('nextPageToken' in body, token !== undefined)
    }
    assert.equal(seen, all)
  }
  const { body } = await get('/v1beta/models?pageSize=0')
  assert.is(Array.isArray(body.models) && body.models.length, 5)
})

for (const [path, headers, message] of [
  ['/v1/models?limit=0', anthropicHeaders, 'limit must be a whole number of 1 or more.'],
  ['/v1/models?limit=ten', anthropicHeaders, 'limit must be a whole number of 1 or more.'],
  [
    '/v1/models?after_id=gone',
    anthropicHeaders,
    'after_id: the list contains no model "gone". Start again from the first page.',
  ],
  [
    '/v1/models?before_id=gone',
    anthropicHeaders,
    'before_id: the list contains no model "gone". Start again from the first page.',
  ],
  ['/v1beta/models?pageSize=-1', {}, 'pageSize must be a whole number of 1 or more.'],
  [
    '/v1beta/models?pageToken=gone',
    {},
    'pageToken: the list contains no model "gone". Start again from the first page.',
  ],
] as const) {
  test(`an invalid request to ${path} returns a 400 with a reason to ${'anthropic-version' in headers ? 'Anthropic' : 'Google'} clients`, async () => {
    const { status, origin, body } = await get(path, headers)
    assert.is(status, 400)
    assert.is(origin, path.startsWith('/v1/models?') ? '*' : null)
    assert.is(body.error?.message, message)
    assert.is('type' in body, 'anthropic-version' in headers)
  })
}

test("an empty list is valid in every vendor's format", async () => {
  assert.equal((await get('/v1/models/stt')).body, { object: 'list', data: [] })
  assert.equal((await get('/v1/models/stt', googleHeaders)).body, { models: [] })
  const empty = { data: [], has_more: false, first_id: null, last_id: null }
  assert.equal((await get('/v1/models/stt', anthropicHeaders)).body, empty)
})
