import { rejectWith } from '../pipeline/support/failing.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, never, sse } from '../pipeline/support/upstream.ts'
import { token } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { openPool, type Pool, type PoolOptions } from './support/pool.ts'

const test = suite('draining connections')

/** Opens a gateway with the combo `pool`. `drain` starts or stops draining a provider's connections. */
async function pool(combo: Parameters<typeof openPool>[0], options: PoolOptions = {}) {
  const opened = await openPool(combo, options)
  return { ...opened, drain: (provider: string, draining = true) => drain(opened, provider, draining) }
}

async function drain({ world: { api } }: Pick<Pool, 'world'>, provider: string, draining: boolean) {
  for (const connection of (await api.connections.list()).connections)
    if (connection.provider === provider) await api.connections.update(connection.id, { draining })
}

test('while a connection drains, new requests go to other connections, and return to it afterward', async () => {
  for (const strategy of ['fallback', 'round-robin', 'least-busy', 'weighted', 'random'] as const) {
    const { sendAll, drain, world } = await pool({ models: ['one/m', 'two/m'], strategy })
    await drain('one')
    assert.is(await sendAll(4), 'two two two two', strategy)
    const response = await world.chat({ model: 'pool' })
    if (strategy === 'fallback')
      assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=skipped:draining;via=pool:fallback, two/m=200')
    await drain('one', false)
    assert.match(await sendAll(20), 'one', strategy)
  }
})

test('a draining target gets no requests, even if the other target fails or is in cooldown', async () => {
  const { sendAll, drain, down } = await pool(['one/m', 'two/m'])
  await drain('one')
  down.set('two', 503)
  assert.is(await sendAll(6), 'two two two two two two')
})

test('a request fails with a 503 and the reason if all of its connections are draining', async () => {
  const { upstream, drain, world } = await pool(['one/m', 'two/m'])
  for (const provider of ['one', 'two']) await drain(provider)
  for (const [model, attempts] of [
    ['pool', 'one/m=skipped:draining;via=pool:fallback, two/m=skipped:draining'],
    ['one/m', 'one/m=skipped:draining'],
  ] as const) {
    const response = await world.chat({ model })
    assert.is(response.status, 503)
    assert.match(await response.text(), `All connections for the model \\"${model}\\" are draining`)
    assert.is(response.headers.get('x-signalbox-attempts'), attempts)
  }
  const inMessages = await world.messages({ model: 'pool' })
  assert.is(inMessages.status, 503)
  assert.match(await inMessages.text(), /"type":"error".*are draining/)
  assert.is(upstream.calls.length, 0)
})

test('in-flight requests on a draining connection finish', async () => {
  let respond = (_: Response) => {}
  const upstream = fakeUpstream(({ body }) => {
    if (JSON.parse(body).stream) return sse(chatEvents())
    return new Promise<Response>((resolve) => {
      respond = resolve
    })
  })
  const opened = await openPool(['one/m'], { fetch: upstream })
  const full = opened.world.chat({ model: 'pool' })
  const stream = await opened.world.chat({ model: 'pool', stream: true })
  while (upstream.calls.length < 2) await new Promise((resolve) => setImmediate(resolve))
  await drain(opened, 'one', true)
  respond(json(chatResponse()))
  assert.is((await full).status, 200)
  assert.match(await stream.text(), 'DONE')
})

test('a draining connection keeps the sessions that it has served, and other sessions move', async () => {
  const { sendAll, drain, world } = await pool({ models: ['one/m', 'two/m'], strategy: 'sticky' })
  const users = Array.from({ length: 12 }, (_, index) => `user-${index}`)
  const known = users.slice(0, 6)
  const homes = new Map<string, string>()
  for (const user of known) homes.set(user, await sendAll(1, { user }))
  const isAtOne = (user: string) => homes.get(user) === 'one'
  assert.ok(known.some(isAtOne) && !known.every(isAtOne), 'each target has some sessions')
  await drain('one')
  for (const user of known) assert.is(await sendAll(1, { user }), homes.get(user), user)
  for (const user of users.slice(6)) assert.is(await sendAll(1, { user }), 'two', user)
  await drain('one', false)
  for (const user of users.slice(6)) assert.is(await sendAll(1, { user }), 'two', 'a session stays where it started')
  await drain('one')
  await world.clock.advance(61 * 60_000)
  for (const user of known) assert.is(await sendAll(1, { user }), 'two', 'after an hour, it counts as a new session')
})

test('existing sessions stay on a draining connection of a provider with the sticky strategy', async () => {
  const connections = ['a', 'b'].map((name) => ({ provider: 'one', name, apiKey: `key-of-${name}` }))
  const opened = await openPool([], { connections })
  const { world, upstream } = opened
  await world.api.providers.update('one', { strategy: 'sticky' })
  const keyFor = async (user: string) => {
    await (await world.chat({ model: 'one/m', user })).text()
    return upstream.calls.at(-1)?.headers.get('authorization')?.slice('Bearer key-of-'.length)
  }
  // Connection IDs are random and determine where a session goes. Eight sessions might all go to the same connection, but 64 won't.
  const homes = new Map<string, string | undefined>()
  for (let index = 0; index < 64 && (index < 8 || new Set(homes.values()).size < 2); index++)
    homes.set(`user-${index}`, await keyFor(`user-${index}`))
  assert.equal([...new Set(homes.values())].sort(), ['a', 'b'])
  const [a] = (await world.api.connections.list()).connections
  await world.api.connections.update(a?.id ?? '', { draining: true })
  for (const user of homes.keys()) assert.is(await keyFor(user), homes.get(user), user)
  for (let index = 0; index < 8; index++) assert.is(await keyFor(`new-${index}`), 'b')
})

