import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, getBody, json, slowly } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('error bodies')

const combos = { chain: ['one/m', 'two/m'] }

test('a slow error body is cut off after five seconds, and the part that has arrived is used', async () => {
  const clock = fakeClock()
  const blanks = Array.from({ length: 1_000 }, () => ' ')
  const dripError = () =>
    new Response(getBody(slowly(clock, ['{"error":{"message":"x"}}', ...blanks], 100)), { status: 503 })
  const upstream = fakeUpstream((_, index) => (index === 1 ? dripError() : json(chatResponse())))
  const world = await openWorld({ fetch: upstream, clock, limits: { idleTimeoutMs: 200 }, combos })
  const pending = world.chat({ model: 'chain' })
  while (upstream.calls.length === 0) await clock.advance(0)
  await clock.advance(4_999)
  assert.equal(upstream.providers, ['one'])
  await clock.advance(1)
  assert.is((await pending).headers.get('x-signalbox-target'), 'two/m')
  assert.is(world.recorded.attempts[0]?.message, 'x', 'the part that has arrived is read')
  assert.is(clock.pending(), 0)
  assert.is(upstream.open, 0)
})

test('at most 64 kB of a large error body is read', async () => {
  const content = `maximum context length is 8000 tokens. You said: ${'x'.repeat(10_000)}`
  const upstream = fakeUpstream((_, index) =>
    index === 1
      ? new Response(getBody(Array.from({ length: 100 }, () => content)), { status: 400 })
      : json(chatResponse()),
  )
  const world = await openWorld({ fetch: upstream, combos })
  const response = await world.chat({ model: 'chain' })
  assert.is(response.status, 400)
  assert.is(world.recorded.attempts[0]?.outcome, 'context-overflow')
  assert.ok(upstream.pulled < 80_000, `${upstream.pulled} bytes`)
  assert.is(upstream.open, 0)
})

for (const body of ['{}', '[]', 'null', '""']) {
  test(`an error body without a message (${body}) is reported with its status`, async () => {
    for (const request of ['chat', 'messages'] as const) {
      for (const model of ['one/m', 'claude/c']) {
        const world = await openWorld({ fetch: fakeUpstream(() => json(body, 400)) })
        const response = await world[request]({ model })
        assert.is(response.status, 400)
        assert.match((await response.json()).error.message, /^The provider (".+" )?returned status 400\.$/)
      }
    }
  })
}
