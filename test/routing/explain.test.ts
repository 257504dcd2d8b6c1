import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { ComboModel, Strategy } from '../../src/types.ts'
import type { ErrorAnswer } from '../pipeline/support/answers.ts'
import { apiKeyOf, token, catalog as worldCatalog } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { openPool, type Pool, type PoolOptions } from './support/pool.ts'

const test = suite('explanations')

const models: ComboModel[] = ['one/m', 'two/m', 'three/m']
const catalog = {
  one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm', price: { input: 5, output: 15 } }] },
  two: { baseUrl: 'http://two.test/v1', models: [{ id: 'm', price: { input: 0.1, output: 0.25 } }] },
  three: { baseUrl: 'http://three.test/v1', models: [{ id: 'm' }] },
}

/** `<provider> <use>: <why>` of each target. */
async function told({ world }: Pick<Pool, 'world'>, request: object = {}) {
  const { targets } = await world.api.explain({ model: 'pool', ...request })
  return targets.map(({ provider, use, why }) => `${provider} ${use}: ${why}`)
}

const open = (strategy: Strategy, options: PoolOptions = {}, entries = models) =>
  openPool({ models: entries, strategy }, { catalog, connections: ['one', 'two', 'three'], ...options })

test('fallback: each stands where it is listed', async () => {
  const pool = await open('fallback')
  assert.equal(await told(pool), [
    'one first: pool: listed 1st',
    'two next: pool: listed 2nd',
    'three next: pool: listed 3rd',
  ])
})

test('round-robin: whose turn it is, and no turn is moved by asking', async () => {
  const pool = await open('round-robin')
  await pool.asks(1)
  const wanted = [
    'two first: pool: its turn',
    'three next: pool: 1 after the one whose turn it is',
    'one next: pool: 2 after the one whose turn it is',
  ]
  for (let time = 0; time < 3; time++) assert.equal(await told(pool), wanted)
  assert.is(await pool.asks(1), 'two')
})

test('weighted and random: as they might be drawn', async () => {
  const entries = [{ model: 'one/m', weight: 3 }, { model: 'two/m', weight: 0 }, 'three/m']
  for (const line of await told(await open('weighted', {}, entries))) {
    const [, provider, drawn] = /^(\w+) \w+: pool: drawn (\w+), weight/.exec(line) ?? []
    assert.match(line, provider === 'one' ? 'weight 3 of 4' : provider === 'two' ? 'weight 0 of 4' : 'weight 1 of 4')
    assert.is(drawn === '3rd', provider === 'two')
  }
  const drawn = (await told(await open('random'))).map((line) => line.replace(/^\w+ /, ''))
  assert.equal(drawn, ['first: pool: drawn 1st', 'next: pool: drawn 2nd', 'next: pool: drawn 3rd'])
})

test('least-cost: the price, or that there is none', async () => {
  assert.equal(await told(await open('least-cost')), [
    'two first: pool: $0.35 per million tokens, input and output',
    'one next: pool: $20 per million tokens, input and output',
    'three next: pool: no known price',
  ])
})

test('least-latency: what was measured', async () => {
  const pool = await open('least-latency', {}, ['one/m'])
  assert.equal(await told(pool), ['one first: pool: not measured yet'])
  await pool.asks(1)
  assert.equal(await told(pool), ['one first: pool: 0 ms on average'])
  assert.equal(await told(pool, { body: { stream: true } }), ['one first: pool: not measured yet'])
})

test('least-busy: how much is under way', async () => {
  const pool = await open('least-busy', { answer: () => new Promise(() => {}) })
  for (let time = 1; time <= 4; time++) {
    void pool.world.chat({ model: 'pool' })
    while (pool.up.open < time) await pool.world.clock.advance(0)
  }
  assert.equal(await told(pool), [
    'two first: pool: 1 request under way',
    'three next: pool: 1 request under way',
    'one next: pool: 2 requests under way',
  ])
})

