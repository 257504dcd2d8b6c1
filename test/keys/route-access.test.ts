import { hasAdapters } from '../../src/protocols/kinds/endpoint.ts'
import { endpoints } from '../../src/protocols/kinds/kinds.ts'
import { chatResponse, type ErrorAnswer } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld, token } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('access to model routes')

async function gated({ requireApiKey = true } = {}) {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ fetch: upstream })
  await world.api.settings.update({ requireApiKey })
  const { key, id } = await world.api.keys.create({ name: 'team' })
  const send = (path: string, headers: Record<string, string> = {}, method = 'POST') =>
    world.gateway.fetch(
      new Request(`http://gateway${path}`, {
        method,
        headers,
        ...(method === 'POST' && { body: '{"model":"one/m"}' }),
      }),
    )
  return {
    world,
    upstream,
    key,
    id,
    send,
    chat: (headers: Record<string, string>) => send('/v1/chat/completions', headers),
  }
}

type GateRoute = [method: string, path: string, format: keyof typeof kinds]

/** The endpoints of all kinds except chat, whose routes are listed below. */
const kindRoutes = endpoints
  .filter(hasAdapters)
  .map(
    ({ path, format }): GateRoute => [
      'POST',
      path.replace('{model}', 'g'),
      format === 'gemini' ? 'google' : format === 'ai-sdk' ? format : 'openai',
    ],
  )

/** Known and unknown routes of every kind. */
const routes: readonly GateRoute[] = [
  ...kindRoutes,
  ['GET', '/v1/models', 'openai'],
  ['HEAD', '/v1/models', 'openai'],
  ['GET', '/v1/models/embedding', 'openai'],
  ['GET', '/v1/models/one/m', 'openai'],
  ['POST', '/v1/chat/completions', 'openai'],
  ['GET', '/v1/chat/completions', 'openai'],
  ['POST', '/v1/messages', 'anthropic'],
  ['POST', '/v1/messages/count_tokens', 'anthropic'],
  ['POST', '/v1/messages/batches', 'anthropic'],
  ['POST', '/v1/responses', 'openai'],
  ['POST', '/v1/responses/input_tokens', 'openai'],
  ['POST', '/v1/completions', 'openai'],
  ['POST', '/v1/images/generations', 'openai'],
  ['POST', '/v1/audio/speech', 'openai'],
  ['POST', '/v1/audio/transcriptions', 'openai'],
  ['POST', '/v1/files', 'openai'],
  ['POST', '/v1/responses/compact', 'openai'],
  ['POST', '/v4/ai/language-model', 'ai-sdk'],
  ['POST', '/v3/ai/language-model', 'ai-sdk'],
  ['GET', '/v4/ai/config', 'ai-sdk'],
  ['POST', '/v1/models/g:generateContent', 'google'],
  ['POST', '/v1/models/g:streamGenerateContent', 'google'],
  ['POST', '/v1/models/g:countTokens', 'google'],
  ['POST', '/v1beta/models/g:generateContent', 'google'],
  ['POST', '/v1beta/models/g:streamGenerateContent', 'google'],
  ['POST', '/v1beta/models/g:countTokens', 'google'],
  ['GET', '/v1beta/models', 'google'],
  ['DELETE', '/v1', 'openai'],
  ['GET', '/v1/', 'openai'],
  ['PUT', '/v1beta', 'google'],
  ['POST', '/v1/nothing/at/all', 'openai'],
]

const kinds = {
  openai: { 401: 'authentication_error', 403: 'permission_error' },
  anthropic: { 401: 'authentication_error', 403: 'permission_error' },
  google: { 401: 'UNAUTHENTICATED', 403: 'PERMISSION_DENIED' },
  'ai-sdk': { 401: 'authentication_error', 403: 'forbidden' },
} as const

