import { memoryStorage } from '../../adapters/storage/memory.ts'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { isGatewayError } from '../../src/errors.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Storage } from '../../src/types.ts'
import { TOKEN } from '../management/open-management.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, never } from '../pipeline/support/upstream.ts'
import { openWorld, token } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('an unavailable storage')

type Fault = 'rejects calls' | 'hangs' | 'is slow' | 'takes 400 ms' | 'loses replies'

/** Opens a gateway whose storage fails between `fail` and `mend`, and another one on the same data whose storage never fails. */
async function open({ watched = true } = {}) {
  const clock = fakeClock()
  const memory = memoryStorage({ clock })
  const gaps: Array<() => void> = []
  let fault: Fault | undefined
  const faulty =
    <Args extends unknown[], T>(action: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      if (fault === 'rejects calls') throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      if (fault === 'hangs') return never()
      if (fault === 'is slow') await clock.sleep(4_000)
      if (fault === 'takes 400 ms') await clock.sleep(400)
      const result = await action(...args)
      return fault === 'loses replies' ? never() : result
    }
  const { watch, ...rest } = memory
  const storage: Storage = {
    ...rest,
    get: faulty(memory.get),
    set: faulty(memory.set),
    delete: faulty(memory.delete),
    list: faulty(memory.list),
    ...(watched && {
      watch: (onChange, onGap) => {
        gaps.push(onGap ?? (() => {}))
        return watch?.((key) => fault === undefined && onChange(key)) ?? (() => {})
      },
    }),
  }
  const upstream = fakeUpstream(() => json(chatResponse()))
  const other = await openWorld({ storage: memory, clock, combos: { pool: ['one/m'] } })
  const open = () => openWorld({ storage, clock, connections: [], fetch: upstream })
  const world = await open()
  const { key, id } = await other.api.keys.create({ name: 'team' })
  const status = async (credential?: string, by = world) =>
    (await by.chat({ model: 'pool' }, credential === undefined ? {} : { headers: { 'x-api-key': credential } })).status
  return {
    ...{ clock, other, world, key, id, status, open },
    fail: (mode: Fault) => {
      fault = mode
    },
    mend: () => {
      fault = undefined
      for (const gap of gaps) gap()
    },
  }
}

/** Advances the fake clock until the promise settles. Resolves to its result, and how long it took on that clock. */
async function within<T>(clock: ReturnType<typeof fakeClock>, promise: Promise<T>): Promise<{ result: T; ms: number }> {
  let result: { value: T } | undefined
  let failure: unknown
  const settled = promise.then(
    (value) => {
      result = { value }
    },
    (error: unknown) => {
      failure = error
    },
  )
  const startedAt = clock.now()
  while (!result && failure === undefined && clock.now() - startedAt < 20_000) await clock.advance(50)
  await settled
  if (failure !== undefined) throw failure
  return { result: (result as { value: T }).value, ms: clock.now() - startedAt }
}

for (const watched of [true, false])
  for (const mode of ['rejects calls', 'hangs', 'is slow'] as const)
    test(`cached data stays in effect while the storage ${mode}, ${watched ? 'with' : 'without'} watch`, async () => {
      const { clock, status, key, fail } = await open({ watched })
      assert.is(await status(key), 200)
      fail(mode)
      for (let second = 0; second < 12; second++) {
        const { result, ms } = await within(clock, status(key))
        assert.is(result, 200)
        assert.ok(ms <= 1_000, `took ${ms} ms`) // the settings, the key, and the routes are each read again before the cache is used
        await clock.advance(1_000)
      }
    })

