import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { openWorld, token, type WorldOptions } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('model requests through the management API')

async function open(options: WorldOptions = {}) {
  const fetch = fakeUpstream(({ body, provider }) => {
    if (provider === 'three') return json({ error: { message: 'overloaded' } }, 503)
    return JSON.parse(body).stream ? sse(chatEvents('one two')) : json(chatResponse())
  })
  const world = await openWorld({ usage: true, ...options, fetch })
  await world.api.settings.update({ requireApiKey: true })
  const attempt = (input: object, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
    world.post(`${options.basePath ?? ''}/api/try`, input, { headers })
  const chat = (extra: object = {}, body: object = {}) =>
    attempt({ path: '/v1/chat/completions', body: { model: 'one/m', messages: [], ...body }, ...extra })
  return { ...world, fetch, attempt, try: chat }
}

test("the operator doesn't need a key, and gets the response and its headers", async () => {
  for (const basePath of ['', '/ai']) {
    const world = await open({ basePath, combos: { fast: ['three/m', 'one/m'] } })
    const response = await world.try({}, { model: 'fast' })
    assert.is(response.status, 200)
    assert.equal((await response.json()).choices[0].message.content, 'Hello')
    assert.match(response.headers.get('x-signalbox-attempts') ?? '', /three\/m=503.*one\/m/)
    const id = response.headers.get('x-signalbox-request-id') ?? ''
    const { request } = await world.api.usage.request(id)
    assert.equal([request.model, request.status, request.keyId, request.attempts.length], ['fast', 200, undefined, 2])
  }
})

test('streams a response to the operator', async () => {
  const response = await (await open()).try({}, { stream: true })
  assert.is(response.headers.get('content-type')?.split(';')[0], 'text/event-stream')
  const text = await response.text()
  assert.match(text, /"content":"one "[\s\S]*"content":"two"[\s\S]*\[DONE\]/)
})

test('a request sent as a key is subject to its restrictions and counts toward its usage', async () => {
  const world = await open()
  const { id } = await world.api.keys.create({ name: 'k', models: ['one/*'], limits: { requests: { day: 1 } } })
  assert.is((await world.try({ asKey: id }, { model: 'two/m' })).status, 403)
  const response = await world.try({ asKey: id })
  assert.is(response.status, 200)
  const kept = (await world.api.usage.requests({ keyId: id })).requests
  assert.equal(kept.map(({ status }) => status).sort(), [200, 403])
  const over = await world.try({ asKey: id })
  assert.is(over.status, 429)
  assert.ok(over.headers.get('x-signalbox-request-id'))
  await world.api.keys.update(id, { isActive: false })
  const paused = await world.try({ asKey: id })
  assert.equal([paused.status, (await paused.json()).error.code], [403, 'key_paused'])
  assert.is((await world.try({ asKey: 'nobody' })).status, 404)
})

test('a request sent as an account is subject to its restrictions and counts toward its usage', async () => {
  const world = await open()
  const { ref } = await world.api.accounts.put({ id: 'user 1', models: ['one/*'], limits: { requests: { day: 2 } } })
  assert.is((await world.try({ asAccount: 'user 1' }, { model: 'two/m' })).status, 403)
  for (const asAccount of ['user 1', ref]) assert.is((await world.try({ asAccount })).status, 200)
  assert.is((await world.try({ asAccount: ref })).status, 429)
  const { requests } = await world.api.usage.requests({ account: ref })
  assert.equal(requests.map(({ status }) => status).sort(), [200, 200, 403, 429])
  await world.api.accounts.pause('user 1')
  const paused = await world.try({ asAccount: 'user 1' })
  assert.equal([paused.status, (await paused.json()).error.code], [403, 'account_paused'])
})

test('a request sent as an account requires a known account and no key', async () => {
  const world = await open()
  const { ref } = await world.api.accounts.put({ id: 'user_1' })
  const { id } = await world.api.keys.create({ name: 'k' })
  for (const asAccount of ['', 'nobody', 'a_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'x'.repeat(500)])
    assert.is((await world.try({ asAccount })).status, 404, asAccount)
  assert.equal(
    (await world.api.accounts.list()).accounts.map((account) => account.ref),
    [ref],
  )
  const both = await world.try({ asAccount: 'user_1', asKey: id })
  assert.match((await both.json()).error, /"asAccount" cannot be combined with "asKey"/)
  const named = await world.try({ asAccount: 'user_1', headers: { 'x-signalbox-account': 'bob', cookie: 's=bob' } })
  assert.is(named.status, 403)
  assert.is(world.fetch.calls.length, 0)
})

test("the gateway's limits apply to the operator", async () => {
  const world = await open()
  await world.api.settings.update({ limits: { requests: { day: 1 } } })
  assert.is((await world.try()).status, 200)
  assert.is((await world.try()).status, 429)
})

test('only callers with write access can send an operator request', async () => {
  const world = await open()
  const { key } = await world.api.keys.create({ name: 'k' })
  const input = { path: '/v1/chat/completions', body: { model: 'one/m', messages: [] } }
  for (const headers of [{}, { authorization: `Bearer ${key}` }, { authorization: 'Bearer other' }])
    assert.is((await world.attempt(input, headers)).status, 401)
  assert.is(world.fetch.calls.length, 0)
  const claimed = { 'x-signalbox-acts-as': 'operator', actsas: '{}' }
  assert.is((await world.post(input.path, input.body, { headers: claimed })).status, 401)
})

test('operator requests can only use model endpoint paths', async () => {
  const world = await open()
  const paths = [
    '/api/keys',
    '/v1/../api/keys',
    '/v1/%2e%2e/api/keys',
    '/v1/..\\api/keys',
    '//other.test/v1/chat/completions',
    '/\\other.test/v1/x',
    'http://other.test/v1/chat/completions',
    '/health',
    '/admin/',
    '/v1',
    '',
  ]
  for (const path of paths) {
    const response = await world.attempt({ path, body: {} })
    assert.is(response.status, 400, path)
    assert.match((await response.json()).error, /^"path" must be the path of a model endpoint/, path)
  }
  assert.is((await world.attempt({ path: '/v1/nothing', body: {} })).status, 404)
})

test("an operator request's headers reach the gateway, and invalid ones are rejected", async () => {
  const world = await open()
  const late = await world.try({ headers: { 'X-Signalbox-Timeout-Ms': 'soon' } })
  assert.equal([late.status, /x-signalbox-timeout-ms/.test(await late.text())], [400, true])
  for (const headers of [{ 'a b': 'c' }, { a: 'b\nc' }, { a: 1 }, []])
    assert.match((await (await world.try({ headers })).json()).error, /"headers/)
  assert.is((await world.attempt({ path: '/v1/chat/completions' })).status, 400)
  assert.is((await world.try({ as: 'x' })).status, 400)
})

test("aborts the operator's request when the client disconnects", async () => {
  const requested = Promise.withResolvers<void>()
  const world = await openWorld({
    fetch: (_: unknown, init?: RequestInit) =>
      new Promise<Response>((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
        requested.resolve()
      }),
  })
  const controller = new AbortController()
  const body = { path: '/v1/chat/completions', body: { model: 'one/m', messages: [] } }
  const init = { headers: { authorization: `Bearer ${token}` }, signal: controller.signal }
  const pending = world.post('/api/try', body, init)
  await requested.promise
  controller.abort()
  await pending.catch(() => {})
  assert.equal(
    world.recorded.requests.map(({ end }) => end),
    ['aborted'],
  )
})
