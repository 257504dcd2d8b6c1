import { assert, suite } from '../support/suite.ts'
import { openFailing, rejectWith } from './support/failing.ts'
import { chatResponse, type ErrorAnswer } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { token } from './support/world.ts'

const test = suite('failing targets')

test('a target that keeps failing is skipped until a probe succeeds', async () => {
  const { down, send, pass, upstream } = await openFailing()
  down.one = rejectWith(503)
  for (let index = 0; index < 5; index++) assert.is(await send(), '200 one/m=503:server, two/m=200')
  assert.is(await send(), '200 one/m=skipped:server, two/m=200')
  pass(6_000)
  assert.is(await send(), '200 one/m=503:server, two/m=200')
  assert.is(await send(), '200 one/m=skipped:server, two/m=200')
  pass(12_000)
  delete down.one
  const before = upstream.calls.length
  assert.is(await send(), '200 one/m=200')
  assert.is(await send(), '200 one/m=200')
  assert.is(upstream.calls.length, before + 2)
})

for (const stop of ['succeeds', 'fails']) {
  test(`exactly one of many concurrent requests sends a probe, and the others use the next target (the probe ${stop})`, async () => {
    const { down, send, pass, upstream } = await openFailing()
    down.one = rejectWith(503)
    for (let index = 0; index < 5; index++) await send()
    pass(6_000)
    if (stop === 'succeeds') delete down.one
    const before = upstream.calls.length
    const responses = await Promise.all(Array.from({ length: 10 }, () => send()))
    assert.is(upstream.providers.slice(before).filter((provider) => provider === 'one').length, 1)
    assert.is(responses.filter((response) => response === '200 one/m=skipped:server, two/m=200').length, 9)
  })
}

test('the next request sends a probe that the retry budget previously blocked', async () => {
  const { down, send, pass, world } = await openFailing({
    combos: { spent: ['two/m', 'three/m'], pair: ['two/m', 'one/m'] },
  })
  down.one = rejectWith(429, { 'retry-after-ms': '100' })
  down.two = rejectWith(503)
  for (let index = 0; index < 20; index++) {
    await send('spent')
    await world.api.health.reset()
  }
  await send('one/m')
  pass(200)
  delete down.one
  assert.is(await send('pair'), '503 two/m=503:server, stopped=retry-budget')
  assert.is(await send('one/m'), '200 one/m=200')
})

test("a probe with a request that can't be sent leaves the target half-open", async () => {
  const { down, pass, world, send } = await openFailing({ connections: ['google'] })
  down.google = rejectWith(429, { 'retry-after': '3' })
  await send('google/g')
  pass(4_000)
  const response = await world.chat({ model: 'google/\ud800', messages: [{ role: 'user', content: 'Hello' }] })
  assert.ok(response.status >= 400)
  const [entry] = (await world.api.health.list()).health
  assert.is(entry?.state, 'half-open')
})

test('a connection with a rejected credential is skipped immediately, and the operator sees the reason', async () => {
  const { down, send, world } = await openFailing()
  down.one = rejectWith(401)
  assert.is(await send(), '200 one/m=401:credentials, two/m=200')
  assert.is(await send(), '200 one/m=skipped:credentials, two/m=200')
  const { connections } = await world.api.connections.list()
  const [first, two] = connections
  assert.is(first?.health?.[0]?.reason, 'credentials')
  assert.match(first?.health?.[0]?.message ?? '', "rejected the connection's credentials")
  assert.is(two?.health, undefined)
  await world.api.connections.update(first?.id ?? '', { apiKey: 'another-credential' })
  delete down.one
  assert.is(await send(), '200 one/m=200', 'a new credential is tried immediately')
})

test("a rejected credential doesn't affect other accounts of the provider", async () => {
  const upstream = fakeUpstream(({ headers }) =>
    headers.get('authorization') === 'Bearer bad-credential' ? rejectWith(401)() : json(chatResponse()),
  )
  const { send } = await openFailing({
    fetch: upstream,
    connections: [
      { provider: 'one', apiKey: 'bad-credential', priority: 1 },
      { provider: 'one', apiKey: 'good-credential', priority: 2 },
    ],
  })
  assert.is(await send('one/m'), '200 one/m=401:credentials, one/m=200')
  assert.is(await send('one/m'), '200 one/m=skipped:credentials, one/m=200')
})

test('when all targets are in cooldown, the first one due to recover is tried', async () => {
  const { down, send } = await openFailing()
  down.one = rejectWith(429, { 'retry-after': '60' })
  down.two = rejectWith(429, { 'retry-after': '5' })
  assert.match(await send(), /^429 one\/m=429:rate-limit, two\/m=429:rate-limit$/)
  assert.is(await send(), '429 one/m=skipped:rate-limit, two/m=skipped:rate-limit, two/m=429:rate-limit')
  delete down.two
  assert.is(await send(), '200 one/m=skipped:rate-limit, two/m=skipped:rate-limit, two/m=200')
})

test('a target that is being probed takes precedence over targets in cooldown', async () => {
  const { down, send, pass, upstream } = await openFailing()
  down.one = rejectWith(429, { 'retry-after': '60' })
  down.two = rejectWith(429, { 'retry-after': '5' })
  await send()
  pass(6_000)
  delete down.two
  const skipped = 'one/m=skipped:rate-limit, two/m'
  const responses = await Promise.all([send(), send()])
  assert.equal(responses.sort(), [`200 ${skipped}=200`, `200 ${skipped}=skipped:rate-limit, two/m=200`])
  assert.equal(upstream.providers, ['one', 'two', 'two', 'two'])
})