test('explain shows which targets are draining', async () => {
  const { drain, world } = await pool(['one/m', 'two/m'])
  await drain('one')
  const { targets } = await world.api.explain({ model: 'pool' })
  assert.equal(
    targets.map(({ use, why }) => `${use}: ${why}`),
    [
      'skipped: its connection is draining and only accepts requests from its existing sessions',
      'first: pool: listed 2nd',
    ],
  )
  await drain('two')
  const { error } = await world.api.explain({ model: 'pool' })
  assert.is(error?.status, 503)
  assert.is(error?.code, 'DRAINING')
})

test('draining can be set, read, and reset over HTTP and in-process', async () => {
  const { world } = await openPool([], { connections: [] })
  const call = async (method: string, path: string, body?: object) => {
    const response = await world.gateway.fetch(
      new Request(`http://gateway${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
    return { status: response.status, body: await response.json() }
  }
  const created = await call('POST', '/api/connections', { provider: 'one', apiKey: 'secret-of-one', draining: true })
  assert.is(created.status, 201)
  assert.is(created.body.draining, true)
  const path = `/api/connections/${created.body.id}`
  assert.is((await call('PUT', path, { name: 'renamed' })).body.draining, true)
  assert.is((await call('GET', '/api/connections')).body.connections[0].draining, true)
  assert.is('draining' in (await call('PUT', path, { draining: false })).body, false)
  assert.is((await world.api.connections.update(created.body.id, { draining: true })).draining, true)
  assert.equal(await call('PUT', path, { draining: 'yes' }), {
    status: 400,
    body: { error: '"draining" must be true or false' },
  })
})

test("/api/health shows each target's state, failure rate, and cooldown reason and end", async () => {
  const { world, down, drain, sendAll } = await pool(['one/m', 'two/m'], { connections: ['one', 'two', 'three'] })
  const getTargets = async () => (await world.api.health.list()).targets
  assert.equal(
    (await getTargets()).map(({ provider, model, state, calls }) => ({ provider, model, state, calls })),
    ['one', 'two', 'three'].map((provider) => ({ provider, model: undefined, state: 'ok', calls: 0 })),
  )
  await sendAll(2)
  down.set('one', 503)
  await sendAll(3)
  await drain('three')
  const [first, two, three] = await getTargets()
  assert.equal(
    { model: first?.model, state: first?.state, calls: first?.calls, failureShare: first?.failureShare },
    { model: 'm', state: 'cooling', calls: 5, failureShare: 0.6 },
  )
  assert.equal([first?.level, first?.reason, first?.message], ['model', 'server', 'down'])
  const waitMs = Date.parse(first?.until ?? '') - world.clock.now()
  assert.ok(waitMs >= 5_000 && waitMs <= 5_500, `${waitMs} ms`)
  assert.equal([two?.state, two?.calls, two?.failureShare, two?.until], ['ok', 3, 0, undefined])
  assert.equal([three?.state, three?.model], ['draining', undefined])
  await world.clock.advance(6_000)
  assert.is((await getTargets())[0]?.state, 'probing')
  down.clear()
  await sendAll(1)
  assert.equal([(await getTargets())[0]?.state, (await getTargets())[0]?.reason], ['ok', undefined])
  const response = await world.gateway.fetch(
    new Request('http://gateway/api/health', { headers: { authorization: `Bearer ${token}` } }),
  )
  assert.equal((await response.json()).targets, await getTargets())
})

test("a target shows its connection's cooldown, unless the connection is inactive", async () => {
  const { world } = await openPool([], { connections: ['one'], fetch: fakeUpstream(rejectWith(401)) })
  await world.chat({ model: 'one/m' })
  const [target] = (await world.api.health.list()).targets
  assert.equal([target?.state, target?.level, target?.reason], ['cooling', 'connection', 'credentials'])
  const { id } = (await world.api.connections.list()).connections[0] ?? { id: '' }
  await world.api.connections.update(id, { isActive: false })
  assert.equal((await world.api.health.list()).targets, [])
})

test("an in-flight probe is shown in its target's state", async () => {
  const upstream = fakeUpstream((_, index) => (index === 1 ? rejectWith(401)() : never()))
  const { world } = await openPool([], { connections: ['one'], fetch: upstream })
  await world.chat({ model: 'one/m' })
  await world.clock.advance(70_000)
  const controller = new AbortController()
  const probe = world.chat({ model: 'one/m' }, { signal: controller.signal }).catch(() => {})
  while (upstream.calls.length < 2) await new Promise((resolve) => setImmediate(resolve))
  assert.is((await world.api.health.list()).targets[0]?.state, 'probing')
  controller.abort()
  await probe
})
