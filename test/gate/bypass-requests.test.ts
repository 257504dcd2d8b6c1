import { assert, suite } from '../support/suite.ts'
import { messages, openGate } from './support/world.ts'

const test = suite('ways around a request limit')

/** A request to send with a key that has reached its limit. */
interface Way {
  method?: string
  path?: string
  body?: unknown
  headers?: Record<string, string>
  /** The expected status. Default: 429. */
  status?: number
}

const chat = { model: 'one/m', messages }
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

const ways: Record<string, Way | ((keys: { limited: string; other: string }) => Way)> = {
  'an alias': { body: { ...chat, model: 'nick' } },
  'an alias of an alias': { body: { ...chat, model: 'nicknick' } },
  'a combo': { body: { ...chat, model: 'both' } },
  'a nested combo': { body: { ...chat, model: 'outer' } },
  'a model without its provider': { body: { ...chat, model: 'm' }, status: 404 },
  'capital letters in the model name': { body: { ...chat, model: 'ONE/M' }, status: 404 },
  'spaces around the model name': { body: { ...chat, model: ' one/m ' }, status: 404 },
  'capital letters in the path': { path: '/v1/Chat/Completions', status: 404 },
  'an encoded letter in the path': { path: '/v1/%63hat/completions', status: 404 },
  'an encoded slash in the path': { path: '/v1/chat%2Fcompletions', status: 404 },
  'a path with a dot segment': { path: '/v1/models/../chat/completions' },
  'a doubled slash': { path: '/v1//chat/completions', status: 404 },
  'a trailing slash': { path: '/v1/chat/completions/' },
  'a duplicate version in the path': { path: '/v1/v1/messages', status: 404 },
  'a query string': { path: '/v1/chat/completions?limit=0&beta=true' },
  'a key in the query string': { path: '/v1/chat/completions?key=sbx_none' },
  'the HEAD method': { method: 'HEAD', status: 204 },
  'the PUT method': { method: 'PUT', status: 405 },
  'a method override header': { headers: { 'x-http-method-override': 'GET' } },
  'a stream': { body: { ...chat, stream: true } },
  'a request for stream usage': { body: { ...chat, stream: true, stream_options: { include_usage: true } } },
  'the completions endpoint': { path: '/v1/completions', body: { model: 'one/m', prompt: 'Hi' } },
  'the Messages format': { path: '/v1/messages', body: { ...chat, max_tokens: 9 } },
  'the Responses format': { path: '/v1/responses', body: { model: 'open/r', input: 'Hi' } },
  'a compaction': { path: '/v1/responses/compact', body: { model: 'open/r', input: 'Hi' } },
  'a token counting request': { path: '/v1/messages/count_tokens', body: { model: 'claude/c', messages } },
  'a token counting request that the gateway answers itself': {
    path: '/v1/messages/count_tokens',
    body: { model: 'one/m', messages },
  },
  'a token counting request for Responses input': {
    path: '/v1/responses/input_tokens',
    body: { model: 'open/r', input: 'Hi' },
  },
  'a Gemini path': { path: '/v1beta/models/google/g:generateContent', body: { contents } },
  'a Gemini path without its folder': { path: '/v1beta/google/g:generateContent', body: { contents } },
  'a Gemini path in the other API version': { path: '/v1/models/google/g:generateContent', body: { contents } },
  'a Gemini path with an encoded slash': { path: '/v1beta/models/google%2Fg:generateContent', body: { contents } },
  'a Gemini path with an encoded colon': { path: '/v1beta/models/google/g%3AgenerateContent', body: { contents } },
  'a Gemini stream': { path: '/v1beta/models/google/g:streamGenerateContent', body: { contents } },
  'a Gemini stream as SSE': { path: '/v1beta/models/google/g:streamGenerateContent?alt=sse', body: { contents } },
  'a Gemini token counting request': { path: '/v1beta/models/google/g:countTokens', body: { contents } },
  "the key in Anthropic's header": ({ limited }) => ({ headers: { authorization: '', 'x-api-key': limited } }),
  "the key in Google's header": ({ limited }) => ({ headers: { authorization: '', 'x-goog-api-key': limited } }),
  "the key in Azure's header": ({ limited }) => ({ headers: { authorization: '', 'api-key': limited } }),
  'a second key in other headers': ({ other }) => ({ headers: { 'x-api-key': other, 'x-goog-api-key': other } }),
  'an unknown key before the known one': ({ limited }) => ({
    headers: { authorization: 'Bearer sbx_unknown', 'x-api-key': limited },
  }),
  'a duplicate model field': { body: `{"model":"one/m","model":"two/m","messages":${JSON.stringify(messages)}}` },
  'an idempotency key': { headers: { 'idempotency-key': 'the-first' } },
  "the gateway's own headers": {
    headers: { 'x-signalbox-request-id': 'x', 'x-signalbox-cost': '0', 'x-ratelimit-remaining-requests': '9' },
  },
}

