import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse, type ErrorAnswer, messageEvents } from './support/responses.ts'
import { fakeUpstream, getBody, json, never, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('closing a gateway')

async function waitForCalls(
  world: { clock: { advance(ms: number): Promise<void> } },
  upstream: { calls: unknown[] },
  count = 1,
) {
  while (upstream.calls.length < count) await world.clock.advance(0)
  await world.clock.advance(0)
}

test("a closed gateway rejects new requests with a 503 in the client's format", async () => {
  const world = await openWorld()
  await world.gateway.close()
  const chat = await world.chat({})
  assert.is(chat.status, 503)
  const { error }: ErrorAnswer = await chat.json()
  assert.is(error.code, 'closed')
  const messages: ErrorAnswer = await (await world.messages({})).json()
  assert.is(messages.type, 'error')
  assert.is((await world.gateway.fetch(new Request('http://gateway/api/keys'))).status, 503)
  assert.equal(world.recorded.errors, [])
})

test("a request that isn't routed yet when the gateway closes either completes or gets a 503", async () => {
  for (let turns = 0; turns < 40; turns++) {
    let isClosed = false
    const served: boolean[] = []
    const upstream = fakeUpstream(() => {
      served.push(isClosed)
      return json(chatResponse())
    })
    const world = await openWorld({ fetch: upstream })
    const pending = world.post('/v1beta/models/one/m:generateContent', { contents: [{ parts: [{ text: 'Hi' }] }] })
    for (let turn = 0; turn < turns; turn++) await undefined
    const closing = world.gateway.close().then(() => {
      isClosed = true
    })
    const [{ status }] = await Promise.all([pending, closing])
    assert.equal(served, status === 503 ? [] : [false], `${status} after ${turns} turns`)
  }
})

test('close waits for in-flight requests', async () => {
  let respond: (response: Response) => void = () => {}
  const upstream = fakeUpstream(
    () =>
      new Promise<Response>((resolve) => {
        respond = resolve
      }),
  )
  const world = await openWorld({ fetch: upstream })
  const pending = world.chat({})
  await waitForCalls(world, upstream)
  let closed = 0
  const closing = [world.gateway.close(), world.gateway.close()].map((each) => each.then(() => closed++))
  await world.clock.advance(9_999)
  assert.is(closed, 0)
  respond(json(chatResponse()))
  assert.is((await pending).status, 200)
  await Promise.all(closing) // both settle without advancing the clock
  assert.is(world.clock.pending(), 0)
})

test('close lets an in-flight stream finish', async () => {
  const world = await openWorld({ fetch: fakeUpstream(() => sse(chatEvents())) })
  const response = await world.chat({ stream: true })
  const closing = world.gateway.close()
  assert.is(await response.text(), chatEvents().join(''))
  await closing
  assert.is(world.recorded.requests[0]?.status, 200)
})

for (const stream of [false, true]) {
  test(`after the grace period, a request without a response gets a 503 and its call is aborted${stream ? ', streamed' : ''}`, async () => {
    const upstream = fakeUpstream(never)
    const world = await openWorld({ fetch: upstream, combos: { chain: ['one/m', 'two/m'] } })
    const pending = world.chat({ model: 'chain', stream })
    await waitForCalls(world, upstream)
    const closing = world.gateway.close({ graceMs: 500 })
    await world.clock.advance(499)
    assert.is(upstream.open, 1)
    await world.clock.advance(1)
    const response = await pending
    assert.is(response.status, 503)
    assert.is(((await response.json()) as ErrorAnswer).error.code, 'closed')
    await closing
    assert.is(upstream.open, 0)
    assert.is(upstream.calls.length, 1, 'no other target is tried')
    assert.is(world.recorded.requests[0]?.status, 503)
    assert.is(world.clock.pending(), 0)
  })
}

for (const reading of ['waits for the next event', 'is busy']) {
  test(`after the grace period, a stream ends with an error while its client ${reading}`, async () => {
    const upstream = fakeUpstream(() => sse(chatEvents().slice(0, 3), 'hang'))
    const world = await openWorld({ fetch: upstream })
    const response = await world.chat({ stream: true })
    const reader = response.body?.getReader()
    const read = async () => new TextDecoder().decode((await reader?.read())?.value)
    await read()
    if (reading === 'waits for the next event') await read()
    const waiting = reading === 'waits for the next event' ? read() : undefined
    const closing = world.gateway.close({ graceMs: 100 })
    await world.clock.advance(100)
    await closing
    assert.is(upstream.open, 0)
    const last = await (waiting ?? read())
    assert.match(last, /^data: \{"error":\{"message":"The gateway is shutting down\."/)
    assert.is((await reader?.read())?.done, true, 'nothing follows the error')
    assert.is(world.recorded.requests[0]?.status, 503)
    assert.is(world.clock.pending(), 0)
  })
}

test('a request that arrives in the same event loop turn as close gets a 503', async () => {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ fetch: upstream })
  const pending = world.chat({})
  await world.gateway.close({ graceMs: 0 })
  assert.is((await pending).status, 503)
  assert.is(upstream.calls.length, 0)
})

test("close doesn't wait beyond the grace period for a request body that hasn't arrived", async () => {
  const world = await openWorld()
  const body = getBody(['{"model":'], 'hang')
  const init = { method: 'POST', body, duplex: 'half' } as RequestInit
  const pending = world.gateway.fetch(new Request('http://gateway/v1/chat/completions', init))
  await world.clock.advance(0)
  const closing = world.gateway.close({ graceMs: 100 })
  await world.clock.advance(100)
  assert.is((await pending).status, 503)
  await closing
})

test('close waits for hooks to finish, including hooks of requests that it terminated', async () => {
  let started = 0
  let ended = 0
  const action = async () => {
    started++
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 0))
    ended++
  }
  const upstream = fakeUpstream((_, index) => (index === 1 ? json(chatResponse()) : never()))
  const world = await openWorld({ fetch: upstream, hooks: { onRequest: action, onUsage: action } })
  await world.chat({})
  void world.chat({})
  await waitForCalls(world, upstream, 2)
  while (ended < 2) await world.clock.advance(0)
  const closing = world.gateway.close({ graceMs: 10 })
  await world.clock.advance(10)
  await closing
  assert.equal([started, ended], [3, 3]) // two requests and one usage record
})

