import { isGatewayError } from '../../src/errors.ts'
import type { Identify } from '../../src/request/identity.ts'
import { assert, suite } from '../support/suite.ts'
import { getOutcome, getSession, openApp } from './support/app.ts'

const test = suite('identifying callers')

test("a header can't select another account", async () => {
  const app = await openApp()
  assert.is(
    await getOutcome(await app.chat({ as: 'alice', headers: { 'x-signalbox-account': 'bob' } })),
    '403 account_not_allowed',
  )
  assert.is((await app.chat({ as: 'alice', headers: { 'x-signalbox-account': 'alice' } })).status, 200)
  const { key } = await app.api.keys.create({ name: 'plain' })
  const headers = { authorization: `Bearer ${key}`, 'x-signalbox-account': 'bob' }
  assert.is(await getOutcome(await app.chat({ headers })), '403 account_not_allowed')
})

test('other headers and fields that look like user names have no effect', async () => {
  const seen: Array<string | undefined> = []
  const app = await openApp({
    extend: [
      {
        name: 'look',
        aroundCall: (call, next) => {
          seen.push(call.account?.id)
          return next()
        },
      },
    ],
  })
  const names = [
    'x-account',
    'x-user-id',
    'x-user',
    'cf-access-authenticated-user-email',
    'x-forwarded-user',
    'account',
  ]
  for (const name of names) assert.is((await app.chat({ as: 'alice', headers: { [name]: 'bob' } })).status, 200)
  const body = { user: 'bob', safety_identifier: 'bob', metadata: { user_id: 'bob', account: 'bob' }, account: 'bob' }
  assert.is((await app.chat({ as: 'alice', body })).status, 200)
  const query = '/v1/chat/completions?account=bob&user=bob'
  assert.is((await app.send(query, { as: 'alice', body: { model: 'one/m', messages: [] } })).status, 200)
  assert.equal([...new Set(seen)], ['alice'])
  assert.is(seen.length, names.length + 2)
})

test("the AI SDK's quota entity must be the caller's account", async () => {
  const app = await openApp()
  const withEntity = (quotaEntityId: unknown) =>
    app.chat({ as: 'alice', body: { providerOptions: { gateway: { quotaEntityId } } } })
  assert.is(await getOutcome(await withEntity('bob')), '403 account_not_allowed')
  assert.is(await getOutcome(await withEntity({ id: 'alice' })), '403 account_not_allowed')
  assert.is((await withEntity('alice')).status, 200)
  assert.is((await app.chat({ as: 'alice', body: { providerOptions: { gateway: { order: ['x'] } } } })).status, 200)
})

test('an identified request is rejected if its key belongs to no account, and an unknown key is ignored', async () => {
  const app = await openApp()
  const { key } = await app.api.keys.create({ name: 'plain' })
  const response = await app.chat({ as: 'alice', headers: { 'x-api-key': key } })
  assert.is(await getOutcome(response), '400 identity_conflict')
  assert.is(app.upstream.calls.length, 0)
  assert.is(app.records.at(-1)?.keyId, undefined, 'the record has no key')
  assert.is(
    (await app.chat({ as: 'alice', headers: { 'x-api-key': 'not-a-key' } })).status,
    200,
    'an unknown key is ignored',
  )
})

test("without an identity, a request needs a known key even if keys aren't required", async () => {
  const app = await openApp()
  await app.api.settings.update({ requireApiKey: false })
  const response = await app.chat()
  assert.is(response.headers.get('x-should-retry'), 'false')
  assert.equal(await response.json(), {
    error: {
      message: 'Sign in, or send an API key.',
      type: 'authentication_error',
      param: null,
      code: 'identity_required',
    },
  })
  assert.is(response.status, 401)
  assert.is(await getOutcome(await app.chat({ headers: { authorization: 'Bearer unknown' } })), '401 invalid_api_key')
  assert.is(app.upstream.calls.length, 0)
  const { key } = await app.api.keys.create({ name: 'plain' })
  assert.is((await app.chat({ headers: { authorization: `Bearer ${key}` } })).status, 200)
})

test('an identify that returns null rejects a request, even with a valid key', async () => {
  const app = await openApp({ identify: () => null })
  const { key } = await app.api.keys.create({ name: 'plain' })
  const response = await app.chat({ headers: { authorization: `Bearer ${key}` } })
  assert.is(await getOutcome(response), '401 identity_required')
  assert.is(app.upstream.calls.length, 0)
})

test("identify can reject a request with its own status and message, in the client's format", async () => {
  const rejections: Record<string, ReturnType<Identify>> = {
    '/402': { refuse: 'Your trial has ended.', status: 402 },
    '/403': { refuse: 'Your team has no access.', status: 403 },
    '/429': { refuse: 'Slow down.', status: 429, retryAfterS: 7 },
  }
  const app = await openApp({ identify: ({ headers }) => rejections[headers.get('x-case') ?? ''] })
  const body = { model: 'claude/c', max_tokens: 9, messages: [] }
  const send = async (path: string, status: string) => {
    const response = await app.send(path, { body, headers: { 'x-case': `/${status}` } })
    assert.is(response.status, Number(status))
    return { response, json: (await response.json()) as { error: { message: string; type?: string; status?: string } } }
  }
  const paid = await send('/v1/messages', '402')
  assert.equal([paid.json.error.type, paid.json.error.message], ['billing_error', 'Your trial has ended.'])
  assert.is(paid.response.headers.get('x-should-retry'), 'false')
  const google = await send('/v1beta/models/m:generateContent', '403')
  assert.equal([google.json.error.status, google.json.error.message], ['PERMISSION_DENIED', 'Your team has no access.'])
  const slow = await send('/v1/chat/completions', '429')
  assert.equal([slow.response.headers.get('retry-after'), slow.response.headers.get('x-should-retry')], ['7', null])
})

