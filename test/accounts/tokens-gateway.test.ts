import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { NewToken } from '../../src/features/tokens/token-input.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { catalog } from '../pipeline/support/world.ts'
import { plant } from '../support/canaries.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { SECRET } from './support/token-world.ts'

const test = suite('tokens at the gateway')

const ORIGIN = 'https://app.example'

/** Opens a gateway that requires keys, and records everything it reports to its operator. */
async function openGateway({
  clock = fakeClock(),
  ...options
}: Partial<GatewayOptions> & { clock?: ReturnType<typeof fakeClock> } = {}) {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const recorded: unknown[] = []
  const log = (...what: unknown[]) => void recorded.push(what)
  const storage = options.storage ?? memoryStorage({ clock })
  const gateway = createGateway({
    storage,
    secret: SECRET,
    clock,
    fetch: upstream,
    catalog,
    allowedOrigins: [ORIGIN],
    management: { token: 'admin-token-of-thirty-two-characters' },
    logger: { warn: log, error: log, info: log, debug: log },
    hooks: { onError: log, onRequest: log, onAttempt: log, onUsage: log },
    ...options,
  })
  const { api } = gateway
  if ((await api.connections.list()).connections.length === 0) {
    await api.connections.create({ provider: 'one', apiKey: 'secret-of-one' })
    await api.settings.update({ requireApiKey: true })
  }
  const send = (path: string, headers: Record<string, string>, init: RequestInit = {}) =>
    gateway.fetch(
      new Request(`http://gateway.test${path}`, {
        method: 'POST',
        body: '{"model":"one/m","messages":[]}',
        ...init,
        headers: { 'content-type': 'application/json', ...headers },
      }),
    )
  const chat = async (token: string, headers: Record<string, string> = {}, path = '/v1/chat/completions') =>
    getOutcome(await send(path, { authorization: `Bearer ${token}`, ...headers }))
  const mint = async (terms: Partial<NewToken> = {}) => {
    const minted = await api.tokens.mint({ account: 'alice', ...terms })
    plant(minted.token)
    return minted
  }
  return { gateway, api, clock, storage, upstream, recorded, send, chat, mint }
}

async function getOutcome(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error?: { code?: string } }
  return error?.code ? `${response.status} ${error.code}` : `${response.status}`
}

test('a token works at model endpoints in each of the four key headers, and nowhere else', async () => {
  const { send, mint, upstream } = await openGateway()
  const { token } = await mint()
  const headers: Record<string, string>[] = [
    { authorization: `Bearer ${token}` },
    { 'x-api-key': token },
    { 'x-goog-api-key': token },
    { 'api-key': token },
    { authorization: 'Bearer of-the-app', 'x-api-key': token },
  ]
  for (const header of headers) assert.is((await send('/v1/chat/completions', header)).status, 200)
  assert.is(upstream.calls.length, headers.length)
  const other: [string, Record<string, string>, RequestInit?][] = [
    [`/v1/chat/completions?key=${token}`, {}],
    [`/v1/chat/completions?access_token=${token}`, {}],
    ['/v1/chat/completions', { cookie: `token=${token}` }],
    ['/v1/chat/completions', { 'x-token': token }],
    ['/v1/chat/completions', {}, { body: JSON.stringify({ model: 'one/m', messages: [], key: token, apiKey: token }) }],
  ]
  for (const [path, header, init] of other) assert.is((await send(path, header, init)).status, 401, path.slice(0, 40))
  assert.is(upstream.calls.length, headers.length)
})

test("a token gives no access to the management API, and can't mint tokens", async () => {
  const { send, mint, api } = await openGateway()
  const { token } = await mint()
  const body = JSON.stringify({ account: 'bob' })
  for (const path of ['/api/tokens', '/api/keys', '/api/try', '/api/sync/cloud'])
    for (const header of ['authorization', 'x-api-key']) {
      const value = header === 'authorization' ? `Bearer ${token}` : token
      assert.is((await send(path, { [header]: value }, { body })).status, 401, path)
    }
  const admin = { authorization: 'Bearer admin-token-of-thirty-two-characters' }
  const minted = await send('/api/tokens', admin, { body })
  assert.is(minted.status, 201)
  assert.match((await minted.json()).token, /^sbt_/)
  assert.is((await send('/api/tokens', admin, { body: '{}' })).status, 400)
  assert.equal((await api.keys.list()).keys, [])
})

test('a token with another base path, audience, or secret is rejected', async () => {
  const storage = memoryStorage()
  const { token } = await (await openGateway({ storage })).mint()
  for (const options of [{ basePath: '/ai' }, { tokens: { audience: 'other' } }, { secret: `${SECRET} of staging` }]) {
    const other = await openGateway(options.secret ? options : { storage, ...options })
    const path = `${options.basePath ?? ''}/v1/chat/completions`
    assert.is(await other.chat(token, {}, path), '401 token_invalid', JSON.stringify(options))
  }
})

test("a page from another origin can't use a token", async () => {
  const { chat, mint } = await openGateway()
  const { token } = await mint({ origins: [ORIGIN] })
  assert.is(await chat(token, { origin: ORIGIN }), '200')
  assert.is(await chat(token, { origin: 'https://evil.example' }), '403 token_not_allowed')
  assert.is(await chat(token), '403 token_not_allowed')
})

