import { memoryStorage } from '../../adapters/storage/memory.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { openHedging, P95, respond } from './support/hedging.ts'
import { chatResponse } from './support/responses.ts'
import { json } from './support/upstream.ts'

const test = suite('hedging a slow attempt')

for (const stream of [false, true]) {
  const label = stream ? 'a stream' : 'a single response'
  test(`a client disconnect aborts both hedged attempts: ${label}`, async () => {
    const { upstream, world, clock, send, untilBoth } = await openHedging({}, { stream })
    const controller = new AbortController()
    const pending = send({ signal: controller.signal })
    await untilBoth()
    assert.equal([upstream.providers, upstream.open], [['one', 'two'], 2])
    controller.abort()
    assert.is(upstream.open, 0, 'immediately')
    assert.is((await pending).status, 499)
    assert.equal(world.recorded.attempts.map(({ provider, outcome }) => `${provider} ${outcome}`).sort(), [
      'one cancelled',
      'two cancelled',
    ])
    assert.is(clock.pending(), 0)
  })

  test(`a faster hedge cancels the first attempt: ${label}`, async () => {
    const { upstream, world, clock, send, untilBoth } = await openHedging({ two: () => respond(stream) }, { stream })
    const pending = send()
    await untilBoth()
    const response = await pending
    assert.is(response.headers.get('x-signalbox-target'), 'two/m')
    assert.is(upstream.calls[0]?.signal.aborted, true)
    await response.text()
    assert.is(upstream.open, 0)
    assert.equal(
      world.recorded.attempts.map(({ provider, outcome }) => `${provider} ${outcome}`),
      ['two answered', 'one outrun'],
    )
    assert.is(clock.pending(), 0)
  })
}

test('a hedge also requests stream usage and hides it from the client', async () => {
  const { upstream, world, send, untilBoth } = await openHedging(
    { two: () => respond(true) },
    { stream: true, includeStreamUsage: true },
  )
  const pending = send()
  await untilBoth()
  const text = await (await pending).text()
  assert.ok(!text.includes('"usage"') && text.endsWith('data: [DONE]\n\n'), text)
  assert.equal(
    upstream.calls.map(({ provider, body }) => [provider, body.includes('"include_usage":true')]),
    [
      ['one', true],
      ['two', true],
    ],
  )
  assert.equal([world.recorded.usages.at(-1)?.provider, world.recorded.usages.at(-1)?.inputTokens], ['two', 7])
})

test('a hedge replaces the first attempt if that fails in the meantime', async () => {
  let fail: () => void = () => {}
  const failing = new Promise<void>((resolve) => {
    fail = resolve
  })
  const { clock, send, untilBoth } = await openHedging({
    one: () => failing.then(() => json({}, 500)),
    two: () => clock.sleep(5).then(() => respond(false)),
  })
  const pending = send()
  await untilBoth()
  fail()
  await clock.advance(5)
  const response = await pending
  assert.is(response.status, 200)
  assert.match(response.headers.get('x-signalbox-attempts') ?? '', /^one\/m=500:server\S*, two\/m=200$/)
})

test('a client error from the first attempt ends the hedge and is returned immediately', async () => {
  const { upstream, world, clock, send, untilBoth } = await openHedging({
    one: () => clock.sleep(P95 + 5).then(() => json({ error: { message: 'bad' } }, 422)),
  })
  const pending = send()
  await untilBoth()
  await clock.advance(5)
  assert.is(upstream.open, 0)
  assert.is((await pending).status, 422)
  assert.equal(
    world.recorded.attempts.map(({ provider, outcome }) => `${provider} ${outcome}`),
    ['one client', 'two outrun'],
  )
  assert.is(clock.pending(), 0)
})

for (const [label, item, status] of [
  ['it succeeds', () => respond(false), 200],
  ['it fails too', () => json({}, 500), 422],
] as const) {
  test(`if the hedge gets a client error, the first attempt decides the outcome: ${label}`, async () => {
    const { upstream, clock, send, untilBoth } = await openHedging({
      one: () => clock.sleep(P95 + 5).then(item),
      two: () => json({ error: { message: 'bad' } }, 422),
    })
    const pending = send()
    await untilBoth()
    await clock.advance(5)
    assert.is((await pending).status, status)
    assert.equal([upstream.providers, upstream.open, clock.pending()], [['one', 'two'], 0, 0])
  })
}

