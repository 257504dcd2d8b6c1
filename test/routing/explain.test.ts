import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { ComboModel } from '../../src/types.ts'
import type { ErrorAnswer } from '../pipeline/support/responses.ts'
import { json } from '../pipeline/support/upstream.ts'
import { getApiKey, token, catalog as worldCatalog } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { getLines, models, open } from './support/explain.ts'
import { openPool } from './support/pool.ts'

const test = suite('routing explanations')

test('explain skips a target in cooldown with the reason, and plans others up to maxAttempts', async () => {
  const pool = await open('fallback', { limits: { maxAttempts: 1 } })
  pool.down.set('one', 401)
  await pool.sendAll(1)
  const [first, ...rest] = await getLines(pool)
  assert.match(
    first ?? '',
    /^one skipped: connection is in cooldown after "credentials" until 2026-01-01T00:01:0\d\.\d{3}Z$/,
  )
  assert.equal(rest, ['two first: pool: listed 2nd', 'three beyond: pool: listed 3rd'])
})

test('if all targets are in cooldown, the first to recover is the last resort', async () => {
  const pool = await open('fallback')
  for (const [provider, status] of [
    ['one', 401],
    ['two', 429],
    ['three', 402],
  ] as const)
    pool.down.set(provider, status)
  await pool.sendAll(1)
  const uses = (await getLines(pool)).map((line) => line.split(':')[0])
  assert.equal(uses, ['one skipped', 'two last-resort', 'three skipped'])
  pool.down.clear()
  assert.is(await pool.sendAll(1), 'two')
})

test('a target that is cooling down after transient failures is tried last, if maxAttempts allows it', async () => {
  for (const [maxAttempts, use] of [
    [3, 'last-resort'],
    [1, 'skipped'],
  ] as const) {
    const pool = await open('fallback', { limits: { maxAttempts } })
    pool.down.set('one', 503)
    for (let index = 0; index < 5; index++) await pool.world.chat({ model: 'one/m' })
    const uses = (await getLines(pool)).map((line) => line.split(':')[0])
    assert.equal(uses.slice(0, 2), [`one ${use}`, 'two first'])
  }
})

test("a plain model's explanation lists its connections by priority", async () => {
  const pool = await openPool([], { connections: ['two', { provider: 'two', name: 'spare' }] })
  const { targets } = await pool.world.api.explain({ model: 'two/m' })
  assert.equal(
    targets.map(({ connection, use, why, via }) => [connection, use, why, via]),
    [
      ['two', 'first', 'ordered by connection priority', undefined],
      ['spare', 'next', 'ordered by connection priority', undefined],
    ],
  )
})

test('explain reserves the last attempt for another model if the first one has several connections', async () => {
  const connections = [...['a', 'b', 'c'].map((name) => ({ provider: 'one', name })), 'two', 'three']
  const pool = await openPool(['one/m', 'two/m', 'three/m'], { connections })
  assert.equal(await getLines(pool), [
    'one first: pool: listed 1st',
    'one next: pool: listed 1st',
    'one beyond: pool: listed 1st; the last attempt is reserved for another model',
    'two next: pool: listed 2nd',
    'three beyond: pool: listed 3rd',
  ])
  pool.down.set('one', 503)
  assert.is(await pool.sendAll(1), 'one>one>two')
  const { targets } = await pool.world.api.explain({ model: 'one/m' })
  assert.equal(
    targets.map(({ use }) => use),
    ['first', 'next', 'next'],
  )
})

test('explain skips a repeated target the second time', async () => {
  const pool = await openPool(['one/m', 'two/m', 'one/m'])
  assert.equal(await getLines(pool), [
    'one first: pool: listed 1st',
    'two next: pool: listed 2nd',
    'one skipped: already in this list',
  ])
})

test('two models of a provider start at different connections under round-robin', async () => {
  const connections = ['a', 'b'].map((name) => ({ provider: 'one', name, apiKey: name }))
  const respond = () => json({ error: { message: 'down' } }, 500)
  const { world, upstream } = await openPool(['one/m', 'one/other'], {
    connections,
    limits: { maxAttempts: 4 },
    respond,
  })
  await world.api.providers.update('one', { strategy: 'round-robin' })
  const { targets } = await world.api.explain({ model: 'pool' })
  const lines = targets.map(({ connection, model }) => `${connection}/${model}`)
  assert.equal(lines, ['a/m', 'b/m', 'b/other', 'a/other'])
  await world.chat({ model: 'pool' })
  const called = upstream.calls.map(
    ({ headers, body }) => `${headers.get('authorization')?.slice(-1)}/${JSON.parse(body).model}`,
  )
  assert.equal(called, lines)
})

