import { type FakeClock, fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse } from './support/responses.ts'
import { getText, limits } from './support/timeouts.ts'
import { fakeUpstream, getBody, json, never, slowly, sse } from './support/upstream.ts'
import { openWorld, type WorldOptions } from './support/world.ts'

const test = suite('timeouts')

/**
 * Opens a gateway with a provider that sends this response, sends it a request, and returns the pending request and a function that returns its
 * response.
 */
async function createRequest(
  first: (clock: FakeClock) => Response | Promise<Response>,
  body: object,
  options: WorldOptions = {},
) {
  const clock = fakeClock()
  const upstream = fakeUpstream((_, index) => (index === 1 ? first(clock) : json(chatResponse())))
  const world = await openWorld({ fetch: upstream, limits, clock, ...options })
  let response: Response | undefined
  const requested = world.chat(body).then((reply) => {
    response = reply
  })
  while (upstream.calls.length === 0) await clock.advance(0)
  await clock.advance(0) // lets the first chunks through
  return { upstream, world, requested, respond: () => response }
}

test('the headers timeout fails the attempt exactly at the limit', async () => {
  for (const stream of [false, true]) {
    const { upstream, world, respond } = await createRequest(never, { stream })
    await world.clock.advance(999)
    assert.is(respond(), undefined)
    assert.is(upstream.calls[0]?.signal.aborted, false)
    await world.clock.advance(1)
    assert.is(await getText(respond()), '504 The provider "one" did not respond within 1 s.')
    assert.is(upstream.calls[0]?.signal.aborted, true)
    assert.is(world.recorded.requests[0]?.durationMs, 1_000)
    assert.is(world.clock.pending(), 0)
  }
})

const late = (code: string) => new TypeError('terminated', { cause: Object.assign(new Error('late'), { code }) })

for (const [label, location, error] of [
  ['headers (undici)', 'headers', late('UND_ERR_HEADERS_TIMEOUT')],
  ['bodies (undici)', 'body', late('UND_ERR_BODY_TIMEOUT')],
  ['entire calls (a signal)', 'headers', new DOMException('The operation timed out.', 'TimeoutError')],
  ['entire calls (a signal, mid-body)', 'body', new DOMException('The operation timed out.', 'TimeoutError')],
] as const)
  test(`the HTTP client's timeout for ${label} counts against the model but not the connection`, async () => {
    const cut = new ReadableStream({ start: (controller) => controller.error(error) })
    const first = () => (location === 'body' ? new Response(cut) : Promise.reject(error))
    const { world, respond, requested } = await createRequest(first, {})
    await requested
    assert.is(await getText(respond()), `504 The provider "one" took longer than the gateway's HTTP client allows.`)
    const { health } = await world.api.health.list()
    assert.equal(
      health.map(({ level, reason }) => `${level} ${reason}`),
      ['model timeout', 'provider timeout'],
    )
  })

test('a timeout longer than the maximum timer duration never expires', async () => {
  const none = { headersTimeoutMs: Number.POSITIVE_INFINITY, idleTimeoutMs: 2 ** 40, totalTimeoutMs: 2 ** 31 }
  const { world, respond } = await createRequest(never, {}, { limits: none })
  assert.is(world.clock.pending(), 0)
  await world.clock.advance(2 ** 32)
  assert.is(respond(), undefined)
})

test('a headers timeout causes a fallback to the next target', async () => {
  const { upstream, world, requested, respond } = await createRequest(
    never,
    { model: 'chain' },
    { combos: { chain: ['one/m', 'two/m'] } },
  )
  await world.clock.advance(1_000)
  await requested
  assert.is(respond()?.status, 200)
  assert.equal(upstream.providers, ['one', 'two'])
  assert.is(respond()?.headers.get('x-signalbox-attempts'), 'one/m=504:timeout;via=chain:fallback, two/m=200')
})

test('the idle timeout of a non-streaming response restarts with each chunk', async () => {
  const parts = ['{"id":"c1",', '"choices":', '[]}']
  const { upstream, world, respond } = await createRequest(
    (clock) => new Response(getBody(slowly(clock, parts, 199), 'hang')),
    {},
  )
  await world.clock.advance(199 * 3 + 199)
  assert.is(respond(), undefined)
  await world.clock.advance(1)
  assert.is(await getText(respond()), '504 The provider "one" sent nothing for 0.2 s.')
  assert.is(upstream.open, 0)
  assert.is(world.clock.pending(), 0)
})