test('close waits at most ten seconds for a hook that never finishes', async () => {
  const world = await openWorld({ fetch: fakeUpstream(() => json(chatResponse())), hooks: { onRequest: never } })
  await world.chat({})
  let isClosed = false
  const closing = world.gateway.close().then(() => {
    isClosed = true
  })
  await world.clock.advance(9_999)
  assert.not(isClosed)
  await world.clock.advance(1)
  await closing
  assert.is(world.clock.pending(), 0)
})

test('close with no grace period ends an unread stream, translated or not', async () => {
  for (const model of ['one/m', 'claude/c']) {
    const upstream = fakeUpstream(({ provider }) =>
      sse((provider === 'one' ? chatEvents() : messageEvents()).slice(0, 4), 'hang'),
    )
    const world = await openWorld({ fetch: upstream })
    const reader = (await world.chat({ model, stream: true })).body?.getReader()
    await reader?.read()
    await world.gateway.close({ graceMs: 0 }) // the clock doesn't advance
    assert.equal(
      [upstream.open, world.recorded.requests.map(({ status, end }) => `${status} ${end}`)],
      [0, ['503 cut']],
      model,
    )
    let text = ''
    for (let part = await reader?.read(); part?.value; part = await reader?.read())
      text += new TextDecoder().decode(part.value)
    assert.match(text, 'shutting down')
    assert.is(world.recorded.requests.length, 1)
  }
})
