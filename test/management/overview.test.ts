import { openBothEnds } from '../cloud/support/home-and-cloud.ts'
import { chatAnswer } from '../pipeline/support/answers.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld, token } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { openDoor } from './door.ts'

const test = suite('the overview of a gateway')

const HOUR = 3_600_000

test('it has the last 24 hours by the hour, those before, what fails and what is missing, from one call', async () => {
  const world = await openWorld({
    usage: true,
    fetch: fakeUpstream(({ provider }) =>
      provider === 'three' ? json({ error: { message: 'out of order' } }, 500) : json(chatAnswer()),
    ),
  })
  const { api, clock, chat } = world
  await chat({})
  await clock.advance(30 * HOUR)
  for (let nth = 0; nth < 7; nth++) await chat({ model: 'three/m' })
  await chat({})
  await api.keys.create({ name: 'app' })
  const { usage, failures, health, damaged, counts, requireApiKey, mirrorError } = await api.overview()
  assert.equal([usage?.totals.requests, usage?.before?.totals.requests], [8, 1])
  assert.is(usage?.rows.length, 1)
  assert.is(Date.parse(usage?.rows[0]?.hour ?? ''), Math.floor(clock.now() / HOUR) * HOUR)
  assert.ok(usage?.totals.durationMs)
  assert.is(Date.parse(usage?.from ?? ''), Math.floor(clock.now() / HOUR) * HOUR - 23 * HOUR)
  assert.equal(
    failures.map(({ end, model }) => [end, model]),
    Array.from({ length: 5 }, () => ['failed', 'three/m']),
  )
  assert.equal(
    health.map(({ provider }) => provider),
    health.map(() => 'three'),
  )
  assert.equal([damaged, counts, requireApiKey, mirrorError], [0, { keys: 1, connections: 4 }, false, undefined])
  const reply = await world.gateway.fetch('http://gateway/api/overview', {
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(await reply.json(), await api.overview())
})

test('it has no usage where none is kept, and all the rest', async () => {
  const { gateway, expect } = openDoor({ usage: false })
  await gateway.api.connections.create({ provider: 'openai' })
  assert.equal(await expect(200, 'GET', '/api/overview'), {
    failures: [],
    health: [],
    damaged: 0,
    counts: { keys: 0, connections: 1 },
    requireApiKey: false,
  })
})

test('it says why the mirror is behind, until it is not', async () => {
  const { enable, api, after, cut } = openBothEnds()
  await enable()
  await after(2_000)
  assert.is((await api.overview()).mirrorError, undefined)
  cut()
  await api.combos.create({ name: 'late', models: ['one/a'] })
  await after(60_000)
  assert.match((await api.overview()).mirrorError ?? '', /cannot be reached/)
  cut(false)
  await api.combos.create({ name: 'later', models: ['one/a'] })
  await after(60_000)
  assert.is((await api.overview()).mirrorError, undefined)
})
