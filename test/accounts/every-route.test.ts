import { accountPaths } from '../../src/features/limits/account-routes.ts'
import { listingPaths } from '../../src/features/listing/listing-routes.ts'
import { endpoints } from '../../src/protocols/kinds/kinds.ts'
import { assert, suite } from '../support/suite.ts'
import { openApp } from './support/app.ts'

const test = suite('accounts on every client route')

/** A feature that adds two routes. */
const hello = { name: 'hello', areas: [{ path: '/hello', routes: [greeting('GET'), greeting('POST')] }] }

function greeting(method: 'GET' | 'POST') {
  return { method, path: '/hello/:name', run: () => Response.json({ hello: true }) }
}

/** Every path that a client key can access, plus one path without a route. Parameters have sample values. */
const routes: ReadonlyArray<[method: string, path: string]> = [
  ...endpoints.map(({ path }) => ['POST', path.replace('{model}', 'one/m')] as [string, string]),
  ...listingPaths.flatMap(
    ({ path }): Array<[string, string]> => [
      ['GET', path.replace(':id+', 'one/m')],
      ['HEAD', path.replace(':id+', 'one/m')],
    ],
  ),
  ...Object.keys(accountPaths).map((path) => ['GET', path] as [string, string]),
  ['GET', '/hello/world'],
  ['POST', '/hello/world'],
  ['POST', '/v1/without/a/route'],
  ['DELETE', '/v1/models'],
  ['GET', '/v1beta/nothing'],
]

/** Returns a request body that reports when it is read, and never ends. */
function watchedBody() {
  let isRead = false
  const stream = new ReadableStream(
    {
      pull(controller) {
        isRead = true
        controller.enqueue(new TextEncoder().encode('{"model":"one/m","messages":[]}'))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, wasRead: () => isRead }
}

test('these tests cover every client route in the OpenAPI document', async () => {
  const app = await openApp({ extend: [hello] })
  const { paths } = (await app.api.openapi()) as { paths: Record<string, object> }
  const tested = new Set(routes.map(([, path]) => path))
  const own = Object.keys(paths).filter((path) => !path.startsWith('/api') && path !== '/health')
  const forgotten = own.filter(
    (path) => !tested.has(path.replace(/\{(?:model|id)\}/, 'one/m').replace('{name}', 'world')),
  )
  assert.equal(forgotten, [])
  assert.ok(own.length > 30, `${own.length}`)
})

for (const [method, path] of routes)
  test(`${method} ${path} calls identify once, before reading the body, and rejects unidentified callers`, async () => {
    const app = await openApp({ extend: [hello] })
    for (const as of [undefined, 'alice']) {
      app.requests.length = 0
      const { stream, wasRead } = watchedBody()
      const reads: boolean[] = []
      const request = app.toRequest(path, { method, ...(as && { as }) })
      const sent =
        method === 'POST'
          ? new Request(request, {
              body: stream,
              headers: { ...Object.fromEntries(request.headers), 'content-type': 'application/json' },
              duplex: 'half',
            } as RequestInit)
          : request
      const look = app.requests.push.bind(app.requests)
      app.requests.push = (...requested) => {
        reads.push(wasRead())
        return look(...requested)
      }
      const response = await app.gateway.fetch(sent)
      app.requests.push = look
      await response.body?.cancel()
      assert.equal(reads, [false], 'identified once, before the body is read')
      assert.is(response.headers.get('cache-control'), 'private, no-store')
      assert.is(response.headers.get('vary'), 'Cookie, Authorization, Origin')
      if (as === undefined) assert.is(response.status, 401)
      else assert.not.ok([401, 403, 500, 503].includes(response.status), `${response.status}`)
      assert.is(app.requests[0]?.body ?? null, null, 'the app gets no body')
    }
  })

test("OPTIONS requests and health checks don't call identify", async () => {
  const app = await openApp()
  for (const path of ['/v1/models', '/v1/chat/completions'])
    await app.gateway.fetch(app.toRequest(path, { method: 'OPTIONS' }))
  assert.is((await app.send('/health')).status, 200)
  assert.is(app.requests.length, 0)
})

test('an account has no access to the management API', async () => {
  const app = await openApp()
  assert.is((await app.send('/api/keys', { as: 'alice' })).status, 401)
  assert.is((await app.as({ account: 'alice' }).fetch(app.toRequest('/api/keys'))).status, 401)
  assert.is(app.requests.length, 0)
})

test("identify receives the request's method, URL, endpoint, kind, format, and ID", async () => {
  const seen: object[] = []
  const app = await openApp({
    identify: (request, { endpoint, kind, format, requestId }) => {
      seen.push({ method: request.method, url: request.url, endpoint, kind, format, hasId: requestId !== undefined })
      return { account: 'alice' }
    },
  })
  const response = await app.send('/v1/messages?beta=1', { body: { model: 'one/m', max_tokens: 9, messages: [] } })
  assert.is(response.status, 200)
  await app.send('/v1beta/models')
  assert.equal(seen, [
    {
      method: 'POST',
      url: 'http://app.test/v1/messages?beta=1',
      endpoint: '/v1/messages',
      kind: 'llm',
      format: 'anthropic-messages',
      hasId: true,
    },
    {
      method: 'GET',
      url: 'http://app.test/v1beta/models',
      endpoint: undefined,
      kind: undefined,
      format: 'gemini',
      hasId: false,
    },
  ])
})
