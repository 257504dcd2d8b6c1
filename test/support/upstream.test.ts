import { HttpResponse, http } from 'msw'
import { assert, suite } from './suite.ts'
import { upstream } from './upstream.ts'

const test = suite('msw handlers as an upstream')
const getReason = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no failure',
    (reason: unknown) => reason,
  )

test('the mock upstream responds through its handlers and records requests', async () => {
  const fetch = upstream(
    http.post('http://up/echo', async ({ request }) => HttpResponse.text(await request.text(), { status: 201 })),
  )
  const response = await fetch('http://up/echo', { method: 'POST', body: 'hello' })
  assert.is(response.status, 201)
  assert.is(await response.text(), 'hello')
  assert.is(await fetch.requests[0]?.text(), 'hello')
})

test('the mock upstream rejects broken connections and unhandled requests with a TypeError', async () => {
  const fetch = upstream(http.get('http://up/broken', () => HttpResponse.error()))
  assert.instance(await getReason(fetch('http://up/broken')), TypeError)
  assert.match(String(await getReason(fetch('http://up/other'))), /no handler for GET/)
})

test('an abort before the headers arrive rejects the call', async () => {
  const fetch = upstream(http.get('http://up/silent', () => new Promise<Response>(() => {})))
  const controller = new AbortController()
  const call = getReason(fetch('http://up/silent', { signal: controller.signal }))
  controller.abort('gone')
  assert.is(await call, 'gone')
  assert.is(await getReason(fetch('http://up/silent', { signal: controller.signal })), 'gone')
})

test('an abort after the headers arrive cuts off the body and cancels its source', async () => {
  let canceled: unknown
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('first')),
    cancel(reason) {
      canceled = reason
    },
  })
  const fetch = upstream(http.get('http://up/stream', () => new HttpResponse(body)))
  const abortController = new AbortController()
  const response = await fetch('http://up/stream', { signal: abortController.signal })
  const reader = response.body?.getReader()
  assert.is(new TextDecoder().decode((await reader?.read())?.value), 'first')
  const next = getReason(Promise.resolve(reader?.read()))
  abortController.abort('gone')
  assert.is(await next, 'gone')
  assert.is(canceled, 'gone')
})

test('an abort between two reads causes an error instead of a normal end', async () => {
  const parts = ['first', 'second']
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode(parts.shift() ?? ''))
    },
  })
  const fetch = upstream(http.get('http://up/stream', () => new HttpResponse(body)))
  const abortController = new AbortController()
  const response = await fetch('http://up/stream', { signal: abortController.signal })
  const reader = response.body?.getReader()
  await reader?.read()
  abortController.abort('gone')
  await new Promise((resolve) => setTimeout(resolve))
  assert.is(await getReason(Promise.resolve(reader?.read())), 'gone')
})
