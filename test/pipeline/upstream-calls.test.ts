import { assert, suite } from '../support/suite.ts'
import { chatResponse, messageResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld, type WorldOptions } from './support/world.ts'

const test = suite('calls to providers')

async function getCall(options: WorldOptions, path: string, model: string) {
  const upstream = fakeUpstream(({ url }) => json(/messages/.test(url.pathname) ? messageResponse() : chatResponse()))
  const world = await openWorld({ fetch: upstream, ...options })
  const response = await world.post(path, { model, messages: [] })
  return { call: upstream.calls[0], response, upstream }
}

const one = (providerSpecificData: object, extra: object = {}) => ({
  connections: [{ provider: 'one', providerSpecificData, ...extra }],
})

test("calls to providers use the connection's base URL, or else the catalog's", async () => {
  const chat: Array<[baseUrl: string, url: string]> = [
    ['http://a.test/v1', 'http://a.test/v1/chat/completions'],
    ['http://a.test/v1/', 'http://a.test/v1/chat/completions'],
    ['http://a.test/v1///', 'http://a.test/v1/chat/completions'],
    [' http://a.test/v1 ', 'http://a.test/v1/chat/completions'],
    ['http://a.test', 'http://a.test/chat/completions'],
    ['http://a.test/x/y%20z/v1', 'http://a.test/x/y%20z/v1/chat/completions'],
    ['', 'http://one.test/v1/chat/completions'],
  ]
  for (const [baseUrl, url] of chat) {
    const { call } = await getCall(one({ baseUrl }), '/v1/chat/completions', 'one/m')
    assert.is(call?.url.href, url)
    assert.is(call?.init.method, 'POST')
    assert.is(call?.init.redirect, 'manual')
  }
})

test('a Messages base URL can include or omit the endpoint', async () => {
  for (const baseUrl of [
    'http://a.test/v1',
    'http://a.test/v1/',
    'http://a.test/v1/messages',
    'http://a.test/v1/messages/',
  ]) {
    const options = {
      connections: [{ provider: 'anthropic-compatible-a', providerSpecificData: { baseUrl, prefix: 'a' } }],
    }
    const messages = await getCall(options, '/v1/messages', 'a/c')
    assert.is(messages.call?.url.href, 'http://a.test/v1/messages')
    const count = await getCall(options, '/v1/messages/count_tokens', 'a/c')
    assert.is(count.call?.url.href, 'http://a.test/v1/messages/count_tokens')
  }
})

test('calls to providers send the credential in the header that the format or the catalog specifies', async () => {
  const catalog = {
    plain: { baseUrl: 'http://a.test' },
    keyed: { baseUrl: 'http://a.test', auth: 'x-api-key' },
    goog: { baseUrl: 'http://a.test', auth: 'x-goog-api-key' },
    claude: { baseUrl: 'http://a.test', format: 'anthropic-messages' },
    bearer: { baseUrl: 'http://a.test', format: 'anthropic-messages', auth: 'bearer' },
  } as const
  const credentials = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key']
  const expected: Array<[keyof typeof catalog, string, Record<string, string>]> = [
    ['plain', '/v1/chat/completions', { authorization: 'Bearer secret' }],
    ['keyed', '/v1/chat/completions', { 'x-api-key': 'secret' }],
    ['goog', '/v1/chat/completions', { 'x-goog-api-key': 'secret' }],
    ['claude', '/v1/messages', { 'x-api-key': 'secret' }],
    ['bearer', '/v1/messages', { authorization: 'Bearer secret' }],
  ]
  for (const [provider, path, sent] of expected) {
    const { call } = await getCall({ catalog, connections: [{ provider, apiKey: 'secret' }] }, path, `${provider}/m`)
    assert.equal(Object.fromEntries([...(call?.headers ?? [])].filter(([name]) => credentials.includes(name))), sent)
  }
})

test('calls to providers send no credential if the connection has none', async () => {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ fetch: upstream, connections: [] })
  await world.api.connections.create({ provider: 'one' })
  await world.chat({}, { headers: { authorization: 'Bearer of-the-client' } })
  assert.is(upstream.calls[0]?.headers.get('authorization'), null)
})

test('a connection can use another format than its provider', async () => {
  const options = one({ format: 'anthropic-messages' })
  const { call, response } = await getCall(options, '/v1/messages', 'one/m')
  assert.is(response.status, 200)
  assert.is(call?.url.href, 'http://one.test/v1/messages')
  assert.is(call?.headers.get('x-api-key'), 'secret-of-one')
  const translated = await getCall(options, '/v1/chat/completions', 'one/m')
  assert.is(translated.call?.url.href, 'http://one.test/v1/messages')
})

test('a connection without a base URL fails without a call, and the error reports the missing URL', async () => {
  const { response, upstream } = await getCall(
    { connections: [{ provider: 'openai-compatible-a', providerSpecificData: { prefix: 'a' } }] },
    '/v1/chat/completions',
    'a/m',
  )
  assert.is(response.status, 502)
  assert.match(await response.text(), /has no base URL\. Set providerSpecificData\.baseUrl/)
  assert.is(upstream.calls.length, 0)
})

test('a changed credential, base URL, or active state takes effect on the next request', async () => {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ fetch: upstream, connections: ['one'] })
  await world.chat({})
  const { id } = (await world.api.connections.list()).connections[0] ?? { id: '' }
  await world.api.connections.update(id, { apiKey: 'new-secret', providerSpecificData: { baseUrl: 'http://new.test' } })
  await world.chat({})
  assert.is(upstream.calls[1]?.headers.get('authorization'), 'Bearer new-secret')
  assert.is(upstream.calls[1]?.url.href, 'http://new.test/chat/completions')
  await world.api.connections.update(id, { isActive: false })
  assert.is((await world.chat({})).status, 404)
})