async function assertRejected(response: Response, status: 401 | 403, route: (typeof routes)[number]) {
  const [method, path, format] = route
  assert.is(response.status, status, `${method} ${path}`)
  const text = await response.text()
  if (method === 'HEAD') return assert.is(text, '')
  const reply: ErrorAnswer = JSON.parse(text)
  const kind = format === 'google' ? reply.error.status : reply.error.type
  assert.is(kind, kinds[format][status], `${method} ${path}: ${text}`)
  assert.is(reply.type, format === 'anthropic' ? 'error' : undefined)
}

test("without a key, every route returns 401 in the client's format", async () => {
  const { send, upstream } = await gated()
  assert.ok(
    endpoints.every(({ path }) => routes.some(([, known]) => known === path.replace('{model}', 'g'))),
    'every endpoint must be in the list of routes',
  )
  for (const route of routes) {
    const response = await send(route[1], {}, route[0])
    await assertRejected(response.clone(), 401, route)
    assert.is(response.headers.get('www-authenticate'), 'Bearer')
    if (route[0] !== 'HEAD') assert.match(await response.text(), /x-goog-api-key: <key>/)
  }
  assert.is(upstream.calls.length, 0)
})

test('an unknown key gets a 401 on every route, with a different message than for a missing key', async () => {
  const { send, key } = await gated()
  const { key: other } = await (await gated()).world.api.keys.create({ name: 'of another gateway' })
  for (const route of routes) {
    await assertRejected(await send(route[1], { authorization: 'Bearer sk-made-up' }, route[0]), 401, route)
    await assertRejected(await send(route[1], { 'x-api-key': other }, route[0]), 401, route)
  }
  for (const wrong of [
    key.slice(0, -1),
    `${key}0`,
    key.toUpperCase(),
    key.replace('sbx_', ''),
    `${key} ${key}`,
    '',
    '*',
  ]) {
    const response = await send('/v1/chat/completions', { authorization: `Bearer ${wrong}` })
    assert.is(response.status, 401, wrong)
  }
  assert.match(await (await send('/v1/chat/completions')).text(), /requires an API key/)
  assert.match(
    await (await send('/v1/chat/completions', { 'x-api-key': other })).text(),
    /does not recognize the API key/,
  )
  const providers = await (await send('/v1/chat/completions', { 'x-api-key': 'sk-proj-of-a-provider' })).text()
  assert.match(
    providers,
    /not a Signalbox API key\. Create one with POST \/api\/keys\. Provider keys belong in connections, and admin tokens are for \/api/,
  )
  assert.not.match(providers, /sk-proj/)
  const admins = await (await send('/v1/chat/completions', { 'x-api-key': 'sbx_admin_token' })).text()
  assert.match(admins, /not a Signalbox API key/)
})

test('a paused key gets a 403 on every route, whether or not keys are required', async () => {
  for (const requireApiKey of [true, false]) {
    const { world, send, key, id, upstream } = await gated({ requireApiKey })
    await world.api.keys.update(id, { isActive: false })
    for (const route of routes) await assertRejected(await send(route[1], { 'x-api-key': key }, route[0]), 403, route)
    assert.is(upstream.calls.length, 0)
    assert.match(await (await send('/v1/chat/completions', { 'x-api-key': key })).text(), /paused/)
  }
})

test('an expired key gets a distinct 401 on every route, even if no key is required', async () => {
  for (const requireApiKey of [true, false]) {
    const { world, send, key, id, upstream } = await gated({ requireApiKey })
    const { key: other } = await world.api.keys.create({ name: 'other' })
    const expiresAt = new Date(world.clock.now() + 60_000).toISOString()
    await world.api.keys.update(id, { expiresAt })
    await world.clock.advance(59_999)
    assert.is((await send('/v1/chat/completions', { 'x-api-key': key })).status, 200)
    await world.clock.advance(1)
    for (const route of routes) {
      const response = await send(route[1], { 'x-api-key': key, 'api-key': other }, route[0])
      await assertRejected(response.clone(), 401, route)
      assert.is(response.headers.get('x-should-retry'), 'false')
      if (route[0] !== 'HEAD') assert.match(await response.text(), /"(?:code|reason)":"key_expired"/)
    }
    assert.is(upstream.calls.length, 1)
    await world.api.keys.update(id, { expiresAt: '2100-01-01T00:00:00+02:00' })
    assert.is((await send('/v1/chat/completions', { 'x-api-key': key })).status, 200)
    await world.api.keys.update(id, { expiresAt: null })
    assert.is((await send('/v1/chat/completions', { 'x-api-key': key })).status, 200)
  }
})

