import { openFailing, rejectWith } from '../pipeline/support/failing.ts'
import { chatChunk, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, never, sse } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('combo and settings rules')

const models = ['one/m', 'two/m']
const called = '200 one/m=503:server, two/m=200'
const skipped = '200 one/m=skipped:server, two/m=200'

test('cooldowns follow the failure rate, call volume, and durations in the settings', async () => {
  const { down, send, pass, world } = await openFailing()
  await world.api.settings.update({ health: { failureShare: 0.75, minCalls: 2, cooldownMs: 20_000, windowMs: 10_000 } })
  await send()
  down.one = rejectWith(503)
  for (const response of [called, called, called, skipped]) assert.is(await send(), response)
  pass(19_000)
  assert.is(await send(), skipped)
  pass(4_000)
  delete down.one
  assert.is(await send(), '200 one/m=200')
  down.one = rejectWith(503)
  assert.is(await send(), called, 'a single call is too few')
  pass(11_000)
  assert.is(await send(), called, 'the first failure is no longer in the window')
  assert.is(await send(), called)
  assert.is(await send(), skipped)
})

test('no cooldown exceeds the maximum in the settings', async () => {
  const { down, send, pass, world } = await openFailing()
  await world.api.settings.update({ health: { minCalls: 1, cooldownMs: 1_000, maxCooldownMs: 2_000 } })
  down.one = rejectWith(503)
  for (let probe = 0; probe < 5; probe++) {
    assert.is(await send(), called)
    assert.is(await send(), skipped)
    pass(2_200)
  }
})

test("a combo's health rules only apply to that combo's requests", async () => {
  const { down, send, world } = await openFailing({
    combos: { chain: models, own: { models, health: { minCalls: 1 } } },
  })
  down.one = rejectWith(503)
  assert.is(await send('own'), called)
  assert.is(await send('own'), skipped)
  for (let index = 0; index < 5; index++) assert.is(await send('chain'), called)
  assert.is(await send('chain'), skipped)
  const { health } = await world.api.health.list()
  const ofModels = health.filter(({ level }) => level === 'model')
  assert.equal(
    ofModels.map(({ combo, model, failures }) => ({ combo, model, failures })),
    [
      { combo: 'own', model: 'm', failures: 1 },
      { combo: undefined, model: 'm', failures: 5 },
    ],
  )
})

test('a combo with health rules ignores occasional failures of other requests', async () => {
  const { down, send } = await openFailing({
    combos: { chain: models, deep: ['one/other', 'two/m'], own: { models, health: { minCalls: 2 } } },
  })
  down.one = rejectWith(503)
  for (const combo of ['chain', 'deep']) for (let index = 0; index < 12; index++) await send(combo)
  assert.is(await send('chain'), skipped, 'the model and its connection or provider are in cooldown')
  assert.is(await send('own'), called)
  delete down.one
  assert.is(await send('own'), '200 one/m=200')
  assert.is(await send('chain'), skipped, "the other combo's success doesn't end the cooldown")
})

test('a combo with health rules respects definitive failures of other requests, and its successes end their cooldowns', async () => {
  const { down, send, pass } = await openFailing({
    combos: { chain: models, own: { models, health: { minCalls: 9 } } },
  })
  for (const [status, reason] of [
    [401, 'credentials'],
    [429, 'rate-limit'],
  ] as const) {
    down.one = rejectWith(status)
    await send('chain')
    assert.is(await send('own'), `200 one/m=skipped:${reason}, two/m=200`)
    delete down.one
    pass(3_600_000)
    assert.is(await send('own'), '200 one/m=200')
    assert.is(await send('chain'), '200 one/m=200')
  }
})

test("a key rejected under a combo's health rules is skipped by all requests", async () => {
  const { down, send } = await openFailing({ combos: { chain: models, own: { models, health: { minCalls: 9 } } } })
  down.one = rejectWith(401)
  assert.is(await send('own'), '200 one/m=401:credentials, two/m=200')
  assert.is(await send('chain'), '200 one/m=skipped:credentials, two/m=200')
})

test("the requested combo's rules apply, not a nested combo's", async () => {
  const combos = { inner: { models, maxAttempts: 1 }, outer: { models: ['inner'], maxAttempts: 2 } }
  const { down, send } = await openFailing({ combos, aliases: { other: 'inner' } })
  down.one = rejectWith(500)
  assert.is(await send('outer'), '200 one/m=500:server, two/m=200')
  assert.is(await send('inner'), '500 one/m=500:server, stopped=max-attempts')
  assert.is(await send('other'), '500 one/m=500:server, stopped=max-attempts')
})

test("maxAttempts in the settings overrides the gateway's limit, and a combo's maxAttempts overrides both", async () => {
  const combos = { chain: [...models, 'three/m'], own: { models: [...models, 'three/m'], maxAttempts: 3 } }
  const { down, send, world } = await openFailing({ combos, limits: { maxAttempts: 1 } })
  for (const provider of ['one', 'two', 'three']) down[provider] = rejectWith(500)
  const getAttempts = async (model: string) => (await send(model)).split('=500:server').length - 1
  assert.is(await getAttempts('chain'), 1)
  await world.api.settings.update({ maxAttempts: 2 })
  assert.is(await getAttempts('chain'), 2)
  assert.is(await getAttempts('own'), 3)
  const { targets } = await world.api.explain({ model: 'chain' })
  assert.equal(
    targets.map(({ use }) => use),
    ['first', 'next', 'beyond'],
  )
  await world.api.settings.update({ maxAttempts: null })
  assert.is(await getAttempts('chain'), 1)
})

test("timeouts in the settings end a call, and a combo's timeouts override them", async () => {
  const clock = fakeClock()
  const upstream = fakeUpstream(({ body }) => {
    const { stream, model } = JSON.parse(body)
    if (stream) return sse([chatChunk({ content: 'Once' })], 'hang')
    return model === 'm' ? never() : json(chatResponse())
  })
  const combos = { own: { models: ['one/m'], timeouts: { headersMs: 400 } } }
  const world = await openWorld({ fetch: upstream, clock, combos })
  await world.api.settings.update({ timeouts: { headersMs: 2_000, idleMs: 3_000 } })
  const took = async (request: Promise<Response>, ms: number) => {
    let isOver = false
    const text = request
      .then((response) => response.text())
      .finally(() => {
        isOver = true
      })
    await clock.untilPending()
    await clock.advance(ms - 1)
    assert.is(isOver, false, `${ms} ms`)
    await clock.advance(1)
    return text
  }
  assert.match(await took(world.chat({ model: 'one/m' }), 2_000), 'did not respond within 2 s')
  assert.match(await took(world.chat({ model: 'own' }), 400), 'did not respond within 0.4 s')
  assert.match(await took(world.chat({ model: 'one/m', stream: true }), 3_000), 'sent nothing for 3 s')
})