for (const [title, way] of Object.entries(ways))
  test(`a key that has used up its requests can't get around its limit with ${title}`, async () => {
    const world = await openGate({
      limits: { requests: { total: 1 } },
      combos: { both: ['one/m', 'two/m'], outer: ['both', 'claude/c'] },
      aliases: { nick: 'one/m', nicknick: 'nick' },
      settings: { requireApiKey: true },
    })
    const { gateway, key, upstream, used } = world
    const { key: other } = await gateway.api.keys.create({ name: 'other' })
    assert.is((await world.chat()).status, 200)
    const {
      method = 'POST',
      path = '/v1/chat/completions',
      body = chat,
      headers,
      status = 429,
    } = typeof way === 'function' ? way({ limited: key, other }) : way
    const hasBody = method !== 'HEAD'
    const reply = await gateway.fetch(`http://gateway${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(hasBody && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    assert.is(reply.status, status, await reply.text())
    assert.equal([upstream.calls.length, await used('requests')], [1, 1])
  })

test("concurrent requests together can't exceed a limit", async () => {
  const { chat, upstream, used } = await openGate({ limits: { requests: { total: 7 } } })
  const replies = await Promise.all(Array.from({ length: 40 }, () => chat()))
  assert.is(replies.filter(({ status }) => status === 200).length, 7)
  assert.equal([upstream.calls.length, await used('requests')], [7, 7])
})

test("keys in a group share the group's limit, and a key in another group isn't affected", async () => {
  const { gateway, key, upstream } = await openGate({ groupLimits: { requests: { total: 3 } } })
  const { groups } = await gateway.api.groups.list()
  const second = await gateway.api.keys.create({ name: 'bob', group: groups[0]?.id ?? '' })
  const other = await gateway.api.keys.create({ name: 'carol' })
  const send = async (credential: string) =>
    gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      body: JSON.stringify(chat),
    })
  const statuses: number[] = []
  for (const credential of [key, second.key, key, second.key, key]) statuses.push((await send(credential)).status)
  assert.equal(statuses, [200, 200, 200, 429, 429])
  const { error } = await (await send(key)).json()
  assert.match(error.message, /^The group "Team" of this API key can make 3 requests in total and has made 3\./)
  assert.is((await send(other.key)).status, 200)
  assert.is(upstream.calls.length, 4)
})

test('a key keeps its counters when it is paused, renamed, or given new limits', async () => {
  const { gateway, chat, keyId } = await openGate({ limits: { requests: { total: 2 } } })
  assert.is((await chat()).status, 200)
  await gateway.api.keys.update(keyId, { isActive: false })
  assert.is((await chat()).status, 403)
  await gateway.api.keys.update(keyId, { isActive: true, name: 'other' })
  assert.is((await chat()).status, 200)
  await gateway.api.keys.update(keyId, { limits: { requests: { total: 2, minute: 100 } } })
  assert.is((await chat()).status, 429)
  await gateway.api.keys.update(keyId, { limits: { requests: { total: 3 } } })
  assert.is((await chat()).status, 200)
  assert.is((await chat()).status, 429)
  await gateway.api.keys.update(keyId, { limits: null })
  assert.is((await chat()).status, 200)
})

test("hedges and fallbacks don't count as additional requests", async () => {
  const { chat, used, upstream } = await openGate({
    limits: { requests: { total: 2 } },
    combos: { both: ['one/m', 'two/m', 'cheap/m'] },
    respond: (call) => Response.json({ error: { message: call.provider } }, { status: 503 }),
  })
  assert.is((await chat({ model: 'both' })).status, 503)
  assert.equal([upstream.calls.length, await used('requests')], [3, 1])
})