test('no route returns a 401 for a valid key', async () => {
  const { send, key } = await gated()
  for (const [method, path] of routes) {
    const { status } = await send(path, { authorization: `Bearer ${key}` }, method)
    assert.ok([200, 404, 405, 400].includes(status), `${method} ${path}: ${status}`)
  }
})

test('keys are read from four headers, and `Bearer` may be in any case', async () => {
  const { chat, key } = await gated()
  const ways: Array<Record<string, string>> = [
    { authorization: `Bearer ${key}` },
    { authorization: `bearer ${key}` },
    { authorization: `BEARER   ${key}  ` },
    { Authorization: `Bearer ${key}` },
    { 'x-api-key': key },
    { 'X-Goog-Api-Key': key },
    { 'api-key': ` ${key} ` },
    { authorization: 'Basic aG9zdDp1c2Vy', 'x-api-key': key },
    { authorization: 'Bearer of-the-host', 'api-key': key },
    { 'x-api-key': 'sk-of-a-vendor', 'x-goog-api-key': key },
  ]
  for (const headers of ways) assert.is((await chat(headers)).status, 200, JSON.stringify(headers))
  for (const headers of [
    { authorization: key },
    { authorization: `Token ${key}` },
    { authorization: `Bearer${key}` },
    { authorization: `Bearer x ${key}` },
    { 'x-api-key': `Bearer ${key}` },
    { cookie: `key=${key}` },
    { 'x-key': key },
  ])
    assert.is((await chat(headers)).status, 401, JSON.stringify(headers))
  const { send } = await gated()
  assert.is(
    (await send(`/v1/chat/completions?key=${key}&api-key=${key}`)).status,
    401,
    'keys in URLs are never accepted',
  )
})

test("if keys aren't required, requests with no key or an unknown one are accepted", async () => {
  const { chat } = await gated({ requireApiKey: false })
  assert.is((await chat({})).status, 200)
  assert.is((await chat({ authorization: 'Bearer sk-of-a-vendor' })).status, 200)
})

test('OPTIONS requests work without a key and with a paused key', async () => {
  const { world, send, key, id } = await gated()
  await world.api.keys.update(id, { isActive: false })
  for (const headers of [{}, { 'x-api-key': key }]) {
    assert.is((await send('/v1/models', headers, 'OPTIONS')).status, 204)
    assert.is((await send('/v1/chat/completions', headers, 'OPTIONS')).status, 204)
    assert.is((await send('/v1/files', headers, 'OPTIONS')).status, 404)
  }
})

test("an admin token doesn't work under /v1, and an API key doesn't work under /api", async () => {
  const { send, key } = await gated()
  for (const [method, path] of routes)
    assert.is((await send(path, { authorization: `Bearer ${token}` }, method)).status, 401, `${method} ${path}`)
  for (const path of ['/api/keys', '/api/settings', '/api/connections', '/api/nothing', '/api']) {
    for (const headers of [{ authorization: `Bearer ${key}` }, { 'x-api-key': key }, { 'x-api-key': token }] as const)
      assert.is((await send(path, headers as Record<string, string>, 'GET')).status, 401, path)
  }
})

test("hooks receive the id of the request's key", async () => {
  const { world, chat, key, id } = await gated({ requireApiKey: false })
  await chat({ 'x-api-key': key })
  await chat({})
  assert.equal(
    world.recorded.requests.map(({ keyId }) => keyId),
    [id, undefined],
  )
  assert.equal(
    world.recorded.usages.map(({ keyId }) => keyId),
    [id, undefined],
  )
})
