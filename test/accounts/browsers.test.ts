import { assert, suite } from '../support/suite.ts'
import { getOutcome, openApp } from './support/app.ts'

const test = suite('requests from browsers')

const APP = 'http://app.test'
const PARTNER = 'https://partner.example'
const SIBLING = 'https://blog.app.test'

const chatBody = { model: 'one/m', messages: [] }

function audioForm(): FormData {
  const form = new FormData()
  form.set('model', 'one/m')
  form.set('file', new Blob(['sound'], { type: 'audio/wav' }), 'a.wav')
  return form
}

test("requests from other sites' pages are rejected before identify is called", async () => {
  const app = await openApp()
  const marks: Array<Record<string, string>> = [
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site', origin: SIBLING },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'odd' },
    { 'sec-fetch-site': '' },
    { 'sec-fetch-site': 'same-origin, cross-site' },
    { origin: 'https://evil.example' },
    { origin: 'http://app.test:81' },
    { origin: 'http://app.test.evil.example' },
    { origin: 'null' },
    { origin: '' },
  ]
  for (const headers of marks) {
    const sent: Array<[path: string, body: BodyInit | object, type?: string]> = [
      ['/v1/audio/transcriptions', audioForm()],
      ['/v1/chat/completions', JSON.stringify(chatBody), 'text/plain'],
      ['/v1/chat/completions', chatBody],
    ]
    for (const [path, body, type] of sent) {
      const all = { ...headers, ...(type && { 'content-type': type }) }
      const response = await app.send(path, { as: 'alice', body, headers: all })
      assert.is(await getOutcome(response), '403 cross_site', JSON.stringify(headers))
    }
  }
  assert.equal([app.requests.length, app.upstream.calls.length], [0, 0])
})

test("requests from the app's own pages and from non-browser clients are accepted", async () => {
  const app = await openApp()
  const accepted: Array<Record<string, string>> = [
    {},
    { 'sec-fetch-site': 'same-origin', origin: APP },
    { 'sec-fetch-site': 'none' },
    { origin: APP },
    { origin: 'http://APP.test', host: 'app.test' },
    { origin: 'http://localhost:3000', host: 'localhost:3000' },
  ]
  for (const headers of accepted)
    assert.is((await app.chat({ as: 'alice', headers })).status, 200, JSON.stringify(headers))
  const form = await app.send('/v1/audio/transcriptions', { as: 'alice', body: audioForm(), headers: { origin: APP } })
  assert.not.ok([403, 415].includes(form.status), `${form.status}`)
})

test('behind a proxy, publicOrigin replaces Host in the origin check', async () => {
  const app = await openApp({ publicOrigin: 'https://shop.example' })
  const host = 'internal:8080'
  const send = (headers: Record<string, string>) => app.chat({ as: 'alice', headers: { host, ...headers } })
  assert.is((await send({ origin: 'https://shop.example' })).status, 200)
  for (const origin of ['http://shop.example', 'https://shop.example:444', 'http://internal:8080', 'null'])
    assert.is(await getOutcome(await send({ origin })), '403 cross_site', origin)
  assert.is(
    await getOutcome(await send({ 'sec-fetch-site': 'same-site', origin: 'https://shop.example' })),
    '403 cross_site',
  )
})