for (const mode of ['rejects calls', 'hangs'] as const) {
  test(`unknown keys, and all requests to a gateway without cached data, get a 503 while the storage ${mode}`, async () => {
    const { clock, status, key, other, fail, mend, open: another } = await open()
    assert.is(await status(key), 200)
    await other.api.settings.update({ requireApiKey: true })
    const unseen = (await other.api.keys.create({ name: 'unseen' })).key
    fail(mode)
    assert.is((await within(clock, status(unseen))).result, 503)
    const empty = await another()
    for (const credential of [key, undefined]) assert.is((await within(clock, status(credential, empty))).result, 503)
    mend()
    assert.equal([await status(unseen), await status(key, empty), await status(undefined, empty)], [200, 200, 401])
  })

  test(`each change gets a 503 within six seconds, and has no effect, while the storage ${mode}`, async () => {
    const { clock, world, id, other, fail, mend } = await open()
    const manage = async (method: string, path: string, body: object) => {
      const response = await world.gateway.fetch(
        new Request(`http://gateway/api/${path}`, {
          method,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      )
      return { status: response.status, body: await response.json() }
    }
    await world.api.combos.list()
    await world.api.keys.list()
    fail(mode)
    for (const [method, path, body] of [
      ['PUT', `keys/${id}`, { isActive: false }],
      ['POST', 'keys', { name: 'new' }],
      ['POST', 'combos', { name: 'new', models: ['one/m'] }],
      ['PATCH', 'settings', { requireApiKey: true }],
      ['PUT', 'models/aliases', { alias: 'new', model: 'one/m' }],
      ['POST', 'connections', { provider: 'one', apiKey: 'sk-new-one' }],
    ] as const) {
      const { result, ms } = await within(clock, manage(method, path, body))
      assert.is(result.status, 503, path)
      assert.match(result.body.error, /storage/)
      assert.ok(ms <= 6_000, `${path} took ${ms} ms`)
    }
    mend()
    assert.is((await other.api.keys.list()).keys.length, 1)
    assert.is((await other.api.keys.get(id)).key.isActive, true)
    assert.is((await other.api.settings.get()).requireApiKey, false)
  })
}

test('changes made by other instances during a storage outage are visible within a second afterward', async () => {
  for (const watched of [true, false]) {
    const { clock, status, key, id, other, fail, mend } = await open({ watched })
    assert.is(await status(key), 200)
    fail('rejects calls')
    await other.api.keys.update(id, { isActive: false })
    await other.api.combos.create({ name: 'later', models: ['two/m'] })
    await clock.advance(10_000)
    assert.is(await status(key), 200)
    mend()
    await clock.advance(1_000)
    assert.is(await status(key), 403)
  }
})

for (const watched of [true, false])
  for (const mode of ['takes 400 ms', 'is slow'] as const)
    test(`lists show another gateway's changes immediately while the storage ${mode}, ${watched ? 'with' : 'without'} watch`, async () => {
      const { clock, world, id, other, fail } = await open({ watched })
      const { id: groupId } = await other.api.groups.create({ name: 'before' })
      const headers = { authorization: `Bearer ${token}` }
      const listKeys = async () =>
        (await world.gateway.fetch(new Request('http://gateway/api/keys', { headers }))).json()
      const read = async () => {
        const { api } = world
        const [{ keys }, { groups }, group, { combos }, { aliases }, { models }, { connections }, settings] =
          await Promise.all([
            listKeys(),
            api.groups.list(),
            api.groups.get(groupId),
            api.combos.list(),
            api.aliases.list(),
            api.customModels.list(),
            api.connections.list(),
            api.settings.get(),
          ])
        const names = [...keys, ...groups, group, ...combos].map(({ name }) => name)
        return [...names, Object.keys(aliases).join(), models.length, connections.length, settings.requireApiKey]
      }
      assert.equal(await read(), ['team', 'before', 'before', 'pool', '', 0, 4, false])
      const { api } = other
      await api.keys.update(id, { name: 'after' })
      await api.groups.update(groupId, { name: 'after' })
      await api.combos.create({ name: 'later', models: ['one/m'] })
      await api.aliases.set({ alias: 'short', model: 'one/m' })
      await api.customModels.create({ providerAlias: 'one', id: 'own' })
      await api.connections.create({ provider: 'one', apiKey: 'sk-new' })
      await api.settings.update({ requireApiKey: true })
      await clock.advance(1_000)
      fail(mode)
      const { result, ms } = await within(clock, read())
      assert.equal(result, ['after', 'after', 'after', 'pool', 'later', 'short', 1, 5, true])
      assert.ok(ms <= 5_000, `took ${ms} ms`)
    })

for (const mode of ['rejects calls', 'hangs'] as const)
  test(`lists fall back to cached data within five seconds while the storage ${mode}`, async () => {
    const { clock, world, open: another, fail } = await open({ watched: false })
    assert.is((await world.api.keys.list()).keys.length, 1)
    await clock.advance(1_000)
    fail(mode)
    for (const maxMs of [5_000, 300, 300]) {
      const { result, ms } = await within(clock, world.api.keys.list())
      assert.is(result.keys.length, 1)
      assert.ok(ms <= maxMs, `took ${ms} ms`)
      await clock.advance(1_000)
    }
    const empty = await another()
    const failed = await within(clock, empty.api.keys.list()).catch((error: unknown) => error)
    assert.ok(isGatewayError(failed, 'STORAGE_UNAVAILABLE'))
  })

for (const watched of [true, false])
  for (const mode of ['rejects calls', 'hangs', 'is slow'] as const)
    test(`changes that a gateway made before an outage stay in effect while the storage ${mode}, ${watched ? 'with' : 'without'} watch`, async () => {
      const { clock, world, status, key, id, fail } = await open({ watched })
      const { key: renamed, id: renamedId } = await world.api.keys.create({ name: 'renamed' })
      assert.equal([await status(key), await status(renamed)], [200, 200])
      await world.api.keys.update(renamedId, { name: 'again' })
      await world.api.keys.update(id, { isActive: false })
      await world.api.combos.create({ name: 'made', models: ['two/m'] })
      const [pool] = (await world.api.combos.list()).combos
      await world.api.combos.update(pool?.id ?? '', { name: 'moved' })
      const gone = await world.api.combos.create({ name: 'gone', models: ['two/m'] })
      await world.api.combos.delete(gone.id)
      await world.api.aliases.set({ alias: 'short', model: 'one/m' })
      await world.api.settings.update({ requireApiKey: true })
      fail(mode)
      const by = (credential: string | undefined, model: string) =>
        within(
          clock,
          world.chat({ model }, { headers: credential === undefined ? {} : { 'x-api-key': credential } }),
        ).then(({ result, ms }) => {
          assert.ok(ms <= 300, `took ${ms} ms`)
          return result.status
        })
      for (let second = 0; second < 4; second++) {
        assert.is(await by(key, 'made'), 403)
        for (const model of ['made', 'moved', 'short']) assert.is(await by(renamed, model), 200, model)
        assert.is(await by(undefined, 'made'), 401)
        await clock.advance(1_000)
      }
      const { result } = await within(clock, world.chat({ model: 'gone' }, { headers: { 'x-api-key': renamed } }))
      assert.ok([404, 503].includes(result.status), String(result.status))
    })

test('cached data stays in effect after a change has failed because the storage is unavailable', async () => {
  const { clock, world, status, key, id, fail } = await open()
  assert.is(await status(key), 200)
  const [pool] = (await world.api.combos.list()).combos
  fail('rejects calls')
  for (const change of [
    () => world.api.keys.update(id, { isActive: false }),
    () => world.api.settings.update({ requireApiKey: true }),
    () => world.api.combos.update(pool?.id ?? '', { models: ['nowhere/m'] }),
  ]) {
    const { result } = await within(
      clock,
      change().catch((error: unknown) => error),
    )
    assert.ok(isGatewayError(result, 'STORAGE_UNAVAILABLE'))
  }
  assert.equal([await status(key), await status()], [200, 200])
})

test("after the storage's reply to a change is lost, all gateways agree on the record", async () => {
  const { clock, world, id, other, fail, mend } = await open()
  await world.api.keys.list()
  fail('loses replies')
  const failed = await within(clock, world.api.keys.update(id, { isActive: false })).catch((error: unknown) => error)
  assert.ok(isGatewayError(failed, 'STORAGE_UNAVAILABLE'))
  mend()
  assert.is((await world.api.keys.get(id)).key.isActive, (await other.api.keys.get(id)).key.isActive)
})

test('unreadable settings cause a 500, even if they could be read before', async () => {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const world = await openWorld({ storage, clock })
  assert.is((await world.chat({})).status, 502) // there is no network
  await storage.set('settings', '{')
  assert.is((await world.chat({})).status, 500)
})

test("cached data stays in effect if the storage's notifications arrive late and twice", async () => {
  const clock = fakeClock()
  const memory = memoryStorage({ clock })
  const other = await openWorld({ storage: memory, clock, combos: { pool: ['one/m'] } })
  const { key } = await other.api.keys.create({ name: 'team' })
  let isUnavailable = false
  let notify = (_key: string) => {}
  const storage: Storage = {
    ...memory,
    async get(at) {
      if (isUnavailable) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      const stored = await memory.get(at)
      notify(at)
      return stored
    },
    async list(prefix, options) {
      if (isUnavailable) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      const found = await memory.list(prefix, options)
      for (const item of found) notify(item.key)
      return found
    },
    watch: (onChange) => {
      notify = onChange
      return () => {}
    },
  }
  const { chat } = await openWorld({ storage, clock, connections: [], fetch: fakeUpstream(() => json(chatResponse())) })
  const status = async () => (await chat({ model: 'pool' }, { headers: { 'x-api-key': key } })).status
  assert.is(await status(), 200)
  isUnavailable = true
  assert.is(await status(), 200)
})

test('changes get a 503 while the storage is full, and model requests still succeed', async () => {
  const memory = memoryStorage()
  let isFull = false
  const set: Storage['set'] = async (...args) => {
    if (isFull) throw Object.assign(new Error('no room'), { code: 'STORAGE_UNWRITABLE' })
    return memory.set(...args)
  }
  const world = await openWorld({ storage: { ...memory, set }, fetch: fakeUpstream(() => json(chatResponse())) })
  isFull = true
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'new' })
  const response = await world.gateway.fetch(new Request('http://gateway/api/keys', { method: 'POST', headers, body }))
  assert.is(response.status, 503)
  assert.match((await response.json()).error, /cannot write its storage/)
  assert.is((await world.chat({})).status, 200)
  isFull = false
  assert.equal((await world.api.keys.list()).keys, [])
})

