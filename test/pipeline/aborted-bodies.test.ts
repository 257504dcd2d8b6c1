import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld, token } from './support/world.ts'

const test = suite('clients that disconnect before sending the entire body')

test('a client that disconnects before sending the entire body causes no provider call', async () => {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ fetch: upstream })
  const controller = new AbortController()
  let canceled = false
  const body = new ReadableStream({
    cancel() {
      canceled = true
    },
  })
  const request = new Request('http://gateway/v1/chat/completions', {
    signal: controller.signal,
    method: 'POST',
    body,
    duplex: 'half',
  } as RequestInit)
  const pending = world.gateway.fetch(request)
  await world.clock.advance(0)
  controller.abort()
  assert.is((await pending).status, 499)
  assert.is(canceled, true)
  assert.is(upstream.calls.length, 0)
  assert.is(world.recorded.requests[0]?.status, 499)
  await world.gateway.close()
})

for (const path of ['/v1/chat/completions', '/api/keys']) {
  const createStalled = (signal: AbortSignal, cancel: () => void) => {
    const headers = { 'content-type': 'application/json', 'content-length': '100' }
    const init = {
      method: 'POST',
      headers,
      signal,
      body: new ReadableStream({ cancel }),
      duplex: 'half',
    } as RequestInit
    return new Request(`http://gateway${path}`, init)
  }

  test(`a request to ${path} ends with a 499 when the client disconnects while sending a small body`, async () => {
    const world = await openWorld()
    const controller = new AbortController()
    const request = createStalled(controller.signal, () => {})
    if (path.startsWith('/api')) request.headers.set('authorization', `Bearer ${token}`)
    const pending = world.gateway.fetch(request)
    await world.clock.advance(0)
    controller.abort()
    assert.is((await pending).status, 499)
  })

  test(`a small body sent to ${path} is canceled if the client has already disconnected`, async () => {
    const world = await openWorld()
    const controller = new AbortController()
    let canceled = false
    const request = createStalled(controller.signal, () => {
      canceled = true
    })
    if (path.startsWith('/api')) request.headers.set('authorization', `Bearer ${token}`)
    controller.abort()
    assert.is((await world.gateway.fetch(request)).status, 499)
    assert.is(canceled, true)
  })
}
