import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse } from './support/responses.ts'
import { getText, limits } from './support/timeouts.ts'
import { fakeUpstream, json, never, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('client timeouts')

test('x-signalbox-timeout-ms limits the total time of all attempts, and aborts the call in progress', async () => {
  for (const stream of [false, true]) {
    const clock = fakeClock()
    const upstream = fakeUpstream(never)
    const world = await openWorld({ fetch: upstream, limits, clock, combos: { chain: ['one/m', 'two/m'] } })
    let response: Response | undefined
    const pending = world
      .chat({ model: 'chain', stream }, { headers: { 'x-signalbox-timeout-ms': '1500' } })
      .then((reply) => {
        response = reply
      })
    await clock.untilPending(stream ? 3 : 2)
    await clock.advance(1_000) // the first target has used up its own time limit
    while (upstream.calls.length < 2) await clock.advance(0)
    await clock.advance(499)
    assert.is(response, undefined)
    await clock.advance(1)
    await pending
    assert.is(
      await getText(response),
      '504 No response within the 1500 ms that "x-signalbox-timeout-ms" allows. Raise it or try another model. one/m: The provider "one" did not respond within 1 s. two/m: No response yet.',
    )
    assert.is(
      response?.headers.get('x-signalbox-attempts'),
      'one/m=504:timeout;via=chain:fallback, two/m=504:cancelled',
    )
    assert.is(response?.headers.get('x-should-retry'), 'false')
    assert.is(upstream.calls[1]?.signal.aborted, true)
    assert.is(clock.pending(), 0)
    assert.equal(
      (await world.api.health.list()).health.map(({ connectionId, reason }) => [!!connectionId, reason]),
      [
        [true, 'timeout'],
        [false, 'timeout'],
      ],
      "only the first target's own timeout counts against its health",
    )
  }
})

for (const [label, model, output] of [
  ['nothing has arrived after the headers', 'one/m', []],
  ['only a role has arrived after the headers', 'one/m', chatEvents().slice(0, 1)],
  ['nothing has arrived after the headers of a stream to be translated', 'claude/c', []],
] as const) {
  test(`x-signalbox-timeout-ms applies while ${label}`, async () => {
    const clock = fakeClock()
    const upstream = fakeUpstream(() => sse(output, 'hang'))
    const world = await openWorld({ fetch: upstream, clock })
    let response: Response | undefined
    const body = { model, stream: true, messages: [{ role: 'user', content: 'Hi' }] }
    const pending = world.chat(body, { headers: { 'x-signalbox-timeout-ms': '700' } }).then((reply) => {
      response = reply
    })
    while (upstream.calls.length === 0) await clock.advance(0)
    await clock.advance(699)
    assert.is(response, undefined)
    await clock.advance(1)
    await pending
    assert.match(await getText(response), /^504 No response within the 700 ms .* No response yet\.$/)
    assert.is(response?.headers.get('x-signalbox-attempts'), `${model}=504:cancelled`)
    assert.is(upstream.open, 0)
    assert.is(clock.pending(), 0)
    assert.equal((await world.api.health.list()).health, [], "the provider isn't at fault")
  })
}

test("x-signalbox-timeout-ms doesn't cut off a timely response, or a stream that has started", async () => {
  const clock = fakeClock()
  const upstream = fakeUpstream(({ body }) => (JSON.parse(body).stream ? sse(chatEvents()) : json(chatResponse())))
  const world = await openWorld({ fetch: upstream, limits, clock })
  for (const stream of [false, true]) {
    const response = await world.chat({ stream }, { headers: { 'x-signalbox-timeout-ms': '100' } })
    await clock.advance(150)
    assert.match(await response.text(), stream ? /\[DONE\]/ : /choices/)
  }
  assert.is(clock.pending(), 0)
})

test('the x-signalbox-timeout-ms timer stops when the response is complete or a stream has started', async () => {
  const clock = fakeClock()
  const upstream = fakeUpstream(({ body }) => (JSON.parse(body).stream ? sse(chatEvents()) : json(chatResponse())))
  const world = await openWorld({ fetch: upstream, limits, clock })
  for (const stream of [false, true]) {
    const response = await world.chat({ stream }, { headers: { 'x-signalbox-timeout-ms': '100' } })
    await response.text()
    assert.is(clock.pending(), 0)
  }
})

test('an invalid number of milliseconds in x-signalbox-timeout-ms returns a 400', async () => {
  const upstream = fakeUpstream(() => json(chatResponse()))
  const world = await openWorld({ fetch: upstream })
  for (const value of ['0', '-1', '1.5', '1e3', '10s', 'soon', '86400001', '99999999999999999999']) {
    const response = await world.chat({}, { headers: { 'x-signalbox-timeout-ms': value } })
    assert.is(
      await getText(response),
      '400 The header "x-signalbox-timeout-ms" must be a whole number of milliseconds from 1 to 86400000.',
    )
  }
  assert.is(upstream.calls.length, 0)
  assert.is((await world.chat({}, { headers: { 'x-signalbox-timeout-ms': ' 86400000 ' } })).status, 200)
})