test('sticky: where the session is at home, and where it was moved', async () => {
  const pool = await open('sticky')
  assert.equal(await told(pool), [
    'one first: pool: listed 1st, since the request has no session',
    'two next: pool: listed 2nd, since the request has no session',
    'three next: pool: listed 3rd, since the request has no session',
  ])
  const body = { user: 'somebody' }
  const [home = '', second = '', third = ''] = (await told(pool, { body })).map((line) => line.split(' ')[0])
  assert.equal(await told(pool, { body }), [
    `${home} first: pool: the session is at home here`,
    `${second} next: pool: 2nd for this session`,
    `${third} next: pool: 3rd for this session`,
  ])
  assert.is(await pool.asks(1, body), home)
  pool.down.set(home, 500)
  await pool.asks(1, body)
  assert.equal((await told(pool, { body }))[0], `${second} first: pool: the session was moved here`)
  const named = await told(pool, { headers: { 'X-Signalbox-Session': 'somebody' } })
  assert.match(named[0] ?? '', /the session was moved here/, 'headers of any case')
})

test('conditional: what is not meant for the request, and for want of what', async () => {
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
  assert.equal(await told(pool), ['three first: pool: listed 3rd'])
})

test('what is cooling is skipped, with why and until when; the rest is used, as far as attempts reach', async () => {
  const pool = await open('fallback', { limits: { maxAttempts: 1 } })
  pool.down.set('one', 401)
  await pool.asks(1)
  const [first, ...rest] = await told(pool)
  assert.match(
    first ?? '',
    /^one skipped: connection is cooling after "credentials" until 2026-01-01T00:01:0\d\.\d{3}Z$/,
  )
  assert.equal(rest, ['two first: pool: listed 2nd', 'three beyond: pool: listed 3rd'])
})

test('when all are cooling, the one that recovers first is the last resort', async () => {
  const pool = await open('fallback')
  for (const [provider, status] of [
    ['one', 401],
    ['two', 429],
    ['three', 402],
  ] as const)
    pool.down.set(provider, status)
  await pool.asks(1)
  const uses = (await told(pool)).map((line) => line.split(':')[0])
  assert.equal(uses, ['one skipped', 'two last-resort', 'three skipped'])
  pool.down.clear()
  assert.is(await pool.asks(1), 'two')
})

test('a model without a combo: its connections by priority', async () => {
  const pool = await openPool([], { connections: ['two', { provider: 'two', name: 'spare' }] })
  const { targets } = await pool.world.api.explain({ model: 'two/m' })
  assert.equal(
    targets.map(({ connection, use, why, via }) => [connection, use, why, via]),
    [
      ['two', 'first', 'by the priority of its connection', undefined],
      ['spare', 'next', 'by the priority of its connection', undefined],
    ],
  )
})

test('the way through combos and providers, with each reason on it', async () => {
  const connections = ['one', 'two', { provider: 'two', name: 'spare' }]
  const combos = { inner: { models: ['two/m'], connectionStrategy: 'round-robin' as const } }
  const pool = await openPool({ models: ['inner', 'one/m'], strategy: 'round-robin' }, { connections, combos })
  const { targets } = await pool.world.api.explain({ model: 'pool' })
  assert.equal(
    targets.map(({ connection, why, via }) => [connection, why, via]),
    [
      ['two', 'pool: its turn; inner: listed 1st; two: its turn', 'pool:round-robin>inner:fallback>two:round-robin'],
      [
        'spare',
        'pool: its turn; inner: listed 1st; two: 1 after the one whose turn it is',
        'pool:round-robin>inner:fallback>two:round-robin',
      ],
      ['one', 'pool: 1 after the one whose turn it is', 'pool:round-robin'],
    ],
  )
})