test('each target is explained with its path through combos and providers, and the reason for each step', async () => {
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
        'pool: its turn; inner: listed 1st; two: 1 after the entry whose turn it is',
        'pool:round-robin>inner:fallback>two:round-robin',
      ],
      ['one', 'pool: 1 after the entry whose turn it is', 'pool:round-robin'],
    ],
  )
})

test("a target is skipped if its format doesn't support the request, just like in the actual request", async () => {
  const connections = ['claude', 'one']
  const pool = await openPool(['claude/c', 'one/m'], { connections, catalog: worldCatalog })
  const body = { n: 2, messages: [{ role: 'user', content: 'hi' }] }
  const lines = await getLines(pool, { body })
  assert.match(lines[0] ?? '', /^claude skipped: its format does not support the request: "n"/)
  assert.is(lines[1], 'one first: pool: listed 2nd')
  assert.is(await pool.sendAll(1, body), 'one')
  const sketched = (await getLines(pool, { body: { n: 2 } })).map((line) => line.split(':')[0])
  assert.equal(sketched, ['claude first', 'one next'])
  const { error } = await pool.world.api.explain({ model: 'claude/c', body })
  const response = await pool.world.chat({ model: 'claude/c', ...body })
  const { error: read } = (await response.json()) as ErrorAnswer
  assert.equal([error?.status, error?.message], [response.status, read.message])
})

test("the explanation uses the actual request's size and streaming mode", async () => {
  const body = { messages: [{ role: 'user', content: 'hé' }], stream: true }
  const bytes = new TextEncoder().encode(JSON.stringify({ model: 'pool', ...body })).length
  const entries = (max: number): ComboModel[] => [{ model: 'one/m', when: { bytes: { max }, stream: true } }, 'two/m']
  for (const [max, provider] of [
    [bytes, 'one'],
    [bytes - 1, 'two'],
  ] as const) {
    const pool = await open('conditional', {}, entries(max))
    assert.match((await getLines(pool, { body }))[0] ?? '', `${provider} first`)
    await pool.world.post('/v1/chat/completions', { model: 'pool', ...body })
    assert.is(pool.upstream.providers[0], provider)
  }
  const pool = await open('conditional', {}, [{ model: 'one/m', when: { stream: true } }, 'two/m'])
  const counted = await getLines(pool, { path: '/v1/messages/count_tokens', body: { stream: true } })
  assert.match(counted[0] ?? '', 'two first', 'token counts are never streamed')
})

test('a model without a target is explained with the error that the client would get', async () => {
  const { world } = await open('conditional', {}, [{ model: 'one/m', when: { tools: true } }])
  for (const model of ['poll', 'one', 'pool', 'nobody/m']) {
    const { targets, error, model: requested } = await world.api.explain({ model })
    const response = await world.chat({ model })
    const { error: read } = (await response.json()) as ErrorAnswer
    assert.equal([targets, error?.status, error?.message, requested], [[], response.status, read.message, model])
  }
  const { leftOut } = await world.api.explain({ model: 'pool' })
  assert.equal(leftOut, [{ combo: 'pool', model: 'one/m', unmet: 'tools' }])
})

test('explanations are the same over HTTP and in-process, have no side effects, and contain no secret', async () => {
  const storage = memoryStorage()
  const pool = await open('sticky', { storage })
  await pool.world.api.combos.create({ name: 'turns', models, strategy: 'round-robin' })
  for (const model of ['pool', 'turns', 'one/m']) {
    const request = {
      model,
      body: { user: 'me', messages: [{ role: 'user', content: 'hi' }] },
      headers: { authorization: 'Bearer hidden' },
    }
    const authorization = `Bearer ${token}`
    const response = await pool.world.post('/api/explain', request, { headers: { authorization } })
    assert.is(response.status, 200)
    const text = await response.text()
    assert.equal(JSON.parse(text), await pool.world.api.explain(request))
    for (const secret of [getApiKey('one'), getApiKey('two'), 'hidden', 'one.test', 'sealed'])
      assert.is(text.includes(secret), false)
  }
  assert.is(pool.upstream.calls.length, 0)
  assert.equal(await storage.list('routing/'), [])
  assert.is((await pool.world.post('/api/explain', { model: 'pool' })).status, 401)
})
