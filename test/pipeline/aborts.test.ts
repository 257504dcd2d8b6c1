import { memoryStorage } from '../../adapters/storage/memory.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse, messageEvents } from './support/responses.ts'
import { fakeUpstream, getBody, json, never, type Respond, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('clients that disconnect')

const combos = { chain: ['one/m', 'two/m', 'three/m'], talk: ['claude/c', 'claude/d'] }

async function openAborting(respond: Respond) {
  const upstream = fakeUpstream(respond)
  const world = await openWorld({ fetch: upstream, combos })
  const controller = new AbortController()
  const waitForCall = async () => {
    while (upstream.calls.length === 0) await world.clock.advance(0)
    await world.clock.advance(0)
  }
  return { upstream, world, controller, init: { signal: controller.signal }, called: waitForCall }
}

const routes = {
  chat: ['/v1/chat/completions', { model: 'chain', messages: [] }],
  'chat stream': ['/v1/chat/completions', { model: 'chain', stream: true, messages: [] }],
  messages: ['/v1/messages', { model: 'talk', messages: [] }],
  'messages stream': ['/v1/messages', { model: 'talk', stream: true, messages: [] }],
  count_tokens: ['/v1/messages/count_tokens', { model: 'talk', messages: [] }],
} as const

const phases: Record<string, Respond> = {
  'before the headers': never,
  'mid-body': () => new Response(getBody(['{"id":'], 'hang'), { headers: { 'content-type': 'application/json' } }),
  'during an error body': () => new Response(getBody(['{"error":'], 'hang'), { status: 500 }),
  'before the first event': () => sse([': hello\n\n'], 'hang'),
}

for (const [route, [path, body]] of Object.entries(routes)) {
  for (const [phase, respond] of Object.entries(phases)) {
    test(`a client that disconnects ${phase} aborts the only provider call (${route})`, async () => {
      const { upstream, world, controller, init, called } = await openAborting(respond)
      const pending = world.post(path, body, init)
      await called()
      assert.is(upstream.open, 1)
      controller.abort()
      assert.is(upstream.calls[0]?.signal.aborted, true, 'immediately')
      assert.is(upstream.open, 0)
      const response = await pending
      assert.is(response.status, 499)
      assert.is(upstream.calls.length, 1)
      assert.equal(
        world.recorded.requests.map(({ status }) => status),
        [499],
      )
      assert.equal(
        world.recorded.attempts.map(({ outcome, status }) => `${outcome} ${status}`),
        ['cancelled 499'],
      )
      assert.equal(world.recorded.errors, [])
      assert.is(world.clock.pending(), 0)
    })
  }
}

const streams = {
  chat: ['/v1/chat/completions', { model: 'chain', stream: true, messages: [] }, chatEvents().slice(0, 3)],
  messages: ['/v1/messages', { model: 'talk', stream: true, messages: [] }, messageEvents().slice(0, 5)],
} as const

for (const [name, [path, body, events]] of Object.entries(streams)) {
  for (const way of ['abort signal', 'reader cancel']) {
    test(`a client that disconnects mid-stream aborts the provider call (${way}, ${name})`, async () => {
      const { upstream, world, controller, init } = await openAborting(() => sse(events, 'hang'))
      const response = await world.post(path, body, init)
      const reader = response.body?.getReader()
      await reader?.read()
      const reading = reader?.read()
      await world.clock.advance(0)
      if (way === 'abort signal') controller.abort()
      else await reader?.cancel('enough')
      assert.is(upstream.calls[0]?.signal.aborted, true)
      assert.is(upstream.open, 0)
      await reading?.catch(() => {})
      assert.is(upstream.calls.length, 1)
      assert.equal(
        world.recorded.requests.map(({ status }) => status),
        [499],
      )
      assert.is(world.recorded.usages.length, 1)
      assert.is(world.clock.pending(), 0)
    })
  }
}

test('an unread stream ends when the client disconnects', async () => {
  const { upstream, world, controller, init } = await openAborting(() => sse(chatEvents(), 'hang'))
  await world.chat({ stream: true }, init)
  await world.clock.advance(3_600_000)
  assert.is(upstream.open, 1)
  controller.abort()
  assert.is(upstream.open, 0)
  assert.is(world.recorded.requests[0]?.status, 499)
  assert.is(world.clock.pending(), 0)
})

test('a request with an already aborted signal causes no provider call', async () => {
  const { upstream, world, controller, init } = await openAborting(() => json(chatResponse()))
  const request = new Request('http://gateway/v1/chat/completions', {
    ...init,
    method: 'POST',
    body: '{"model":"one/m"}',
  })
  controller.abort()
  assert.is((await world.gateway.fetch(request)).status, 499)
  assert.is(upstream.calls.length, 0)
})

test('a client that disconnects while the storage is slow causes no provider call', async () => {
  const { watch: _, ...storage } = memoryStorage()
  const { list } = storage
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ fetch: upstream, storage })
  let release: () => void = () => {}
  const slow = new Promise<void>((resolve) => {
    release = resolve
  })
  storage.list = (...query) => slow.then(() => list(...query))
  await world.clock.advance(1_000)
  const controller = new AbortController()
  const pending = world.chat({}, { signal: controller.signal })
  await world.clock.advance(0)
  controller.abort()
  release()
  assert.is((await pending).status, 499)
  assert.is(upstream.calls.length, 0)
  assert.equal(world.recorded.attempts, [])
})

