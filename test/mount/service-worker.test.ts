import { toServiceWorkerHandler } from '../../adapters/mount/service-worker.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/index.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('a gateway in a service worker')
const gateway = createGateway({ storage: memoryStorage(), basePath: '/ai', logger: false })
const handle = toServiceWorkerHandler(gateway)

test.before(() => void Object.assign(globalThis, { location: new URL('https://app.example/worker.js') }))
test.after(() => void Reflect.deleteProperty(globalThis, 'location'))

/** The mode of a navigation request, which only a browser can set. */
const navigate = { value: 'navigate' }

/** Dispatches a fetch event. Returns the gateway's response, if it responded. */
function dispatch(request: Request, waitUntil: (work: Promise<unknown>) => void = () => {}) {
  let response: Promise<Response> | undefined
  handle({
    request,
    waitUntil,
    respondWith(reply) {
      response = reply
    },
  })
  return response
}

test('a gateway in a service worker calls respondWith synchronously for its paths', async () => {
  const response = await dispatch(new Request('https://app.example/ai/v1/models'))
  assert.is(response?.status, 200)
  assert.match((await response?.text()) ?? '', /"object":"list"/)
})

test('a gateway in a service worker leaves other paths to the network', () => {
  for (const path of ['/', '/page', '/v1/models', '/ai', '/ai/page', '/aiv1/models'])
    assert.is(dispatch(new Request(`https://app.example${path}`)), undefined, path)
})

test('a gateway in a service worker ignores its paths on other origins', () => {
  for (const origin of ['https://api.provider.example', 'http://app.example', 'https://app.example:8443'])
    assert.is(dispatch(new Request(`${origin}/ai/v1/models`)), undefined, origin)
})

test('a gateway in a service worker leaves form submissions to the network', () => {
  const form = (method: string) =>
    dispatch(Object.defineProperty(new Request('https://app.example/ai/v1/models', { method }), 'mode', navigate))
  assert.is(form('POST'), undefined)
  assert.ok(form('GET'), 'a URL typed in the address bar')
})

test("a gateway in a service worker sends Anthropic's browser opt-in, but no user-agent header", async () => {
  const own = globalThis.fetch
  const seen: Headers[] = []
  try {
    globalThis.fetch = async (_, init) => {
      seen.push(new Headers(init?.headers))
      return Response.json({ data: [{ id: 'm' }] })
    }
    for (const [provider, prefix] of [
      ['anthropic-compatible-lab', 'talk'],
      ['openai-compatible-lab', 'lab'],
    ] as const) {
      const providerSpecificData = { baseUrl: 'https://lab.example/v1', prefix }
      await gateway.api.connections.create({ provider, apiKey: 'sk-lab', providerSpecificData })
      const headers = { 'user-agent': 'Mozilla/5.0', 'content-type': 'application/json', 'x-title': 'page' }
      const body = JSON.stringify({ model: `${prefix}/m`, messages: [{ role: 'user', content: 'Hi' }] })
      const url = 'https://app.example/ai/v1/chat/completions'
      await dispatch(new Request(url, { method: 'POST', headers, body }))
    }
  } finally {
    globalThis.fetch = own
  }
  const optIns = seen.map((headers) => headers.get('anthropic-dangerous-direct-browser-access'))
  assert.equal(optIns, ['true', null])
  assert.equal(
    seen.map((headers) => [headers.get('user-agent'), headers.get('x-title')]),
    [
      [null, 'page'],
      [null, 'page'],
    ],
  )
})

test("a gateway in a service worker passes on the page's signal and waitUntil", async () => {
  let seen: { request?: Request; platform?: unknown[] } = {}
  const spied = toServiceWorkerHandler({
    matches: gateway.matches,
    fetch: Object.assign(async (request: Request, ...platform: unknown[]) => {
      seen = { request, platform }
      return new Response()
    }, gateway),
  })
  const controller = new AbortController()
  const request = new Request('https://app.example/ai/v1/models', { signal: controller.signal })
  const kept: Promise<unknown>[] = []
  let isOver = false
  spied({
    request,
    respondWith() {},
    waitUntil(promise) {
      if (isOver) throw new DOMException('The event is over.', 'InvalidStateError')
      kept.push(promise)
    },
  })
  controller.abort()
  assert.is(seen.request?.signal.aborted, true)
  const [context] = seen.platform as [{ waitUntil(work: Promise<unknown>): void }] // the only argument it passes
  const pending = Promise.resolve()
  context.waitUntil(pending)
  isOver = true
  context.waitUntil(pending)
  assert.equal(kept, [pending])
})
