import { servedRoutes as routes } from '../support/served-routes.ts'
import { spellings } from '../support/spellings.ts'
import { assert, suite } from '../support/suite.ts'
import { chatResponse, messageResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld, token } from './support/world.ts'

const test = suite('the HTTP surface')

async function open(options = {}) {
  const upstream = fakeUpstream(({ provider }) => json(provider === 'claude' ? messageResponse() : chatResponse()))
  const world = await openWorld({ fetch: upstream, ...options })
  await world.api.settings.update({ requireApiKey: true })
  const { key } = await world.api.keys.create({ name: 'good' })
  const paused = await world.api.keys.create({ name: 'paused' })
  await world.api.keys.update(paused.id, { isActive: false })
  return { world, up: upstream, key, paused: paused.key }
}

const concrete = (path: string) => path.replace(/:\w+\+?/g, 'x')
/** Returns whether a route also matches another route's path, as `/api/guards/:name` matches `/api/guards/test`. */
const matches = (route: string, path: string) =>
  new RegExp(`^${route.replace(/:\w+\+/g, '.+').replace(/:\w+/g, '[^/]+')}$`).test(concrete(path))
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** The expected result for each credential, by area, before a route is matched: a status, or access. */
const gates = {
  models: { none: 401, wrong: 401, client: 'through', paused: 403, admin: 401 },
  management: { none: 401, wrong: 401, client: 401, paused: 401, admin: 'through' },
} as const

test('every route × method × credential is accepted or rejected as the tables specify', async () => {
  const { world, key, paused } = await open()
  const credentials = { none: undefined, wrong: 'wrong', client: key, paused, admin: token }
  const paths = new Set(routes.map(({ path }) => path))
  assert.ok(paths.size > 20)
  for (const path of paths) {
    const area = path.startsWith('/api') ? 'management' : 'models'
    for (const method of methods) {
      for (const [source, credential] of Object.entries(credentials)) {
        const headers = new Headers({ 'content-type': 'application/json' })
        if (credential !== undefined) headers.set('authorization', `Bearer ${credential}`)
        const body = method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? {} : { body: '{}' }
        const response = await world.gateway.fetch(
          new Request(`http://gateway${concrete(path)}`, { method, headers, ...body }),
        )
        const location = `${method} ${path} as ${source}: ${response.status}`
        const isFree = area === 'models' && method === 'OPTIONS'
        const gate = isFree ? 'through' : gates[area][source as keyof (typeof gates)['models']]
        if (gate !== 'through') assert.is(response.status, gate, location)
        else {
          assert.not.ok([401, 403, 500].includes(response.status), location)
          const served = routes
            .filter((route) => route.path === path || (area === 'management' && matches(route.path, path)))
            .map((route) => route.method as string)
          const isProbe = method === 'HEAD' || method === 'OPTIONS'
          const isServed = served.includes(method === 'HEAD' ? 'GET' : method) || (isProbe && response.status === 204)
          const isBare = method === 'POST' && path.endsWith('/models/:id+') // only matches with a method after the model name
          assert.is(response.status === 405, !isServed || isBare, location)
        }
        const text = await response.text()
        if (method === 'HEAD' || response.status === 204) assert.is(text, '', location)
        else JSON.parse(text)
        assert.is(response.headers.get('access-control-allow-origin') !== null, path === '/v1/models', location)
      }
    }
  }
  assert.equal(world.recorded.errors, [])
})

for (const basePath of ['', '/ai']) {
  test(`the authorized path always equals the routed path (${spellings.length} spellings below "${basePath}")`, async () => {
    const { world, key } = await open({ basePath })
    for (const [spelling, area] of spellings) {
      if (basePath && /^[/\\]{1,3}(?:\.|x|\t|%|[/\\])|^\\/.test(spelling)) continue // these leave the base path, or start outside it
      const send = async (credential: string) => {
        const url = `http://gateway${basePath}${spelling}`
        const response = await world.gateway.fetch(
          new Request(url, { headers: { authorization: `Bearer ${credential}` } }),
        )
        return { status: response.status, text: await response.text() }
      }
      const client = await send(key)
      const admin = await send(token)
      const location = `${spelling}: ${client.status} to a client, ${admin.status} to the admin`
      assert.not.ok(client.text.includes('"keys"'), `${location}: a client read the keys`)
      if (area === 'elsewhere') assert.equal([client.status, admin.status], [404, 404], location)
      else if (area === 'health') assert.equal([client.status, admin.status], [200, 200], location)
      else if (area === 'management') assert.ok(client.status === 401 && admin.status !== 401, location)
      else assert.ok(client.status !== 401 && admin.status === 401, location)
    }
  })
}