test("token errors use the client's format, and tell the client not to retry", async () => {
  const { send, mint, clock } = await openGateway()
  const { token } = await mint({ expiresIn: 30 })
  await clock.advance(40_000)
  const response = await send('/v1/chat/completions', { 'x-api-key': token })
  assert.is(response.status, 401)
  assert.is(response.headers.get('x-should-retry'), 'false')
  assert.is(response.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
  const { error } = await response.json()
  assert.equal([error.code, error.type], ['token_expired', 'authentication_error'])
  const claude = await send('/v1/messages', { 'x-api-key': token, 'anthropic-version': '2023-06-01' })
  assert.is((await claude.json()).error.type, 'authentication_error')
})

test('an invalid token is rejected even if no key is required', async () => {
  const { api, chat, mint } = await openGateway()
  await api.settings.update({ requireApiKey: false })
  const { token } = await mint()
  assert.is(await chat(token), '200')
  assert.is(await chat(`${token}x`), '401 token_invalid')
  assert.is(await chat('sbt_x'), '401 token_invalid')
})

test('a request is rejected if its key belongs to another account than its token, or to none', async () => {
  const { api, send, mint, upstream } = await openGateway()
  const { token } = await mint()
  const { key } = await api.keys.create({ name: 'plain' })
  const { key: other } = await api.keys.create({ name: 'of bob', account: 'bob' })
  for (const headers of [
    { authorization: `Bearer ${token}`, 'x-api-key': key },
    { authorization: `Bearer ${token}`, 'x-api-key': other },
    { authorization: `Bearer ${other}`, 'x-goog-api-key': token },
  ])
    assert.is(await getOutcome(await send('/v1/chat/completions', headers)), '400 identity_conflict')
  assert.is(upstream.calls.length, 0)
})

test('a token only allows models that are listed in both its plan and the token itself', async () => {
  const { api, send, chat, mint, upstream } = await openGateway()
  await api.groups.put({ id: 'pro', name: 'Pro', models: ['one/m', 'one/n'] })
  const { token } = await mint({ plan: 'Pro', models: ['one/n', 'one/o'] })
  const codes = await Promise.all(
    ['one/m', 'one/n', 'one/o'].map(async (model) =>
      getOutcome(
        await send('/v1/chat/completions', { 'x-api-key': token }, { body: JSON.stringify({ model, messages: [] }) }),
      ),
    ),
  )
  assert.equal(codes, ['403 model_not_allowed', '200', '403 model_not_allowed'])
  assert.is(upstream.calls.length, 1)
  await api.groups.update('pro', { isActive: false })
  assert.is(await chat(token), '403 account_paused')
})

test('pausing, revoking, and deleting an account reject its tokens at all gateways within a second', async () => {
  const first = await openGateway()
  const { api, clock, storage, mint, upstream } = first
  const other = await openGateway({ clock, storage })
  const untouched = await mint({ account: 'bob' })
  for (const end of ['pause', 'revoke', 'delete'] as const) {
    const account = `alice-${end}`
    const { token } = await mint({ account })
    assert.is(await first.chat(token), '200')
    assert.is(await other.chat(token), '200')
    const calls = upstream.calls.length
    await api.accounts[end](account)
    assert.is(await first.chat(token), '401 token_revoked', end)
    await clock.advance(1_000)
    assert.is(await other.chat(token), '401 token_revoked', end)
    assert.is(upstream.calls.length, calls)
    const renewed = await mint({ account })
    assert.is(await first.chat(renewed.token), end === 'pause' ? '403 account_paused' : '200', end)
    await api.accounts.resume(account)
    assert.is(await first.chat(token), '401 token_revoked', end)
    assert.is(await first.chat(renewed.token), '200', end)
  }
  assert.is(await first.chat(untouched.token), '200')
  assert.is(await other.chat(untouched.token), '200')
})

test('a single-request token is accepted once in 100 concurrent requests to two gateways', async () => {
  const first = await openGateway()
  const { clock, storage } = first
  const other = await openGateway({ clock, storage })
  const { token } = await first.mint({ limits: { requests: { total: 1 } } })
  const codes = await Promise.all(Array.from({ length: 100 }, (_, index) => (index % 2 ? first : other).chat(token)))
  assert.is(codes.filter((code) => code === '200').length, 1)
  assert.equal([...new Set(codes)].sort(), ['200', '429 rate_limit_exceeded'])
  assert.is(await other.chat(token), '429 rate_limit_exceeded')
  assert.is(await first.chat((await first.mint({ limits: { requests: { total: 1 } } })).token), '200')
})

test("records, logs, errors, and provider requests don't contain the token or its claims", async () => {
  const { chat, mint, recorded, upstream, storage, clock, gateway, send } = await openGateway()
  const { token, id } = await mint({ account: 'alice-in-the-token', origins: [ORIGIN], expiresIn: 60 })
  const [header = '', payload = '', signature = ''] = token.slice(4).split('.')
  const model = JSON.stringify({ model: token, messages: [] })
  assert.is(await chat(token, { origin: ORIGIN }), '200')
  assert.is((await send('/v1/chat/completions', { 'x-api-key': token, origin: ORIGIN }, { body: model })).status, 404)
  assert.is((await send(`/v1/${token}`, { 'x-api-key': token, origin: ORIGIN })).status, 404)
  await chat(token)
  await clock.advance(100_000)
  await chat(token, { origin: ORIGIN })
  await gateway.close()
  const stored = await storage.list('')
  const shown = JSON.stringify([recorded, stored, upstream.calls])
  for (const secret of [token, payload, signature, header]) assert.not.ok(shown.includes(secret))
  assert.not.ok(JSON.stringify(stored).includes('alice-in-the-token'))
  assert.ok(id.length === 24)
})

test('invalid token options are rejected', () => {
  for (const tokens of [7, { audience: '' }, { audience: 7 }, { audiences: 'a' }])
    assert.throws(() => createGateway({ storage: memoryStorage(), tokens: tokens as never }), /^tokens|"tokens/)
})
