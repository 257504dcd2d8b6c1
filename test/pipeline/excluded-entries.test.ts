import { assert, suite } from '../support/suite.ts'
import { fault } from './support/fault.ts'
import { chatResponse, type ErrorAnswer } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('combo entries that are excluded from a request')

const getAttempts = (response: Response) => response.headers.get('x-signalbox-attempts')

const tools = { model: 'one/m', when: { tools: true } }
const team = { model: 'two/m', when: { headers: { 'x-team': 'a' } } }
const small = { model: 'three/m', when: { bytes: { max: 400 } } }

const respond = () => json(chatResponse())

test('the attempts header lists excluded entries with the first unmet condition', async () => {
  for (const strategy of ['conditional', 'fallback', 'round-robin'] as const) {
    const combos = { chain: { strategy, models: [tools, team, small] } }
    const world = await openWorld({ fetch: fakeUpstream(respond), combos })
    assert.is(
      getAttempts(await world.chat({ model: 'chain' })),
      `one/m=skipped:when.tools;via=chain:${strategy}, two/m=skipped:when.headers.x-team, three/m=200`,
    )
  }
})

test('excluded entries are listed by their combo names, after the path to the combo', async () => {
  const upstream = fakeUpstream(({ provider }) => (provider === 'one' ? fault(500, 'no')() : respond()))
  const combos = {
    inner: ['three/m'],
    mixed: [
      { model: 'inner', when: { images: true } },
      { model: 'short', when: { metadata: { 'für wen': 'x' } } },
    ],
    chain: ['one/m', 'mixed', 'two/m'],
  }
  const world = await openWorld({ fetch: upstream, combos: { inner: combos.inner }, aliases: { short: 'three/m' } })
  await world.api.combos.create({ name: 'mixed', models: combos.mixed })
  await world.api.combos.create({ name: 'chain', models: combos.chain })
  assert.is(
    getAttempts(await world.chat({ model: 'chain' })),
    [
      'one/m=500:server;via=chain:fallback',
      'inner=skipped:when.images;via=chain:fallback>mixed:fallback',
      'short=skipped:when.metadata.f%C3%BCr%20wen',
      'two/m=200;via=chain:fallback',
    ].join(', '),
  )
})

test('excluded entries are reported if no other entries are left, or if the others fail', async () => {
  const combos = { none: { models: [tools, team] }, one: { models: [tools, 'two/m'] } }
  const world = await openWorld({ fetch: fakeUpstream(fault(500, 'no')), combos })
  const rejected = await world.chat({ model: 'none' })
  assert.is(rejected.status, 400)
  assert.is(getAttempts(rejected), 'one/m=skipped:when.tools;via=none:fallback, two/m=skipped:when.headers.x-team')
  const failed = await world.chat({ model: 'one' })
  assert.is(getAttempts(failed), 'one/m=skipped:when.tools;via=one:fallback, two/m=500:server')
  const { error }: ErrorAnswer = await failed.json()
  assert.is(error.message, 'no')
})

test('many excluded entries leave room in the header for the attempts', async () => {
  const models = Array.from({ length: 99 }, (_, index) => ({
    ...tools,
    model: `one/${'long-name-'.repeat(9)}${index}`,
  }))
  const combos = { chain: { models: [...models, 'two/m'] } }
  const world = await openWorld({ fetch: fakeUpstream(respond), combos })
  const list = getAttempts(await world.chat({ model: 'chain' })) ?? ''
  assert.ok(list.length < 2_000, `${list.length}`)
  assert.match(list, /, two\/m=200, left-out=\d+$/)
})

test("an entry with matching conditions isn't reported as excluded", async () => {
  const world = await openWorld({ fetch: fakeUpstream(respond), combos: { chain: { models: [tools, 'two/m'] } } })
  const call = { type: 'function', function: { name: 'f', parameters: {} } }
  assert.is(getAttempts(await world.chat({ model: 'chain', tools: [call] })), 'one/m=200;via=chain:fallback')
})

test("entries with names that don't resolve to a target are reported and explained", async () => {
  const combos = { inner: ['nobody/x'], chain: ['nothing', 'inner', 'one/m', 'never/reached'], none: ['nothing'] }
  const world = await openWorld({ fetch: fakeUpstream(respond), combos })
  assert.is(
    getAttempts(await world.chat({ model: 'chain' })),
    'nothing=skipped:unreachable;via=chain:fallback, nobody/x=skipped:unreachable;via=chain:fallback>inner:fallback, one/m=200;via=chain:fallback',
  )
  const rejected = await world.chat({ model: 'none' })
  assert.is(rejected.status, 404)
  assert.is(getAttempts(rejected), 'nothing=skipped:unreachable;via=none:fallback')
  assert.equal((await world.api.explain({ model: 'chain' })).leftOut, [
    { combo: 'chain', model: 'nothing', unmet: 'unreachable' },
    { combo: 'inner', model: 'nobody/x', unmet: 'unreachable' },
    { combo: 'chain', model: 'never/reached', unmet: 'unreachable' },
  ])
})