test('an identify that throws or rejects causes a 503, and only onError gets the reason', async () => {
  const secret = new Error('connect to session-db.internal failed')
  const failures: Record<string, Identify> = {
    throws: () => {
      throw secret
    },
    rejects: () => Promise.reject(secret),
    'throws undefined': () => {
      throw undefined
    },
  }
  for (const [label, identify] of Object.entries(failures)) {
    const app = await openApp({ identify })
    const response = await app.chat({ as: 'alice' })
    assert.equal(
      [response.status, response.headers.get('retry-after'), response.headers.get('x-should-retry')],
      [503, '1', null],
      label,
    )
    const text = await response.text()
    assert.match(text, /"identity_unavailable"/)
    assert.not.match(text, /session-db/)
    const [error] = app.errors
    assert.ok(app.errors.length === 1 && isGatewayError(error, 'IDENTITY_UNAVAILABLE'), label)
    if (label !== 'throws undefined') assert.is(error.cause, secret)
    assert.is(app.upstream.calls.length, 0)
  }
})

test('an identify call that hangs is abandoned after 5 s, and its signal is aborted', async () => {
  const signals: AbortSignal[] = []
  const app = await openApp({
    identify: (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    },
  })
  const responding = app.chat({ as: 'alice' })
  await app.clock.advance(4_999)
  assert.is(signals[0]?.aborted, false)
  await app.clock.advance(1)
  assert.is(await getOutcome(await responding), '503 identity_unavailable')
  assert.is(signals[0]?.aborted, true)
})

test("a client disconnect aborts the identify call, and doesn't count as a failure", async () => {
  const signals: AbortSignal[] = []
  const app = await openApp({
    identify: (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    },
  })
  for (const path of ['/v1/chat/completions', '/v1/models']) {
    const controller = new AbortController()
    const responding = app.send(path, { signal: controller.signal, ...(path !== '/v1/models' && { body: {} }) })
    await new Promise((resolve) => setTimeout(resolve))
    controller.abort()
    assert.is((await responding).status, 499)
    assert.is(signals.at(-1)?.aborted, true)
  }
  assert.equal([signals.length, app.errors.length], [2, 0])
})

test('an invalid identity returns a bare 500, and onError learns which field is invalid', async () => {
  const wrong: Array<[unknown, RegExp]> = [
    [{}, /"account"/],
    [{ account: 7 }, /"account"/],
    [{ account: 'a', limit: { usd: { month: 1 } } }, /"limit"/],
    [{ account: 'a', plan: 'unheard-of' }, /plan/],
    [[{ account: 'a' }], /array/],
  ]
  for (const [reply, named] of wrong) {
    const app = await openApp({ identify: () => reply as ReturnType<Identify> })
    const response = await app.chat()
    assert.equal([response.status, response.headers.get('x-should-retry')], [500, 'false'])
    assert.equal(await response.json(), { error: { message: 'Internal server error', type: 'server_error' } })
    assert.is(app.upstream.calls.length, 0)
    const [error] = app.errors
    assert.ok(isGatewayError(error, 'IDENTITY_INVALID'))
    assert.match(error.message, named)
  }
})

test('hostile account ids stay distinct', async () => {
  const ids = ['__proto__', 'constructor', 'a/b', '../x', '%2e', 'A', 'a', 'toString', 'null', 'undefined']
  const seen = new Set<string>()
  const app = await openApp({
    identify: ({ headers }) => ({ account: decodeURIComponent(getSession(headers.get('cookie')) ?? '') }),
    extend: [
      {
        name: 'look',
        aroundCall: (call, next) => {
          seen.add((call as unknown as { caller: { owner: string } }).caller.owner)
          return next()
        },
      },
    ],
  })
  for (const id of ids) assert.is((await app.chat({ as: encodeURIComponent(id) })).status, 200)
  assert.is(seen.size, ids.length)
})

test("platform arguments aren't treated as an identity", async () => {
  const platforms: unknown[] = []
  const app = await openApp({
    identify: (_, { platform }) => {
      platforms.push(platform)
      return undefined
    },
  })
  const request = () => app.toRequest('/v1/models')
  const env = { account: 'alice' }
  const ctx = { waitUntil() {} }
  assert.is((await app.gateway.fetch(request(), env, ctx)).status, 401)
  assert.is((await app.gateway.fetch(request(), { account: 'alice' })).status, 401)
  assert.is((await app.gateway.fetch(request(), { identity: { account: 'alice' } }, { asker: 'alice' })).status, 401)
  assert.equal(platforms[0], { env, ctx })
  assert.is((await app.as({ account: 'bob' }).fetch(request(), env, ctx)).status, 200)
})
