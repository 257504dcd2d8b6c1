import { toServiceWorkerHandler } from '../../adapters/mount/service-worker.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/index.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('a gateway in a service worker')
const gateway = createGateway({ storage: memoryStorage(), basePath: '/ai', logger: false })
const handle = toServiceWorkerHandler(gateway)

test.before(() => void Object.assign(globalThis, { location: new URL('https://app.example/worker.js') }))
test.after(() => void Reflect.deleteProperty(globalThis, 'location'))

/** Sends one event and answers what the page gets, if the gateway has answered at all. */
function dispatch(request: Request, waitUntil: (work: Promise<unknown>) => void = () => {}) {
  let response: Promise<Response> | undefined
  handle({
    request,
    waitUntil,
    respondWith(answer) {
      response = answer
    },
  })
  return response
}

test('answers its own paths at once, as an event must be answered', async () => {
  const response = await dispatch(new Request('https://app.example/ai/v1/models'))
  assert.is(response?.status, 200)
  assert.match((await response?.text()) ?? '', /"object":"list"/)
})

test('leaves other paths to the network', () => {
  for (const path of ['/', '/page', '/v1/models', '/ai', '/ai/page', '/aiv1/models'])
    assert.is(dispatch(new Request(`https://app.example${path}`)), undefined, path)
})

test('leaves the same paths of other origins to the network: a page may call a provider itself', () => {
  for (const origin of ['https://api.provider.example', 'http://app.example', 'https://app.example:8443'])
    assert.is(dispatch(new Request(`${origin}/ai/v1/models`)), undefined, origin)
})

test('hands over the signal of the page, and the event for work that outlives the answer', async () => {
  let seen: { request?: Request; platform?: unknown[] } = {}
  const spied = toServiceWorkerHandler({
    matches: gateway.matches,
    fetch: Object.assign(async (request: Request, ...platform: unknown[]) => {
      seen = { request, platform }
      return new Response()
    }, gateway),
  })
  const abort = new AbortController()
  const request = new Request('https://app.example/ai/v1/models', { signal: abort.signal })
  const kept: Promise<unknown>[] = []
  let isOver = false
  spied({
    request,
    respondWith() {},
    waitUntil(work) {
      if (isOver) throw new DOMException('The event is over.', 'InvalidStateError')
      kept.push(work)
    },
  })
  abort.abort()
  assert.is(seen.request?.signal.aborted, true)
  const [context] = seen.platform as [{ waitUntil(work: Promise<unknown>): void }] // the one thing it passes
  const work = Promise.resolve()
  context.waitUntil(work)
  isOver = true
  context.waitUntil(work)
  assert.equal(kept, [work])
})
