import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { chatChunk, chatEvents, chatResponse, messageEvents, ping } from './support/responses.ts'
import { fakeUpstream, getBody, slowly, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('the time to first content')

const limits = { headersTimeoutMs: 1_000, idleTimeoutMs: 200, totalTimeoutMs: 30_000 }

/** Opens a combo with a first target that sends another event every 100 ms. Resolves to the state of a request after this many ms. */
async function after(ms: number, respond: (clock: ReturnType<typeof fakeClock>) => Response, models: string[]) {
  const clock = fakeClock()
  const isMessages = models[1]?.startsWith('claude')
  const upstream = fakeUpstream((_, index) =>
    index === 1 ? respond(clock) : sse((isMessages ? messageEvents : chatEvents)('the spare')),
  )
  const world = await openWorld({ fetch: upstream, clock, limits, combos: { chain: models } })
  let response: Response | undefined
  const messages = [{ role: 'user', content: 'Hi' }]
  const requested = world.chat({ model: 'chain', messages, stream: true }).then((reply) => {
    response = reply
  })
  while (upstream.calls.length === 0) await clock.advance(0)
  await clock.advance(ms)
  return { upstream, world, clock, requested, respond: () => response }
}

const endless = (line: string) => Array.from({ length: 1_000 }, () => line)

for (const [label, line] of [
  ['comments', ': still here\n\n'],
  ['blank lines', '\n'],
  ['chunks with only the role', chatChunk({ role: 'assistant', content: '' })],
] as const) {
  test(`${label} don't count as the first content before the headers timeout`, async () => {
    const dripEvents = (clock: ReturnType<typeof fakeClock>) => sse(slowly(clock, endless(line), 100))
    const { upstream, clock, requested, respond } = await after(999, dripEvents, ['one/m', 'two/m'])
    assert.equal(upstream.providers, ['one'])
    await clock.advance(1)
    await requested
    assert.is(respond()?.headers.get('x-signalbox-attempts'), 'one/m=504:timeout;via=chain:fallback, two/m=200')
    assert.match((await respond()?.text()) ?? '', /the/)
    assert.is(clock.pending(), 0)
    assert.is(upstream.open, 0)
  })
}

test("pings don't count as the first content of a translated stream", async () => {
  const dripEvents = (clock: ReturnType<typeof fakeClock>) => sse(slowly(clock, endless(ping), 100))
  const { clock, requested, respond, world } = await after(1_000, dripEvents, ['claude/c', 'one/m'])
  await requested
  assert.is(respond()?.headers.get('x-signalbox-target'), 'one/m')
  assert.is(world.recorded.attempts[0]?.message, 'The provider "claude" did not respond within 1 s.')
  await respond()?.text()
  assert.is(clock.pending(), 0)
})

test("the total timeout doesn't apply to a stream that started in time", async () => {
  const dripEvents = (clock: ReturnType<typeof fakeClock>) => sse(slowly(clock, chatEvents('so '.repeat(50)), 150))
  const { clock, requested, respond } = await after(900, dripEvents, ['one/m', 'two/m'])
  await requested
  const text = respond()?.text()
  await clock.advance(10_000)
  assert.match((await text) ?? '', /\[DONE\]\n\n$/)
  assert.is(clock.pending(), 0)
})

test("a provider that ignores `stream: true` isn't held to the first-content timeout", async () => {
  const body = [...endless(' ').slice(0, 20), JSON.stringify(chatResponse())]
  const dripEvents = (clock: ReturnType<typeof fakeClock>) =>
    new Response(getBody(slowly(clock, body, 100)), { headers: { 'content-type': 'application/json' } })
  const { requested, respond } = await after(3_000, dripEvents, ['one/m', 'two/m'])
  await requested
  assert.is(respond()?.headers.get('x-signalbox-target'), 'one/m')
})