test('the 404 for an unknown path suggests a similar path', async () => {
  const { world } = await open()
  await world.api.settings.update({ requireApiKey: false })
  for (const [request, hint] of [
    [
      'GET /v1',
      / here\. This is the base URL for OpenAI clients, which append the rest\. GET \/v1\/models lists the models\.$/,
    ],
    ['GET /v1/', /This is the base URL for OpenAI clients/],
    ['POST /v1/v1/chat/completions', /Remove \/v1 from this client's base URL\.$/],
    ['POST /v1/v1/messages', /Remove \/v1 from/],
    ['POST /v1/v1beta/models/m:generateContent', /Remove \/v1 from/],
    ['POST /v1beta/v1beta/models/m:generateContent', /Remove \/v1beta from/],
    ['POST /v1beta/v1/models/m:generateContent', /Remove \/v1beta from/],
    ['POST /v1//chat/completions', /Did you mean "\/v1\/chat\/completions"\?$/],
    ['POST /v1/chat/completions/chat/completions', /Did you mean "\/v1\/chat\/completions"\?/],
    ['POST /v1beta/chat/completions', /Did you mean "\/v1\/chat\/completions"\?/],
    ['POST /v1beta/openai/completions', /Did you mean "\/v1\/completions"\?/],
    ['POST /v1/messages/v1/messages', /Did you mean "\/v1\/messages"\?/],
    ['POST /v1/chat/completion', /Did you mean "\/v1\/chat\/completions"\?/],
    ['POST /v1/chat', /Did you mean "\/v1\/chat\/completions"\?/],
    ['GET /api/key', /Did you mean "\/api\/keys"\?/],
    ['GET /v1/files', /^GET \/v1\/files does not exist here\.$/],
    ['GET /v1/responses/resp_1', /^GET \/v1\/responses\/resp_1 does not exist here\.$/],
    ['POST /v1/models/m:predict', /^POST \/v1\/models\/m:predict does not exist here\.$/],
    ['POST /v1/messages/batches', /^POST \/v1\/messages\/batches does not exist here\.$/],
  ] as const) {
    const [method = '', path = ''] = request.split(' ')
    const headers = path.startsWith('/api') ? { authorization: `Bearer ${token}` } : {}
    const response = await world.gateway.fetch(new Request(`http://gateway${path}`, { method, headers }))
    assert.is(response.status, 404, request)
    const { error } = (await response.json()) as { error: string | { message: string } }
    assert.match(typeof error === 'string' ? error : error.message, hint)
  }
})

test('a host name in the request target has no effect', async () => {
  const { world } = await open()
  for (const host of ['localhost', '127.0.0.1', 'gateway', 'api.openai.com'])
    assert.is((await world.gateway.fetch(new Request('http://gateway/api/keys', { headers: { host } }))).status, 401)
  for (const url of ['http://localhost/api/keys', 'https://127.0.0.1:8080/api/keys', 'http://user:pw@gateway/api/keys'])
    assert.is(
      (await world.gateway.fetch(url.includes('@') ? new Request(url.replace('user:pw@', '')) : new Request(url)))
        .status,
      401,
    )
})

test('an invalid Host header is rejected, because some runtimes build the URL from it', async () => {
  const { world } = await open()
  const { gateway } = world
  const rejected = '{"error":"The Host header is not a valid host name."}'
  /** Creates a request as Deno and Bun pass it, which the `Request` constructor can't produce. */
  const sendRequest = (url: string, host?: string) =>
    Object.defineProperty(new Request('http://gateway/', host === undefined ? {} : { headers: { host } }), 'url', {
      value: url,
    })
  for (const [host, url] of [
    ['a/api/keys?', 'http://a/api/keys?/nowhere'],
    ['a/v1/models#', 'http://a/v1/models#/nowhere'],
    ['a\\api\\keys?', 'http://a\\api\\keys?/nowhere'],
    ['x@localhost', 'http://x@localhost/v1/models'],
    ['a?', 'http://a?/v1/models'],
    ['a b', 'http://a b/v1/models'],
    ['a%2fb', 'http://a%2fb/v1/models'],
    ['[::1', 'http://[::1/v1/models'],
    ['a:99999', 'http://a:99999/v1/models'],
    ['a/api/keys?', '/nowhere'],
    ['', '/v1/models'],
  ] as const) {
    for (const response of [await gateway.fetch(sendRequest(url, host)), await gateway.handle(sendRequest(url, host))])
      assert.equal([response?.status, await response?.text()], [400, rejected], `${host} ${url}`)
    assert.type(gateway.matches(url), 'boolean')
  }
  assert.is((await gateway.fetch(sendRequest('/api/keys'))).status, 401, 'HTTP/1.0 requests have no Host')
  assert.is((await gateway.fetch(sendRequest('//evil/api/keys'))).status, 404)
  for (const host of ['localhost:4000', '[::1]:80', 'my_host.example.com', 'xn--mnchen-3ya.de'])
    assert.is((await gateway.fetch(sendRequest(`http://${host}/api/keys`, host))).status, 401, host)
  assert.equal(world.recorded.errors, [])
})

test('fetch serves the root and a 404 that lists its paths; handle leaves both to your app', async () => {
  for (const basePath of ['', '/ai']) {
    const { world } = await open({ basePath })
    const get = (path: string, method = 'GET') => world.gateway.fetch(new Request(`http://gateway${path}`, { method }))
    assert.is((await get(`${basePath}/`)).status, 200)
    assert.equal(await (await get(`${basePath}/`)).json(), {
      name: 'signalbox',
      baseUrl: `${basePath}/v1`,
      models: `${basePath}/v1/models`,
    })
    assert.is(await (await get(`${basePath}/`, 'HEAD')).text(), '')
    const missing = await get('/nothing')
    assert.is(missing.status, 404)
    assert.match(await missing.text(), new RegExp(`${basePath}/v1.*${basePath}/api`))
    for (const path of ['/', '/nothing', `${basePath || '/'}x/v1/models`]) {
      assert.is(await world.gateway.handle(new Request(`http://gateway${path}`)), undefined)
      assert.is(world.gateway.matches(`http://gateway${path}`), false)
    }
    assert.is(world.gateway.matches(`http://gateway${basePath}/v1/models`), true)
  }
})
