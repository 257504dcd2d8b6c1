import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { listServedOperations } from '../../src/management/operations.ts'
import type { ManagementOptions } from '../../src/request/door/management-options.ts'
import { managementRoutes } from '../support/management-routes.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement, TOKEN } from './open-management.ts'

const test = suite('access control for /api')

const routes = managementRoutes(openManagement().gateway.api).map(({ method, path }) => ({
  method,
  path: path.replace(/:\w+\+?/g, 'nobody'),
}))
const jsonBody = (method: string) => (/^(POST|PUT|PATCH)$/.test(method) ? '{}' : null)
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

test('the access tests cover every served operation', () => {
  assert.ok(routes.length >= 93) // some operations share a route or have two, and PATCH is also routed to PUT operations
  const listed = new Set(routes.map(({ method, path }) => `${method} ${path}`))
  for (const { names, method, path } of listServedOperations())
    assert.ok(listed.has(`${method} ${path.replace(/\/:\w+\?$/, '').replace(/:\w+\+?/g, 'nobody')}`), names.join('.'))
})

test('without the `management` option, /api routes return a 401 that explains how to enable them', async () => {
  const { gateway } = openManagement()
  const closed = createGateway({ storage: memoryStorage(), logger: false })
  const other = ['/api', '/api/', '/api/nothing', '/api/keys/', '/api/sync/cloud'].map((path) => ({
    method: 'GET',
    path,
  }))
  for (const { method, path } of [...routes, ...other]) {
    const headers = { 'content-type': 'application/json', ...bearer(TOKEN), 'x-api-key': TOKEN }
    const response = await closed.fetch(
      new Request(`http://localhost${path}`, { method, headers, body: jsonBody(method) }),
    )
    assert.is(response.status, 401, `${method} ${path}`)
    assert.equal(await response.json(), {
      error:
        'The management API is disabled. To enable it, set the "management" option of createGateway: { token }, { authorize }, or { dangerouslyAllowUnauthenticated: true }.',
    })
  }
  assert.equal(await closed.api.keys.list(), { keys: [] }) // in-process calls need no token
  assert.is(typeof gateway.api.keys.list, 'function')
})

test('every route rejects missing, wrong, and client credentials, and accepts the admin token', async () => {
  const { send, expect } = openManagement()
  const client = await expect(201, 'POST', '/api/keys', { name: 'client' })
  const paused = await expect(201, 'POST', '/api/keys', { name: 'paused' })
  await expect(200, 'PUT', `/api/keys/${paused.id}`, { isActive: false })
  const rejected: Array<[name: string, headers: Record<string, string>]> = [
    ['nothing', {}],
    ['wrong', bearer(`${TOKEN.slice(0, -1)}1`)],
    ['truncated token', bearer(TOKEN.slice(0, -1))],
    ['token with an extra character', bearer(`${TOKEN}0`)],
    ['wrong case', bearer(TOKEN.toUpperCase())],
    ['empty', { authorization: 'Bearer ' }],
    ['two', { authorization: `Bearer ${TOKEN}, Bearer ${TOKEN}` }],
    ['basic', { authorization: `Basic ${btoa(`admin:${TOKEN}`)}` }],
    ['no scheme', { authorization: TOKEN }],
    ['client key', bearer(client.key)],
    ['paused key', bearer(paused.key)],
    ['x-api-key', { 'x-api-key': TOKEN }],
    ['cookie', { cookie: `token=${TOKEN}` }],
  ]
  for (const { method, path } of routes) {
    const sendRequest = (headers: Record<string, string>) => {
      const body = jsonBody(method)
      return send(method, path, { headers: { 'content-type': 'application/json', ...headers }, ...(body && { body }) })
    }
    for (const [name, headers] of rejected) {
      const { status, headers: answered } = await sendRequest(headers)
      assert.is(status, 401, `${name}: ${method} ${path}`)
      assert.is(answered.get('www-authenticate'), 'Bearer')
    }
    assert.is.not((await sendRequest(bearer(TOKEN))).status, 401, `${method} ${path}`)
    assert.is.not(
      (await sendRequest({ authorization: `bearer  ${TOKEN}` })).status,
      401,
      'the scheme is case-insensitive',
    )
  }
})

test('an unknown path or method under /api returns a 404 or 405 only with the token', async () => {
  const { send, call } = openManagement()
  for (const [method, path, status] of [
    ['GET', '/api', 404],
    ['GET', '/api/nothing', 404],
    ['DELETE', '/api/keys', 405],
    ['POST', '/api/settings', 405],
  ] as const) {
    assert.is((await send(method, path)).status, 401)
    assert.is((await call(method, path, method === 'POST' ? {} : undefined)).status, status, `${method} ${path}`)
  }
  for (const method of ['HEAD', 'OPTIONS'])
    assert.is((await openManagement().gateway.fetch(new Request('http://h/api/keys', { method }))).status, 401)
})

test('a wrong token and a missing token get different errors', async () => {
  const { send } = openManagement()
  const recordRequest = async (headers: Record<string, string> = {}) =>
    (await send('GET', '/api/keys', { headers })).body.error
  assert.is(await recordRequest(), 'Send the admin token as "Authorization: Bearer <token>".')
  const wrong = await recordRequest(bearer('x'.repeat(40)))
  assert.is(wrong, 'This is not the admin token. Send the admin token as "Authorization: Bearer <token>".')
})

