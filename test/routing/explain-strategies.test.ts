import type { Strategy } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { type Call, json } from '../pipeline/support/upstream.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getLines, open } from './support/explain.ts'

const test = suite('strategy explanations')

test('under fallback, the explanation gives each target its listed position', async () => {
  const pool = await open('fallback')
  assert.equal(await getLines(pool), [
    'one first: pool: listed 1st',
    'two next: pool: listed 2nd',
    'three next: pool: listed 3rd',
  ])
})

test('under round-robin, the explanation shows which entry is next, without advancing the position', async () => {
  const pool = await open('round-robin')
  await pool.sendAll(1)
  const wanted = [
    'two first: pool: its turn',
    'three next: pool: 1 after the entry whose turn it is',
    'one next: pool: 2 after the entry whose turn it is',
  ]
  for (let time = 0; time < 3; time++) assert.equal(await getLines(pool), wanted)
  assert.is(await pool.sendAll(1), 'two')
})

test('under weighted and random, the explanation shows a possible order', async () => {
  const entries = [{ model: 'one/m', weight: 3 }, { model: 'two/m', weight: 0 }, 'three/m']
  for (const line of await getLines(await open('weighted', {}, entries))) {
    const [, provider, drawn] = /^(\w+) \w+: pool: drawn (\w+), weight/.exec(line) ?? []
    assert.match(line, provider === 'one' ? 'weight 3 of 4' : provider === 'two' ? 'weight 0 of 4' : 'weight 1 of 4')
    assert.is(drawn === '3rd', provider === 'two')
  }
  const drawn = (await getLines(await open('random'))).map((line) => line.replace(/^\w+ /, ''))
  assert.equal(drawn, ['first: pool: drawn 1st', 'next: pool: drawn 2nd', 'next: pool: drawn 3rd'])
})

test('under least-cost, the reason is the price, or that the price is unknown', async () => {
  assert.equal(await getLines(await open('least-cost')), [
    'two first: pool: $0.35 per million tokens, input and output',
    'one next: pool: $20 per million tokens, input and output',
    'three next: pool: price unknown',
  ])
})

test('under least-latency, the reason is the measured average', async () => {
  const pool = await open('least-latency', {}, ['one/m'])
  assert.equal(await getLines(pool), ['one first: pool: latency not measured yet'])
  await pool.sendAll(1)
  assert.equal(await getLines(pool), ['one first: pool: 0 ms on average'])
  assert.equal(await getLines(pool, { body: { stream: true } }), ['one first: pool: latency not measured yet'])
})

test('under least-latency, the reason shows which target is tried only to measure it', async () => {
  const clock = fakeClock()
  const respond = async ({ provider }: Call) => {
    await clock.sleep(provider === 'one' ? 100 : 200)
    return json(chatResponse())
  }
  const pool = await open('least-latency', { clock, respond }, ['one/m', 'two/m'])
  while ((await getLines(pool)).join().includes('not measured')) {
    const requested = pool.sendAll(1)
    await clock.untilPending()
    await clock.advance(200)
    await requested
  }
  const seen = new Set<string>()
  while (seen.size < 2) seen.add((await getLines(pool)).join())
  assert.equal([...seen].sort(), [
    'one first: pool: 100 ms on average,two next: pool: 200 ms on average',
    'two first: pool: 200 ms on average, occasionally tried first to see whether it has become faster,one next: pool: 100 ms on average',
  ])
})

test('under least-busy, the reason is the number of in-flight requests', async () => {
  const pool = await open('least-busy', { respond: () => new Promise(() => {}) })
  for (let time = 1; time <= 4; time++) {
    void pool.world.chat({ model: 'pool' })
    while (pool.upstream.open < time) await pool.world.clock.advance(0)
  }
  assert.equal(await getLines(pool), [
    'two first: pool: 1 request in flight',
    'three next: pool: 1 request in flight',
    'one next: pool: 2 requests in flight',
  ])
})

test('under sticky, the reason says whether the session is assigned or was re-pinned to the entry', async () => {
  const pool = await open('sticky')
  assert.equal(await getLines(pool), [
    'one first: pool: listed 1st; the request has no session',
    'two next: pool: listed 2nd; the request has no session',
    'three next: pool: listed 3rd; the request has no session',
  ])
  const body = { user: 'somebody' }
  const [home = '', second = '', third = ''] = (await getLines(pool, { body })).map((line) => line.split(' ')[0])
  assert.equal(await getLines(pool, { body }), [
    `${home} first: pool: the session is assigned here`,
    `${second} next: pool: 2nd for this session`,
    `${third} next: pool: 3rd for this session`,
  ])
  assert.is(await pool.sendAll(1, body), home)
  pool.down.set(home, 500)
  await pool.sendAll(1, body)
  assert.equal((await getLines(pool, { body }))[0], `${second} first: pool: the session was re-pinned here`)
  const named = await getLines(pool, { headers: { 'X-Signalbox-Session': 'somebody' } })
  assert.match(named[0] ?? '', /the session was re-pinned here/, 'header names in any case')
})

test('under conditional, excluded entries are shown with their unmet condition', async () => {
  const entries = [
    { model: 'one/m', when: { tools: true, headers: { 'X-Team': 'red' } } },
    { model: 'two/m', when: { metadata: { tier: 'gold' }, bytes: { max: 100 } } },
    'three/m',
  ]
  const pool = await open('conditional', {}, entries)
  const leftOut = async (body: object, headers = {}) =>
    (await pool.world.api.explain({ model: 'pool', body, headers })).leftOut.map(
      ({ combo, model, unmet }) => `${combo} ${model} ${unmet}`,
    )
  assert.equal(await leftOut({}), ['pool one/m tools', 'pool two/m metadata.tier'])
  assert.equal(await leftOut({ tools: [{}] }), ['pool one/m headers.X-Team', 'pool two/m metadata.tier'])
  assert.equal(await leftOut({ tools: [{}] }, { 'x-TEAM': 'red' }), ['pool two/m metadata.tier'])
  assert.equal(await leftOut({ metadata: { tier: 'gold' } }), ['pool one/m tools'])
  assert.equal(await leftOut({ metadata: { tier: 'gold' }, user: 'x'.repeat(100) }), [
    'pool one/m tools',
    'pool two/m bytes',
  ])
  assert.equal(await getLines(pool), ['three first: pool: listed 3rd'])
})

for (const strategy of [
  'fallback',
  'round-robin',
  'least-cost',
  'least-busy',
  'sticky',
  'conditional',
] satisfies Strategy[]) {
  test(`under "${strategy}", the next request is routed as explained`, async () => {
    const entries = [{ model: 'one/m', when: { stream: false } }, 'two/m', 'three/m']
    const pool = await open(strategy, { limits: { maxAttempts: 2 } }, entries)
    const body = { user: 'somebody' }
    for (const bad of [[], ['two'], [], ['one', 'two', 'three'], ['three'], []]) {
      pool.down.clear()
      for (const provider of bad) pool.down.set(provider, strategy === 'round-robin' ? 401 : 503)
      const { targets } = await pool.world.api.explain({ model: 'pool', body })
      const resort = targets.filter(({ use }) => use === 'last-resort')
      const usable = targets.filter(({ use }) => use === 'first' || use === 'next')
      const wanted = (usable.length > 0 ? usable : resort).map(({ provider }) => provider)
      const called = (await pool.sendAll(1, body)).split('>')
      const until = wanted.findIndex((provider) => !bad.includes(provider))
      assert.equal(called, until < 0 ? wanted : wanted.slice(0, until + 1), JSON.stringify([bad, targets]))
      await pool.world.clock.advance(500)
    }
  })
}