test("the app gets an unreachable storage's error with its cause, and clients only the error code", async () => {
  const createRefused = (address: string) =>
    Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' })
  const cause = Object.assign(new AggregateError([createRefused('::1:5432'), createRefused('10.0.0.5:5432')]), {
    code: 'ECONNREFUSED',
  })
  const query = async () => Promise.reject(cause)
  const lines: string[] = []
  const reported: unknown[] = []
  const write = (line: string) => void lines.push(line)
  const gateway = createGateway({
    storage: postgresStorage({ query }, { table: 't', migrate: false }),
    secret: 'a secret of at least 32 characters',
    management: { token: TOKEN },
    hooks: { onError: (error) => void reported.push(error) },
    logger: { info: write, warn: write, error: write },
  })
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'one/m', messages: [] })
  for (const [path, init] of [
    ['/v1/chat/completions', { method: 'POST', headers, body }],
    ['/api/keys', { headers }],
  ] as const) {
    const response = await gateway.fetch(new Request(`http://gateway.test${path}`, init))
    assert.is(response.status, 503)
    const text = await response.text()
    assert.match(text, 'The gateway cannot read its storage (ECONNREFUSED). Retry in a moment.')
    assert.not.match(text, /Postgres|10\.0\.0\.5/)
    const error = reported.pop() as Error
    assert.is(error.message, 'The gateway cannot read its storage (ECONNREFUSED). Retry in a moment.')
    assert.match((error.cause as Error).message, 'Postgres is unreachable for the table t (ECONNREFUSED).')
    assert.match(
      lines.pop() ?? '',
      /caused by StorageError: Postgres is unreachable .* \(caused by AggregateError: ECONNREFUSED\)/,
    )
  }
  const inProcess = await gateway.api.keys.list().catch((error: Error) => error.message)
  assert.is(inProcess, 'The gateway cannot read its storage (ECONNREFUSED). Retry in a moment.')
})
