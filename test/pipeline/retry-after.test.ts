import { assert, suite } from '../support/suite.ts'
import { fault } from './support/fault.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('the retry-after of the final error')

async function chained(responses: Record<string, () => Response>) {
  const fetch = fakeUpstream(({ provider }) => responses[provider]?.() ?? json(chatResponse()))
  return { world: await openWorld({ fetch, combos: { chain: ['one/m', 'two/m', 'three/m'] } }) }
}

test("the final error's retry-after is the shortest requested wait in seconds, up to a minute", async () => {
  const date = new Date(Date.UTC(2026, 0, 1, 0, 0, 30)).toUTCString()
  const waits: Array<[one: object, two: object, expected: string]> = [
    [{ 'retry-after': '30' }, { 'retry-after': '20' }, '20'],
    [{ 'retry-after': '3600' }, {}, '60'],
    [{ 'retry-after-ms': '1500' }, { 'retry-after': '9' }, '2'],
    [{ 'retry-after': date }, {}, '30'],
  ]
  for (const [wait, two, expected] of waits) {
    const { world } = await chained({ one: fault(429, 'A', wait), two: fault(429, 'B', two), three: fault(429, 'C') })
    const response = await world.chat({ model: 'chain' })
    assert.is(response.headers.get('retry-after'), expected, JSON.stringify([wait, two]))
  }
})

test("without a requested wait, the final error's retry-after is the time until a failed target recovers", async () => {
  for (const headers of [{}, { 'retry-after': 'soon' }, { 'retry-after': '-1' }]) {
    const { world } = await chained({ one: fault(429, 'A', headers), two: fault(429, 'B'), three: fault(401, 'C') })
    const response = await world.chat({ model: 'chain' })
    assert.match(response.headers.get('retry-after') ?? '', /^[12]$/) // one second plus jitter of up to a tenth
  }
  const { world } = await chained({ one: fault(500, 'A') })
  const waits: unknown[] = []
  for (let index = 0; index < 5; index++) waits.push((await world.chat({ model: 'one/m' })).headers.get('retry-after'))
  assert.equal(waits.slice(0, 4), [null, null, null, null], 'the target may be called again immediately')
  assert.match(String(waits[4]), /^[56]$/)
})

test("a rejected key or an account without credit sets no retry-after, because waiting doesn't help", async () => {
  for (const respond of [fault(401, 'A'), fault(429, 'You exceeded your current quota, please check your plan.')]) {
    const { world } = await chained({ one: respond })
    assert.is((await world.chat({ model: 'one/m' })).headers.get('retry-after'), null)
  }
})

test("a rejected key in cooldown or a missing model doesn't affect the final error's retry-after", async () => {
  const findMissing = () => json({ error: { message: 'no such model', code: 'model_not_found' } }, 404)
  for (const item of [fault(401, 'A'), findMissing]) {
    const { world } = await chained({
      one: item,
      two: fault(500, 'B'),
      three: fault(429, 'C', { 'retry-after': '70' }),
    })
    await world.api.combos.create({ name: 'pair', models: ['one/m', 'two/m'] })
    await world.api.combos.create({ name: 'pool', models: ['two/m', 'three/m', 'one/m'] })
    await world.chat({ model: 'one/m' })
    await world.clock.advance(1_000)
    const wait = async (model: string) => (await world.chat({ model })).headers.get('retry-after')
    assert.is(await wait('pair'), null, 'the other target may be called again immediately')
    assert.is(await wait('pool'), '60', 'from the rate-limited target')
  }
})

test('the final error has no retry-after if another request has just failed with the only key', async () => {
  const { world } = await chained({ one: fault(401, 'A') })
  await world.chat({ model: 'one/m' })
  const responses = await Promise.all([world.chat({ model: 'one/m' }), world.chat({ model: 'one/m' })])
  const texts = await Promise.all(responses.map((response) => response.text()))
  assert.match(texts[1] ?? '', 'Another request just tried one/m')
  assert.equal(
    responses.map(({ headers }) => headers.get('retry-after')),
    [null, null],
  )
})

test('a client error has no retry-after from earlier targets', async () => {
  const { world } = await chained({ one: fault(429, 'A', { 'retry-after': '30' }), two: fault(400, 'B') })
  const response = await world.chat({ model: 'chain' })
  assert.equal([response.status, response.headers.get('retry-after')], [400, null])
})

test("a target in cooldown sets the final error's retry-after if it recovers sooner", async () => {
  const { world } = await chained({ one: fault(429, 'A', { 'retry-after': '20' }), two: fault(500, 'B') })
  const chain = { name: 'pair', models: ['one/m', 'two/m'] }
  await world.api.combos.create(chain)
  assert.is((await world.chat({ model: 'pair' })).headers.get('retry-after'), '20')
  await world.clock.advance(5_000)
  const response = await world.chat({ model: 'pair' })
  assert.match(response.headers.get('x-signalbox-attempts') ?? '', /^one\/m=skipped:rate-limit;\S* two\/m=500:server$/)
  const seconds = Number(response.headers.get('retry-after'))
  assert.ok(seconds >= 15 && seconds <= 17, `${seconds}`) // plus jitter of up to a tenth, so instances don't probe in lockstep
})

test("the final error's retry-after is one second if the next request can reach an untried target", async () => {
  const fetch = fakeUpstream(({ provider }) => (provider === 'three' ? json(chatResponse()) : limited()))
  const limited = fault(429, 'A', { 'retry-after': '30' })
  const models = { chain: ['one/m', 'two/m', 'three/m'] }
  const world = await openWorld({ fetch, combos: models, limits: { maxAttempts: 2 } })
  const response = await world.chat({ model: 'chain' })
  assert.match(response.headers.get('x-signalbox-attempts') ?? '', 'stopped=max-attempts')
  assert.is(response.headers.get('retry-after'), '1')
  assert.is((await world.chat({ model: 'chain' })).status, 200)
})

test("the final error's retry-after is the time until an untried target recovers", async () => {
  const down: Record<string, () => Response> = { three: fault(429, 'C', { 'retry-after': '20' }) }
  const fetch = fakeUpstream(({ provider }) => down[provider]?.() ?? json(chatResponse()))
  const chain = ['one/m', 'two/m', 'three/m']
  const world = await openWorld({ fetch, combos: { chain }, limits: { maxAttempts: 2 } })
  await world.chat({ model: 'three/m' })
  for (const [status, wait] of [
    [500, null],
    [429, '20'],
  ] as const) {
    down.one = down.two = fault(status, 'A', status === 429 ? { 'retry-after': '30' } : {})
    assert.is((await world.chat({ model: 'chain' })).headers.get('retry-after'), wait)
  }
})

test("the final error's retry-after ignores untried targets if the combo only repeats the failed ones", async () => {
  const fetch = fakeUpstream(() => fault(429, 'A', { 'retry-after': '30' })())
  const world = await openWorld({
    fetch,
    combos: { chain: ['one/m', 'two/m', 'one/m', 'two/m'] },
    limits: { maxAttempts: 2 },
  })
  const response = await world.chat({ model: 'chain' })
  assert.is(
    response.headers.get('x-signalbox-attempts'),
    'one/m=429:rate-limit;via=chain:fallback, two/m=429:rate-limit',
  )
  assert.is(response.headers.get('retry-after'), '30')
  assert.not.match(await response.text(), 'No other target')
})
