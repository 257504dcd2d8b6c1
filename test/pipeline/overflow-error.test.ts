import { assert, suite } from '../support/suite.ts'
import { fault } from './support/fault.ts'
import type { ErrorAnswer } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { catalog, openWorld } from './support/world.ts'

const test = suite('the error for a prompt that is too long')

const sized = (contextWindows: Record<string, number>) =>
  Object.fromEntries(
    Object.entries(contextWindows).map(([provider, contextWindow]) => [
      provider,
      { ...catalog[provider], models: [{ id: 'm', contextWindow }] },
    ]),
  )

const tooLong = { message: 'maximum context length is 8000 tokens', code: 'context_length_exceeded', param: 'messages' }

test("a too-long prompt's error keeps its message and code, and adds the other targets' failures", async () => {
  for (const [responses, attempts, others] of [
    [
      { one: () => json({ error: tooLong }, 400), two: fault(503, 'two rests', { 'retry-after': '7' }) },
      'one/m=400:context-overflow;via=pair:fallback, two/m=503:server',
      'two/m: two rests.',
    ],
    [
      { one: fault(503, 'one rests', { 'retry-after': '7' }), two: () => json({ error: tooLong }, 400) },
      'one/m=503:server;via=pair:fallback, two/m=400:context-overflow',
      'one/m: one rests.',
    ],
  ] as const) {
    const upstream = fakeUpstream(
      ({ provider }) => Object.entries(responses).find(([name]) => name === provider)?.[1]() ?? json({}),
    )
    const world = await openWorld({
      fetch: upstream,
      catalog: sized({ one: 8_000, two: 200_000 }),
      connections: ['one', 'two'],
      combos: { pair: ['one/m', 'two/m'] },
    })
    const response = await world.chat({ model: 'pair' })
    assert.is(response.status, 400)
    assert.is(response.headers.get('x-signalbox-attempts'), attempts)
    assert.is(response.headers.get('retry-after'), '7')
    assert.equal(await response.json(), {
      error: { ...tooLong, message: `${tooLong.message}. All other targets failed. ${others}` },
    })
    await world.api.health.reset()
    const messages = await world.messages({ model: 'pair', messages: [{ role: 'user', content: 'Hi' }] })
    assert.is(messages.status, 400)
    const { error }: ErrorAnswer = await messages.json()
    assert.match(error.message, /^prompt is too long: .* All other targets failed\. /)
    assert.ok(error.message.endsWith(others), error.message)
  }
})

test("if the prompt was too long for two targets, only the larger target's error is reported", async () => {
  const world = await openWorld({
    fetch: fakeUpstream(() => json({ error: tooLong }, 400)),
    catalog: sized({ one: 8_000, two: 200_000 }),
    connections: ['one', 'two'],
    combos: { pair: ['one/m', 'two/m'] },
  })
  const response = await world.chat({ model: 'pair' })
  assert.is(response.headers.get('x-signalbox-target'), 'two/m')
  assert.equal(await response.json(), { error: tooLong })
})