test('the error for a client key states which routes accept client keys', async () => {
  const { send, expect } = openManagement()
  const { key } = await expect(201, 'POST', '/api/keys', { name: 'client' })
  const { body } = await send('GET', '/api/keys', { headers: bearer(key) })
  assert.match(body.error, 'This is an API key for /v1')
  assert.not.ok(body.error.includes(key))
})

test("/v1 doesn't accept the admin token", async () => {
  const { send, expect } = openManagement()
  await expect(200, 'PATCH', '/api/settings', { requireApiKey: true })
  assert.is((await send('GET', '/v1/models', { headers: bearer(TOKEN) })).status, 401)
})

test('responses to /api/keys have no CORS headers', async () => {
  const { send } = openManagement()
  for (const method of ['GET', 'OPTIONS', 'POST']) {
    for (const auth of [{}, bearer(TOKEN)]) {
      const { headers } = await send(method, '/api/keys', { headers: { origin: 'https://evil.example', ...auth } })
      assert.equal(
        [...headers.keys()].filter((name) => name.startsWith('access-control-')),
        [],
      )
    }
  }
})

const short = 'management.token must be at least 32 ASCII characters'
const exactlyOne = 'management must have exactly one of'
const badOptions: Array<[options: unknown, error: string]> = [
  [{ token: 'short' }, short],
  [{ token: 'x'.repeat(31) }, short],
  [{ token: undefined }, short],
  [{ token: '' }, short],
  [{ token: `${'x'.repeat(40)} y` }, short],
  [{ token: 'ä'.repeat(40) }, short],
  [{}, exactlyOne],
  [null, exactlyOne],
  ['x'.repeat(40), exactlyOne],
  [{ tokn: 'x'.repeat(40) }, exactlyOne],
  [{ token: 'x'.repeat(40), authorize: () => true }, exactlyOne],
  [{ token: 'x'.repeat(40), dangerouslyAllowUnauthenticated: true }, exactlyOne],
  [{ authorize: true }, 'management.authorize must be a function'],
  [{ dangerouslyAllowUnauthenticated: 'true' }, 'management.dangerouslyAllowUnauthenticated must be true'],
  [{ dangerouslyAllowUnauthenticated: false }, 'management.dangerouslyAllowUnauthenticated must be true'],
  [{ dangerouslyAllowUnauthenticated: true, allowedHosts: 'a' }, 'management.allowedHosts must be an array'],
  [
    { dangerouslyAllowUnauthenticated: true, allowedHost: ['a'] },
    'management.allowedHost is not an option. Known: dangerouslyAllowUnauthenticated, allowedHosts.',
  ],
  [
    { token: 'x'.repeat(40), allowedHosts: ['a'] },
    'management.allowedHosts is not an option. Known: token, readToken.',
  ],
]
for (const [options, error] of badOptions) {
  test(`createGateway rejects the management options ${JSON.stringify(options)?.slice(0, 60)}`, () => {
    const management = options as ManagementOptions // JavaScript callers can pass this
    assert.throws(
      () => createGateway({ storage: memoryStorage(), management }),
      (reason: unknown) => reason instanceof TypeError && reason.message.startsWith(error),
    )
  })
}

test('authorize receives the request without its body, and only `true` grants access', async () => {
  const seen: Request[] = []
  const responses: unknown[] = [true, false, undefined, 1, 'yes', {}, Promise.resolve(true), Promise.resolve(false)]
  const statuses = []
  for (const response of responses) {
    const authorize = (request: Request) => {
      seen.push(request)
      return response as boolean // JavaScript callers can return this
    }
    const { send } = openManagement({ management: { authorize } })
    const headers = { cookie: 'session=1', 'content-type': 'application/json' }
    statuses.push((await send('POST', '/api/keys', { headers, body: '{"name":"a"}' })).status)
  }
  assert.equal(statuses, [201, 401, 401, 401, 401, 401, 201, 401])
  const [request] = seen
  assert.is(`${request?.method} ${request?.url}`, 'POST http://gateway.test/api/keys')
  assert.is(request?.headers.get('cookie'), 'session=1')
  assert.is(request?.body, null)
})

test('calls authorize with the management options as `this`', async () => {
  const management = {
    allowed: 'me',
    authorize(request: Request) {
      return request.headers.get('x-user') === this.allowed
    },
  }
  const { send } = openManagement({ management })
  assert.is((await send('GET', '/api/keys', { headers: { 'x-user': 'me' } })).status, 200)
  assert.is((await send('GET', '/api/keys', { headers: { 'x-user': 'you' } })).status, 401)
})

test('an authorize function that throws or rejects denies the request, and onError receives the error', async () => {
  const broken = new Error('the session store is down')
  const errors: unknown[] = []
  for (const authorize of [
    () => {
      throw broken
    },
    () => Promise.reject(broken),
  ]) {
    const { send } = openManagement({ management: { authorize }, hooks: { onError: (error) => errors.push(error) } })
    const { status, body } = await send('GET', '/api/keys')
    assert.is(status, 401)
    assert.not.ok(JSON.stringify(body).includes('session store'))
  }
  assert.equal(errors, [broken, broken])
})
