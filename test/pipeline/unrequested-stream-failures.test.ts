import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { chatChunk, chatEvents, type ErrorAnswer, messageEvents } from './support/responses.ts'
import { getText, limits } from './support/timeouts.ts'
import { chain, getAttempts, messages, openChain, typed } from './support/unrequested-streams.ts'
import { fakeUpstream, slowly, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('failures of unrequested streams')

const formatAttempts = (attempt: string) => `one/m=${attempt};via=chain:fallback, two/m=200`

test('an unrequested stream that is cut off falls back to the next target', async () => {
  const events = chatEvents('Hello there')
  for (const end of ['close', 'error'] as const)
    for (let count = 0; count < events.length - 3; count++) {
      const { send } = await openChain(() => sse(events.slice(0, count), end))
      const response = await send()
      const attempt = getAttempts(response) ?? ''
      assert.ok(
        [formatAttempts('502:network'), formatAttempts('200:content')].includes(attempt),
        `${count} ${end}: ${attempt}`,
      )
      assert.is((await response.json()).choices[0].message.content, 'spare')
    }
})

test('an unrequested stream that is cut off after it has started is reported as interrupted', async () => {
  const { send } = await openChain(() => sse(chatEvents().slice(0, 3)))
  const response = await send({ model: 'one/m' })
  assert.is(await getText(response), '502 The provider "one" ended the stream before the response was complete.')
})

test('an unrequested stream without content falls back to the next target', async () => {
  const { send } = await openChain(() => sse([': wait\n\n', 'data: [DONE]\n\n']))
  assert.is(getAttempts(await send()), formatAttempts('200:content'))
})

test('an unrequested stream with an error at its start or in the middle counts as the reported failure', async () => {
  const error = `data: ${JSON.stringify({ error: { message: 'Slow down, secret-of-one', code: 429 } })}\n\n`
  for (const before of [[], chatEvents().slice(0, 3)]) {
    const { upstream, world, send } = await openChain(() => sse([...before, error, ...chatEvents()], 'hang'))
    assert.is(getAttempts(await send()), formatAttempts('429:rate-limit'))
    assert.is(upstream.open, 0)
    await world.api.health.reset()
    const alone = await send({ model: 'one/m' })
    const { error: recorded }: ErrorAnswer = await alone.json()
    assert.equal([alone.status, recorded.message], [429, 'Slow down, [credential]'])
  }
})

test("an error in an unrequested stream is reported in the client's format", async () => {
  const overloaded =
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
  const upstream = fakeUpstream(() => sse([...messageEvents().slice(0, 4), overloaded]))
  const world = await openWorld({ fetch: upstream })
  const response = await world.chat({ model: 'claude/c', messages })
  assert.is(await getText(response), '503 Overloaded')
})

test('an empty unrequested stream falls back to the next target, and reaches the client if all are empty', async () => {
  const ending = [chatChunk({ role: 'assistant', content: '' }), chatChunk({}, 'stop'), 'data: [DONE]\n\n']
  const { send } = await openChain(() => sse(ending))
  assert.is(getAttempts(await send()), formatAttempts('200:content'))
  const all = await openWorld({ fetch: fakeUpstream(() => sse(ending)), combos: { chain } })
  const last = await all.chat({ model: 'chain', messages })
  assert.equal([last.status, getAttempts(last)], [200, 'one/m=200:content;via=chain:fallback, two/m=200:content'])
  const { choices } = await last.json()
  assert.equal([choices[0].message.content, choices[0].finish_reason], [null, 'stop'])
  const translated = await (await all.messages({ model: 'chain', messages })).json()
  assert.equal([translated.type, translated.stop_reason], ['message', 'end_turn'])
})

test('the size limit of non-streaming responses applies to an unrequested stream', async () => {
  const words = Array.from({ length: 200 }, () => chatChunk({ content: 'x'.repeat(1_000) }))
  for (const type of ['text/event-stream', 'application/json']) {
    const { upstream, world, send } = await openChain(() => typed(type, words, 'hang'), {
      limits: { maxResponseBytes: 100_000 },
    })
    assert.is(getAttempts(await send()), formatAttempts('200:content'))
    assert.match(world.recorded.attempts[0]?.message ?? '', /larger than 100000 bytes/)
    assert.ok(upstream.pulled < 110_000)
    assert.is(upstream.open, 0)
  }
})

test('the idle and total timeouts of non-streaming responses apply to an unrequested stream', async () => {
  const events = [...chatEvents().slice(0, 2), ...Array.from({ length: 40 }, () => chatChunk({ content: 'on ' }))]
  for (const [everyMs, attempt, message] of [
    [201, '504:timeout', 'The provider sent nothing for 0.2 s.'],
    [150, '504:timeout', 'The provider did not finish its response within 3 s.'],
  ] as const) {
    const clock = fakeClock()
    const { upstream, world, send } = await openChain(() => sse(slowly(clock, events, everyMs)), { clock, limits })
    const pending = send()
    while (upstream.calls.length < 2) await clock.advance(10)
    assert.is(getAttempts(await pending), formatAttempts(attempt))
    assert.match(world.recorded.attempts[0]?.message ?? '', message.replace('The provider', 'The provider "one"'))
    assert.is(upstream.open, 0)
  }
})

test('an unrequested stream ends immediately when the client disconnects', async () => {
  const { upstream, world, send } = await openChain(() => sse(chatEvents().slice(0, 3), 'hang'))
  const controller = new AbortController()
  const pending = send({}, { signal: controller.signal })
  while (upstream.pulled === 0) await world.clock.advance(0)
  controller.abort()
  assert.is((await pending).status, 499)
  assert.equal([upstream.open, upstream.calls.length], [0, 1])
})
