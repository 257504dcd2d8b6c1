import { assert, suite } from '../support/suite.ts'
import { chatEvents } from './support/responses.ts'
import { fakeUpstream, never, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('gateway.fetch as the fetch function of an in-process client')

const REASON = new Error('the caller has left')
const at = 'http://gateway/v1/chat/completions'
const createRequest = (signal: AbortSignal, stream = false) => ({
  method: 'POST',
  signal,
  body: JSON.stringify({ model: 'one/m', stream, messages: [{ role: 'user', content: 'Hi' }] }),
})

test('an already aborted fetch rejects with its abort reason, without calling a provider', async () => {
  const upstream = fakeUpstream(never)
  const { gateway } = await openWorld({ fetch: upstream })
  const reason = await gateway.fetch(at, createRequest(AbortSignal.abort(REASON))).catch((error: unknown) => error)
  assert.equal([reason, upstream.calls.length], [REASON, 0])
})

test('aborting before the response rejects with the abort reason and aborts the provider call', async () => {
  const controller = new AbortController()
  const upstream = fakeUpstream(() => {
    queueMicrotask(() => controller.abort(REASON))
    return never()
  })
  const { gateway } = await openWorld({ fetch: upstream })
  const reason = await gateway.fetch(at, createRequest(controller.signal)).catch((error: unknown) => error)
  assert.equal([reason, upstream.calls.length, upstream.open], [REASON, 1, 0])
})

test('aborting mid-stream fails the read with the abort reason', async () => {
  const controller = new AbortController()
  const upstream = fakeUpstream(() => sse(chatEvents().slice(0, 2), 'hang'))
  const { gateway } = await openWorld({ fetch: upstream })
  const response = await gateway.fetch(at, createRequest(controller.signal, true))
  const reader = response.body?.getReader()
  await reader?.read()
  controller.abort(REASON)
  const reading = async () => {
    while (!(await reader?.read())?.done);
    return 'an end'
  }
  assert.is(await reading().catch((error: unknown) => error), REASON)
  assert.is(upstream.open, 0)
})

test("a server that forwards a disconnected client's request gets a 499", async () => {
  const { gateway } = await openWorld({ fetch: fakeUpstream(never) })
  const response = await gateway.fetch(new Request(at, createRequest(AbortSignal.abort(REASON))))
  assert.is(response.status, 499)
})