/** The gateway decrypts this many credentials before the hedge's credential. */
const spares = Array.from({ length: 50 }, (_, index) => ({ provider: 'three', name: `spare ${index}` }))

/**
 * The first attempt's head start in microtasks. Its response is still being read when the second attempt starts, but is complete by the time that
 * attempt's credential is decrypted.
 */
const HEAD_START = 10

test("a hedge isn't sent if the first attempt succeeds while the hedge's credential is being decrypted", async () => {
  const base = fakeClock()
  let release: () => void = () => {}
  const clock = {
    ...base,
    async sleep(ms: number, signal?: AbortSignal) {
      await base.sleep(ms, signal)
      release()
      for (let tick = 0; tick < HEAD_START; tick++) await undefined
    },
  }
  const { upstream, world, send } = await openHedging(
    {
      one: () =>
        new Promise((resolve) => {
          release = () => resolve(respond(false))
        }),
    },
    { clock, connections: ['one', ...spares, 'two'] },
  )
  const pending = send()
  while (upstream.calls.length < 1) await clock.advance(0)
  await clock.advance(P95)
  assert.is((await pending).headers.get('x-signalbox-target'), 'one/m')
  await world.api.connections.list() // by now, the credential is decrypted
  await clock.advance(0)
  assert.equal([upstream.providers, upstream.open], [['one'], 0])
  assert.is(world.recorded.attempts.length, 1)
})

test("a hedge with a credential that can't be decrypted doesn't affect the first attempt", async () => {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const first = () => clock.sleep(P95 + 5).then(() => respond(false))
  const { upstream, send } = await openHedging({ one: first }, { clock, storage })
  for (const { key, value } of await storage.list('connections/')) {
    if (value.includes('"two"')) await storage.set(key, value.replace(/("sealedApiKey":"[^"]{40})./, '$1!'))
  }
  const pending = send()
  while (upstream.calls.length < 1) await clock.advance(0)
  await clock.advance(P95)
  await clock.advance(5)
  assert.is((await pending).status, 200)
  assert.equal([upstream.providers, upstream.open], [['one'], 0])
})

const empty = { choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }] }

for (const [label, first, status, failures] of [
  ["a hedge's empty response is returned if the other response is empty too", empty, '200:content', []],
  ["a hedge's empty response is not returned if the other response has content", chatResponse(), '200', ['two']],
] as const)
  test(label, async () => {
    const clock = fakeClock()
    const one = () => clock.sleep(P95 + 5).then(() => json(first))
    const { world, send, untilBoth } = await openHedging({ one, two: () => json(empty) }, { clock })
    const pending = send()
    await untilBoth()
    while (world.recorded.attempts.length < 1) await clock.advance(0)
    await clock.advance(5)
    const response = await pending
    assert.equal([response.status, await response.json()], [200, first])
    assert.is(response.headers.get('x-signalbox-target'), 'one/m')
    assert.match(response.headers.get('x-signalbox-attempts') ?? '', `one/m=${status};`)
    assert.match(response.headers.get('x-signalbox-attempts') ?? '', 'two/m=200:content')
    const { health } = await world.api.health.list()
    assert.equal(
      health.map(({ provider }) => provider),
      failures,
    )
  })

test('if both hedged attempts succeed at the same moment, the first one wins and neither stays in flight', async () => {
  let release: () => void = () => {}
  const both = new Promise<void>((resolve) => {
    release = resolve
  })
  const late = () => both.then(() => respond(false))
  const { upstream, world, send, untilBoth } = await openHedging({ one: late, two: late })
  await world.api.combos.create({ name: 'calm', models: ['two/m', 'one/m'], strategy: 'least-busy' })
  const pending = send()
  await untilBoth()
  release()
  const response = await pending
  assert.is(response.headers.get('x-signalbox-target'), 'one/m')
  assert.is(upstream.open, 0)
  assert.equal(
    world.recorded.attempts.map(({ provider, outcome }) => `${provider} ${outcome}`),
    ['one answered', 'two answered'],
  )
  await world.chat({ model: 'calm' })
  assert.equal(upstream.providers, ['one', 'two', 'two'])
})