test("a fetch that ignores its abort signal doesn't delay the request, and its late response is canceled", async () => {
  let resolveResponse: (response: Response) => void = () => {}
  let canceled = false
  const late = new ReadableStream({
    cancel() {
      canceled = true
    },
  })
  const clock = fakeClock()
  let calls = 0
  const fetch = () => {
    calls++
    return new Promise<Response>((resolve) => {
      resolveResponse = resolve
    })
  }
  const world = await openWorld({ fetch, clock })
  const abortController = new AbortController()
  const pending = world.chat({}, { signal: abortController.signal })
  while (calls === 0) await clock.advance(0)
  abortController.abort()
  assert.is((await pending).status, 499)
  resolveResponse(new Response(late))
  await clock.advance(0)
  assert.is(canceled, true)

  let source: string | undefined
  const stream = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(chatEvents().slice(0, 2).join(''))),
    cancel: (reason) => {
      source = String(reason)
    },
  })
  const streaming = world.chat({ stream: true })
  while (calls === 1) await clock.advance(0)
  resolveResponse(new Response(stream))
  await (await streaming).body?.cancel()
  assert.ok(source, 'an unread body is canceled too')
})

test('no call is left open after 1,000 clients have disconnected at random times', async () => {
  const waits = [never, ...Object.values(phases), () => sse(chatEvents().slice(0, 3), 'hang')]
  const upstream = fakeUpstream((call, index) => (waits[index % waits.length] ?? never)(call, index))
  const world = await openWorld({ fetch: upstream, combos })
  const first = new AbortController()
  const started = world.chat({}, { signal: first.signal }) // loads the settings and credentials into the cache
  while (upstream.calls.length === 0) await new Promise(setImmediate)
  first.abort()
  await started
  const all = Object.values(routes)
  const clients = Array.from({ length: 1_000 }, async (_, index) => {
    const [path, body] = all[index % all.length] ?? routes.chat
    const controller = new AbortController()
    const pending = world.post(path, body, { signal: controller.signal })
    for (let turn = index % 7; turn > 0; turn--) await new Promise(setImmediate)
    if (index % 7 === 6) void pending.then((response) => response.text()).catch(() => {})
    for (let turn = index % 5; turn > 0; turn--) await new Promise(setImmediate)
    controller.abort()
    await pending
  })
  await Promise.all(clients)
  await world.clock.advance(0)
  assert.is(upstream.open, 0)
  assert.is(world.recorded.requests.length, 1_001)
  assert.ok(world.recorded.requests.every(({ status }) => status === 499))
  assert.is(world.clock.pending(), 0)
  assert.ok(upstream.calls.length > 300, 'many requests reached a provider')
})