test("the gateway strips cookies from an allowed origin's requests unless the origin may send credentials", async () => {
  const app = await openApp({
    allowedOrigins: [PARTNER, { origin: SIBLING, credentials: true }],
    identify: ({ headers }) => ({ account: headers.get('cookie') ?? 'nobody' }),
  })
  const send = async (origin: string, path = '/v1/chat/completions') => {
    app.requests.length = 0
    const response = await app.send(path, {
      as: 'alice',
      headers: { origin, 'sec-fetch-site': 'cross-site', authorization: 'Bearer jwt' },
      ...(path.includes('chat') && { body: chatBody }),
    })
    assert.is(response.status, 200)
    const [request] = app.requests
    const { headers } = response
    return {
      cookie: request?.headers.get('cookie') ?? null,
      authorization: request?.headers.get('authorization'),
      origin: headers.get('access-control-allow-origin'),
      credentials: headers.get('access-control-allow-credentials'),
      vary: headers.get('vary'),
      exposed: headers.get('access-control-expose-headers'),
    }
  }
  const shared = { authorization: 'Bearer jwt', vary: 'Cookie, Authorization, Origin' }
  for (const path of ['/v1/chat/completions', '/v1/models']) {
    const partner = { ...shared, cookie: null, origin: PARTNER, credentials: null, exposed: '*' }
    assert.equal(await send(PARTNER, path), partner)
    const { exposed, ...sibling } = await send(SIBLING, path)
    assert.equal(sibling, { ...shared, cookie: 's=alice', origin: SIBLING, credentials: 'true' })
    assert.match(exposed ?? '', /content-type/)
  }
  const preflight = (origin: string) =>
    app.send('/v1/chat/completions', {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    })
  assert.is((await preflight(PARTNER)).headers.get('access-control-allow-credentials'), null)
  assert.is((await preflight(SIBLING)).headers.get('access-control-allow-credentials'), 'true')
})

test('identify gets no platform request from an origin without credentials, because it contains the cookie', async () => {
  const platforms: unknown[] = []
  const app = await openApp({
    allowedOrigins: [PARTNER, { origin: SIBLING, credentials: true }],
    identify: (_, { platform }) => {
      platforms.push(platform)
      return { account: 'alice' }
    },
  })
  const event = { headers: { cookie: 's=alice' } }
  const worker = [{ DB: 'a binding' }, { waitUntil() {} }]
  for (const origin of ['http://app.test', PARTNER, SIBLING])
    for (const platform of [[event], worker]) {
      const headers = { origin, 'sec-fetch-site': origin.includes('app.test') ? 'same-origin' : 'cross-site' }
      const request = app.toRequest('/v1/chat/completions', {
        as: 'alice',
        headers,
        body: chatBody,
      })
      assert.is((await app.gateway.fetch(request, ...platform)).status, 200)
    }
  const env = { env: worker[0], ctx: worker[1] }
  assert.equal(platforms, [event, env, undefined, env, event, env])
})

test('as() rejects a cookie from an allowed origin without credentials', async () => {
  const app = await openApp({ allowedOrigins: [PARTNER] })
  const { fetch } = app.as({ account: 'alice' })
  const send = (cookie?: string) =>
    fetch(
      app.toRequest('/v1/chat/completions', {
        body: chatBody,
        headers: { origin: PARTNER, 'sec-fetch-site': 'cross-site', ...(cookie && { cookie }) },
      }),
    )
  assert.is(await getOutcome(await send('s=alice')), '403 cross_site')
  assert.is((await send()).status, 200)
})

test("requests from the app's own origin keep their cookies even if allowedOrigins contains it", async () => {
  const app = await openApp({ allowedOrigins: [APP] })
  assert.is((await app.chat({ as: 'alice', headers: { origin: APP, 'sec-fetch-site': 'same-origin' } })).status, 200)
  assert.is((await app.chat({ as: 'alice', headers: { origin: APP } })).status, 200)
})

test("responses to a user aren't cached, and other sites can't read them", async () => {
  const app = await openApp()
  for (const path of ['/v1/account', '/v1/models']) {
    const foreign = await app.send(path, { as: 'alice', headers: { origin: PARTNER, 'sec-fetch-site': 'cross-site' } })
    assert.is(foreign.headers.get('access-control-allow-origin'), null, path)
    const response = await app.send(path, { as: 'alice' })
    assert.is(response.status, 200)
    assert.is(response.headers.get('cache-control'), 'private, no-store')
    assert.is(response.headers.get('access-control-allow-origin'), null)
  }
  const stream = await app.chat({ as: 'alice', body: { stream: true } })
  assert.is(
    stream.headers.get('cache-control'),
    'private, no-store, no-transform',
    'proxies must not buffer the stream',
  )
})