test("a connection's health lists at most 20 failures, the most important first", async () => {
  const { down, send, world } = await openFailing()
  down.one = () => json({ error: { message: 'x'.repeat(1_000), code: 'model_not_found' } }, 404)
  for (let index = 0; index < 40; index++) await send(`one/made-up-${index}`)
  down.one = rejectWith(401)
  await send('one/m')
  const { connections } = await world.api.connections.list()
  const health = connections.find(({ provider }) => provider === 'one')?.health ?? []
  assert.is(health.length, 20)
  assert.is(health[0]?.reason, 'credentials')
  assert.ok(health.every(({ message }) => message.length <= 300))
  assert.is((await world.api.health.list()).health.length, 41)
})

test('health can be read and reset over HTTP', async () => {
  const { down, send, world } = await openFailing()
  const call = async (method: string, path: string) => {
    const response = await world.gateway.fetch(
      new Request(`http://gateway${path}`, { method, headers: { authorization: `Bearer ${token}` } }),
    )
    return {
      status: response.status,
      body: (await response.json()) as {
        health?: Array<{ state: string; connectionId?: string }>
        damaged?: unknown[]
      } & Partial<ErrorAnswer>,
    }
  }
  const { status, body: first } = await call('GET', '/api/health')
  assert.equal([status, first.health, first.damaged], [200, [], []])
  down.one = rejectWith(401)
  await send()
  const { body } = await call('GET', '/api/health')
  const [entry] = body.health ?? []
  assert.is(entry?.state, 'cooling')
  assert.not.match(JSON.stringify(body), 'secret-of')
  assert.equal(await call('DELETE', '/api/health/nobody'), { status: 404, body: { error: 'Connection not found' } })
  assert.match(await send(), /skipped/)
  assert.equal(await call('DELETE', `/api/health/${entry?.connectionId}`), { status: 200, body: { success: true } })
  assert.match(await send(), /^200 one\/m=401:credentials/)
  assert.equal(await call('DELETE', '/api/health'), { status: 200, body: { success: true } })
  assert.equal((await world.api.health.list()).health, [])
})

test('if a client disconnects during its probe, another request sends the probe', async () => {
  const { down, send, pass, world } = await openFailing({ combos: {} })
  down.one = rejectWith(401)
  await send('one/m')
  pass(70_000)
  const controller = new AbortController()
  down.one = () => {
    controller.abort()
    return json(chatResponse())
  }
  await world.chat({ model: 'one/m' }, { signal: controller.signal }).catch(() => {})
  delete down.one
  assert.is(await send('one/m'), '200 one/m=200')
})

test('the last attempt is saved for another provider if one provider has rejected every key so far', async () => {
  const dead = (...names: string[]) => names.map((name) => ({ provider: 'one', name, apiKey: `dead-key-${name}` }))
  const upstream = fakeUpstream(({ provider }) => (provider === 'one' ? rejectWith(401)() : json(chatResponse())))
  const setting = { fetch: upstream, connections: [...dead('a', 'b', 'c', 'd'), 'two'] }
  const { send, world } = await openFailing(setting)
  assert.is(
    await send(),
    '200 one/m=401:credentials, one/m=401:credentials, one/m=skipped:credentials, one/m=skipped:credentials, two/m=200',
  )
  await world.api.health.reset()
  assert.match(
    await send('one/m'),
    /^502 (?:one\/m=401:credentials, ){3}stopped=max-attempts$/,
    'there is no other provider',
  )
  const { send: askTwice } = await openFailing({ ...setting, limits: { maxAttempts: 2 } })
  assert.match(await askTwice(), /^200 one\/m=401:credentials, (?:one\/m=skipped:credentials, ){3}two\/m=200$/)
  const { send: askOnce } = await openFailing({ ...setting, limits: { maxAttempts: 1 } })
  assert.is(await askOnce(), '502 one/m=401:credentials, stopped=max-attempts')
})

test('the last attempt is saved for another model if every key so far has failed for one model', async () => {
  const upstream = fakeUpstream(({ provider }) => (provider === 'one' ? rejectWith(503)() : json(chatResponse())))
  const connections = [...['a', 'b', 'c', 'd'].map((name) => ({ provider: 'one', name })), 'two']
  const { send } = await openFailing({ fetch: upstream, connections })
  assert.is(
    await send(),
    '200 one/m=503:server, one/m=503:server, one/m=skipped:server, one/m=skipped:server, two/m=200',
  )
})

test("the last attempt isn't saved if two models have failed, or if there is no other model", async () => {
  const upstream = fakeUpstream(({ provider }) => (provider === 'one' ? rejectWith(503)() : json(chatResponse())))
  const connections = ['one', 'two']
  const combos = { chain: ['one/a', 'one/b', 'one/c', 'two/m'] }
  const { send } = await openFailing({ fetch: upstream, connections, combos })
  assert.is(await send(), '503 one/a=503:server, one/b=503:server, one/c=503:server, stopped=max-attempts')
  const keys = ['a', 'b', 'c', 'd'].map((name) => ({ provider: 'one', name }))
  const { send: askOne } = await openFailing({ fetch: upstream, connections: keys, combos: {} })
  assert.match(await askOne('one/m'), /^503 (?:one\/m=503:server, ){3}stopped=max-attempts$/)
})
