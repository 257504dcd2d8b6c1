import { memoryStorage } from '../../adapters/storage/memory.ts'
import { change } from '../../src/features/guards/guards.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/index.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { type Call, fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('headers that guards add to provider calls')

const TOKEN = 'management-token-of-forty-characters-000'
const app = { 'x-title': 'My app', 'http-referer': 'https://app.example' }

const EMBEDDING = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: 'e' }

/** Opens a gateway with a provider for each format. */
async function open(options: Partial<GatewayOptions>, answer: (call: Call) => Response = () => json(chatResponse())) {
  const fetch = fakeUpstream(answer)
  const gateway = createGateway({
    ...{ storage: memoryStorage(), fetch, logger: false },
    connections: {
      one: { provider: 'one', apiKey: 'key-of-one', baseUrl: 'https://one.test/v1' },
      two: { provider: 'two', apiKey: 'key-of-two', baseUrl: 'https://two.test/v1', format: 'anthropic-messages' },
    },
    ...options,
  })
  const send = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await gateway.fetch(`http://gateway${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    await response.text()
    return response.status
  }
  const ask = (model: string, headers?: Record<string, string>) =>
    send('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] }, headers)
  return { gateway, api: gateway.api, calls: fetch.calls, send, ask }
}

test("headers from function guards and stored guards replace the client's in provider calls", async () => {
  for (const inCode of [true, false]) {
    const { api, calls, ask } = await open({
      ...(inCode && { guards: [change({ name: 'app', providerHeaders: app })] }),
    })
    if (!inCode) {
      const { providerHeaders } = await api.guards.create({ name: 'app', kind: 'change', providerHeaders: app })
      assert.equal(providerHeaders, app)
      await api.settings.update({ guards: ['app'] })
    }
    assert.is(await ask('one/m', { 'x-title': 'Other', 'user-agent': 'client/1' }), 200)
    const [{ headers, body } = { headers: new Headers(), body: '' }] = calls
    assert.is(headers.get('x-title'), 'My app')
    assert.is(headers.get('http-referer'), 'https://app.example')
    assert.is(headers.get('user-agent'), 'client/1')
    assert.is(headers.get('authorization'), 'Bearer key-of-one')
    assert.equal(JSON.parse(body).messages, [{ role: 'user', content: 'Hi' }])
  }
})

test("vendor-specific headers are sent only in that vendor's format, and anthropic-beta values are merged", async () => {
  const providerHeaders = { 'anthropic-beta': 'feature-a', 'openai-organization': 'org-1', 'x-title': 'App' }
  const more = change({ name: 'b', providerHeaders: { 'anthropic-beta': 'feature-b' } })
  const { calls, ask, send } = await open({ guards: [change({ name: 'a', providerHeaders }), more] })
  await ask('one/m')
  await send(
    '/v1/messages',
    { model: 'two/m', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
    { 'anthropic-beta': 'of-the-client', 'anthropic-version': '2023-06-01' },
  )
  const read = (names: readonly string[]) => calls.map(({ headers }) => names.map((name) => headers.get(name)))
  assert.equal(read(['anthropic-beta', 'openai-organization', 'x-title', 'anthropic-version']), [
    [null, 'org-1', 'App', null],
    ['of-the-client,feature-a,feature-b', null, 'App', '2023-06-01'],
  ])
})

test('guard headers are sent with each attempt, and with embedding requests', async () => {
  const { calls, ask, send } = await open(
    {
      guards: [change({ name: 'a', providerHeaders: app })],
      combos: { both: ['one/a', 'one/b'] },
    },
    ({ body }) => {
      const { model, input } = JSON.parse(body)
      return model === 'a' ? json({ error: {} }, 500) : json(input ? EMBEDDING : chatResponse())
    },
  )
  assert.is(await ask('both'), 200)
  assert.is(await send('/v1/embeddings', { model: 'one/e', input: 'Hi' }), 200)
  assert.equal(
    calls.map(({ headers }) => headers.get('x-title')),
    ['My app', 'My app', 'My app'],
  )
})

test("a guard in watch mode, or one that doesn't apply to the request, adds no headers", async () => {
  const { api, calls, ask } = await open({ guards: { w: { kind: 'change', mode: 'watch', providerHeaders: app } } })
  await api.guards.create({ name: 'app', kind: 'change', providerHeaders: app })
  await api.settings.update({ guards: ['w'] })
  assert.is(await ask('one/m'), 200)
  assert.is(await ask('one/m', { 'x-signalbox-guards': 'app' }), 200)
  assert.equal(
    calls.map(({ headers }) => headers.get('x-title')),
    [null, 'My app'],
  )
})

test('unsupported provider headers and invalid header values are rejected', async () => {
  const { gateway, api } = await open({ management: { token: TOKEN } })
  const create = async (providerHeaders: unknown) => {
    const response = await gateway.fetch('http://gateway/api/guards', {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'a', kind: 'change', providerHeaders }),
    })
    return `${response.status} ${await response.text()}`
  }
  const names = ['authorization', 'x-api-key', 'host', 'connection', 'cookie', 'content-type', 'x-other', 'X-Title']
  const cases: ReadonlyArray<readonly [unknown, RegExp]> = [
    ...names.map((name) => [{ [name]: 'x' }, /Unknown field .*providerHeaders\./] as const),
    [JSON.parse('{"__proto__":"x"}'), /Unknown field|must not be empty/],
    ['text', /must be an object/],
    [['x'], /must be an object/],
    [null, /must be an object/],
    [{}, /must not be empty/],
    [{ 'x-title': 5 }, /providerHeaders\.x-title.* must be a string/],
    [{ 'x-title': '' }, /providerHeaders\.x-title.* must not be blank/],
    [{ 'x-title': ' ' }, /providerHeaders\.x-title.* must not be blank/],
    [{ 'x-title': 'é' }, /providerHeaders\.x-title.* must be the complete value/],
    [{ 'x-title': 'a\r\nx: b' }, /providerHeaders\.x-title.* control characters/],
    [{ 'x-title': 'a'.repeat(1_001) }, /providerHeaders\.x-title.* longer than 1000/],
  ]
  for (const [given, problem] of cases) {
    const result = await create(given)
    assert.match(result, /^400 /)
    assert.match(result, problem)
  }
  assert.equal((await api.guards.list()).guards, [])
  for (const providerHeaders of [{ authorization: 'x' }, { 'x-title': 'a\nb' }, { 'x-title': 'é' }, {}])
    assert.throws(() => change({ name: 'a', providerHeaders } as never), /^change\(\)\.providerHeaders/)
})