test('what its format cannot carry is skipped, as the request will do', async () => {
  const connections = ['claude', 'one']
  const pool = await openPool(['claude/c', 'one/m'], { connections, catalog: worldCatalog })
  const body = { n: 2, messages: [{ role: 'user', content: 'hi' }] }
  const lines = await told(pool, { body })
  assert.match(lines[0] ?? '', /^claude skipped: its format cannot carry the request: "n"/)
  assert.is(lines[1], 'one first: pool: listed 2nd')
  assert.is(await pool.asks(1, body), 'one')
  const sketched = (await told(pool, { body: { n: 2 } })).map((line) => line.split(':')[0])
  assert.equal(sketched, ['claude first', 'one next'])
  const { error } = await pool.world.api.explain({ model: 'claude/c', body })
  const response = await pool.world.chat({ model: 'claude/c', ...body })
  const { error: read } = (await response.json()) as ErrorAnswer
  assert.equal([error?.status, error?.message], [response.status, read.message])
})

test('size and streaming are those that the request will have', async () => {
  const body = { messages: [{ role: 'user', content: 'hé' }], stream: true }
  const bytes = new TextEncoder().encode(JSON.stringify({ model: 'pool', ...body })).length
  const entries = (max: number): ComboModel[] => [{ model: 'one/m', when: { bytes: { max }, stream: true } }, 'two/m']
  for (const [max, provider] of [
    [bytes, 'one'],
    [bytes - 1, 'two'],
  ] as const) {
    const pool = await open('conditional', {}, entries(max))
    assert.match((await told(pool, { body }))[0] ?? '', `${provider} first`)
    await pool.world.post('/v1/chat/completions', { model: 'pool', ...body })
    assert.is(pool.up.providers[0], provider)
  }
  const pool = await open('conditional', {}, [{ model: 'one/m', when: { stream: true } }, 'two/m'])
  const counted = await told(pool, { path: '/v1/messages/count_tokens', body: { stream: true } })
  assert.match(counted[0] ?? '', 'two first', 'counts are never streamed')
})

test('what leads nowhere is explained with the error that its client would read', async () => {
  const { world } = await open('conditional', {}, [{ model: 'one/m', when: { tools: true } }])
  for (const model of ['poll', 'one', 'pool', 'nobody/m']) {
    const { targets, error, model: asked } = await world.api.explain({ model })
    const response = await world.chat({ model })
    const { error: read } = (await response.json()) as ErrorAnswer
    assert.equal([targets, error?.status, error?.message, asked], [[], response.status, read.message, model])
  }
  const { leftOut } = await world.api.explain({ model: 'pool' })
  assert.equal(leftOut, [{ combo: 'pool', model: 'one/m', unmet: 'tools' }])
})

test('over HTTP as in process; nobody is called, nothing is kept, and no secret is told', async () => {
  const storage = memoryStorage()
  const pool = await open('sticky', { storage })
  await pool.world.api.combos.create({ name: 'turns', models, strategy: 'round-robin' })
  for (const model of ['pool', 'turns', 'one/m']) {
    const question = {
      model,
      body: { user: 'me', messages: [{ role: 'user', content: 'hi' }] },
      headers: { authorization: 'Bearer hidden' },
    }
    const authorization = `Bearer ${token}`
    const response = await pool.world.post('/api/explain', question, { headers: { authorization } })
    assert.is(response.status, 200)
    const text = await response.text()
    assert.equal(JSON.parse(text), await pool.world.api.explain(question))
    for (const secret of [apiKeyOf('one'), apiKeyOf('two'), 'hidden', 'one.test', 'sealed'])
      assert.is(text.includes(secret), false)
  }
  assert.is(pool.up.calls.length, 0)
  assert.equal(await storage.list('routing/'), [])
  assert.is((await pool.world.post('/api/explain', { model: 'pool' })).status, 401)
})

for (const strategy of [
  'fallback',
  'round-robin',
  'least-cost',
  'least-busy',
  'sticky',
  'conditional',
] satisfies Strategy[]) {
  test(`"${strategy}": the next request does what was explained`, async () => {
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
      const called = (await pool.asks(1, body)).split('>')
      const until = wanted.findIndex((provider) => !bad.includes(provider))
      assert.equal(called, until < 0 ? wanted : wanted.slice(0, until + 1), JSON.stringify([bad, targets]))
      await pool.world.clock.advance(500)
    }
  })
}