test("an idle timeout before a stream's first content causes a fallback to the next target", async () => {
  const { upstream, world, requested, respond } = await createRequest(
    () => sse(chatEvents().slice(0, 1), 'hang'),
    { model: 'chain', stream: true },
    { combos: { chain: ['one/m', 'two/m'] } },
  )
  await world.clock.advance(199)
  assert.is(respond(), undefined)
  await world.clock.advance(1)
  await requested
  assert.is(respond()?.status, 200)
  assert.equal(upstream.providers, ['one', 'two'])
})

test('the idle timeout ends a stream with an error exactly at the limit', async () => {
  const { upstream, world, requested, respond } = await createRequest(() => sse(chatEvents().slice(0, 3), 'hang'), {
    stream: true,
  })
  await requested
  const reader = respond()?.body?.getReader()
  const read = async () => new TextDecoder().decode((await reader?.read())?.value)
  const first = await read()
  assert.match(first, /Hello/)
  await read()
  let last: string | undefined
  const reading = read().then((text) => {
    last = text
  })
  await world.clock.advance(199)
  assert.is(last, undefined)
  await world.clock.advance(1)
  await reading
  assert.is(
    last,
    'data: {"error":{"message":"The provider sent nothing for 0.2 s.","type":"server_error","param":null,"code":"upstream_timeout"}}\n\n',
  )
  assert.is((await reader?.read())?.done, true)
  assert.is(upstream.open, 0)
  assert.is(world.recorded.requests[0]?.status, 504)
  assert.is(world.clock.pending(), 0)
})

test("a slow-reading client doesn't trigger the idle timeout", async () => {
  const { world, requested, respond } = await createRequest(() => sse(chatEvents()), { stream: true })
  await requested
  const reader = respond()?.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    text += decoder.decode(part.value)
    await world.clock.advance(60_000)
  }
  assert.is(text, chatEvents().join(''))
  assert.is(world.recorded.requests[0]?.status, 200)
})

test("an error body that never arrives doesn't hide the status", async () => {
  const { world, respond } = await createRequest(
    () => new Response(getBody(['{"error":'], 'hang'), { status: 422 }),
    {},
  )
  await world.clock.advance(200)
  assert.is(respond()?.status, 422)
  assert.is(world.clock.pending(), 0)
})

const blanks = Array.from({ length: 100 }, () => ' ')
for (const stream of [false, true]) {
  test(`the total timeout limits a response that arrives slowly, ${stream ? 'even if a stream was requested' : 'from the start of the attempt'}`, async () => {
    const { upstream, world, respond } = await createRequest(
      (clock) => new Response(getBody(slowly(clock, blanks, 100)), { headers: { 'content-type': 'application/json' } }),
      { stream },
    )
    await world.clock.advance(2_999)
    assert.is(respond(), undefined)
    await world.clock.advance(1)
    assert.is(await getText(respond()), '504 The provider "one" did not finish its response within 3 s.')
    assert.is(upstream.open, 0)
    assert.is(world.clock.pending(), 0)
  })
}

test('the total timeout includes the time before the headers', async () => {
  const { world, respond } = await createRequest(
    never,
    {},
    { limits: { headersTimeoutMs: 1_000, totalTimeoutMs: 500 } },
  )
  await world.clock.advance(499)
  assert.is(respond(), undefined)
  await world.clock.advance(1)
  assert.is(respond()?.status, 504)
})

test("the total timeout doesn't apply to streams", async () => {
  const { world, requested, respond } = await createRequest(
    (clock) => sse(slowly(clock, chatEvents('so '.repeat(50)), 150)),
    {
      stream: true,
    },
  )
  let text: string | undefined
  await world.clock.advance(1_000)
  await requested
  void respond()
    ?.text()
    .then((all) => {
      text = all
    })
  await world.clock.advance(10_000)
  assert.match(text ?? '', /\[DONE\]\n\n$/)
  assert.is(world.recorded.requests[0]?.status, 200)
})
