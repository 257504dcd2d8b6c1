import { memoryStorage } from '../../adapters/storage/memory.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld, token, type WorldOptions } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the lifecycle of a key')

/** Opens the management API over HTTP. Returns a function that sends model requests with a key. */
async function open(options: WorldOptions = {}) {
  const world = await openWorld({ fetch: fakeUpstream(() => json(chatResponse())), ...options })
  const manage = async (method: string, path: string, body?: object) => {
    const response = await world.gateway.fetch(
      new Request(`http://gateway/api/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
    return { status: response.status, body: await response.json() }
  }
  const status = async (key: string) => (await world.chat({}, { headers: { authorization: `Bearer ${key}` } })).status
  return { world, manage, status }
}

test('creating, pausing, resuming, and deleting a key takes effect on the next request', async () => {
  const { manage, status } = await open()
  await manage('PATCH', 'settings', { requireApiKey: true })
  const created = await manage('POST', 'keys', { name: 'team' })
  const { key, id } = created.body
  assert.is(created.status, 201)
  assert.is(await status(key), 200)
  for (let turn = 0; turn < 3; turn++) {
    assert.is((await manage('PUT', `keys/${id}`, { isActive: false })).status, 200)
    assert.is(await status(key), 403)
    assert.is(await status(key), 403)
    assert.is((await manage('PUT', `keys/${id}`, { isActive: true })).status, 200)
    assert.is(await status(key), 200)
  }
  assert.is((await manage('PUT', `keys/${id}`, { name: 'renamed' })).status, 200)
  assert.is(await status(key), 200)
  assert.is((await manage('DELETE', `keys/${id}`)).status, 200)
  assert.is(await status(key), 401)
})

test('a deleted key that was paused counts as unknown, so it is accepted if no key is required', async () => {
  const { manage, status } = await open()
  const { key, id } = (await manage('POST', 'keys', { name: 'team' })).body
  await manage('PUT', `keys/${id}`, { isActive: false })
  assert.is(await status(key), 403)
  await manage('DELETE', `keys/${id}`)
  assert.is(await status(key), 200)
})

test('`requireApiKey` takes effect on the next request', async () => {
  const { manage, world } = await open()
  assert.is((await world.chat({})).status, 200)
  await manage('PATCH', 'settings', { requireApiKey: true })
  assert.is((await world.chat({})).status, 401)
  await manage('PATCH', 'settings', { requireApiKey: false })
  assert.is((await world.chat({})).status, 200)
})

test('no request is accepted after a pause under load', async () => {
  const { world, status, manage } = await open()
  const { key, id } = await world.api.keys.create({ name: 'busy' })
  let isPaused = false
  const late: number[] = []
  const client = async () => {
    while (late.length < 200) {
      const begunBehind = isPaused
      const actual = await status(key)
      if (begunBehind) late.push(actual)
      await new Promise(setImmediate) // without turns of the event loop, the pause couldn't proceed
    }
  }
  const clients = Array.from({ length: 8 }, client)
  await status(key)
  await manage('PUT', `keys/${id}`, { isActive: false })
  isPaused = true
  await Promise.all(clients)
  assert.ok(late.every((actual) => actual === 403))
})

test("a key that was read just before it was paused isn't cached", async () => {
  const { watch: _, ...storage } = memoryStorage()
  const { world, status } = await open({ storage })
  const { key, id } = await world.api.keys.create({ name: 'team' })
  const { get } = storage
  let release: () => void = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let isFirst = true
  storage.get = async (name) => {
    const stored = await get(name)
    if (name.startsWith('keys/') && isFirst) {
      isFirst = false
      await held
    }
    return stored
  }
  const pending = status(key)
  while (isFirst) await new Promise(setImmediate)
  await world.api.keys.update(id, { isActive: false })
  release()
  assert.is(await pending, 200, 'the key was active when the request arrived')
  assert.is(await status(key), 403)
})

test('changes take effect on other gateways that share a watched storage', async () => {
  const storage = memoryStorage()
  const first = await open({ storage })
  const two = await open({ storage, connections: [] })
  const { key, id } = await first.world.api.keys.create({ name: 'shared' })
  assert.is(await two.status(key), 200)
  await first.world.api.keys.update(id, { isActive: false })
  assert.is(await two.status(key), 403)
  assert.is(await first.status(key), 403)
  await two.world.api.keys.update(id, { isActive: true })
  assert.is(await first.status(key), 200)
  await two.world.api.settings.update({ requireApiKey: true })
  assert.is((await first.world.chat({})).status, 401)
  await first.world.api.keys.delete(id)
  assert.is(await two.status(key), 401)
})

test("without `watch`, another gateway's changes take effect after the documented delay of one second", async () => {
  const { watch: _, ...silent } = memoryStorage()
  const first = await open({ storage: silent })
  const two = await open({ storage: silent, connections: [], clock: first.world.clock })
  const { key, id } = await first.world.api.keys.create({ name: 'shared' })
  assert.equal([await first.status(key), await two.status(key)], [200, 200])
  await first.world.api.keys.update(id, { isActive: false })
  assert.is(await first.status(key), 403, 'the gateway that paused the key knows immediately')
  await first.world.clock.advance(1_000)
  assert.is(await two.status(key), 403)
  await first.world.api.settings.update({ requireApiKey: true })
  await first.world.clock.advance(1_000)
  assert.is((await two.world.chat({})).status, 401)
  const { world } = await open({
    storage: silent,
    limits: { storeMaxAgeMs: 60_000 },
    connections: [],
    clock: first.world.clock,
  })
  assert.is((await world.chat({})).status, 401)
  await first.world.api.settings.update({ requireApiKey: false })
  await first.world.clock.advance(59_999)
  assert.is((await world.chat({})).status, 401)
  await first.world.clock.advance(1)
  assert.is((await world.chat({})).status, 200)
})

test("while settings or keys can't be read, requests get a 500, and only `onError` gets the cause", async () => {
  for (const broken of ['settings', 'keys/']) {
    const { watch: _, ...storage } = memoryStorage()
    const { get, list } = storage
    const { key } = await (await open({ storage })).world.api.keys.create({ name: 'team' })
    const { world, status } = await open({ storage, connections: [] })
    const fail = () => Promise.reject(new Error('disk on fire'))
    storage.get = (name) => (name.startsWith(broken) ? fail() : get(name))
    storage.list = (prefix, range) => (prefix.startsWith(broken) ? fail() : list(prefix, range))
    const response = await world.chat({}, { headers: { authorization: `Bearer ${key}` } })
    assert.is(response.status, 500)
    assert.not.match(await response.text(), /fire|keys\//)
    const listing = await world.gateway.fetch(
      new Request('http://gateway/v1/models', { headers: { 'x-api-key': key } }),
    )
    assert.is(listing.status, 500)
    assert.is(world.recorded.errors.splice(0).length, 2)
    Object.assign(storage, { get, list })
    assert.is(await status(key), 200, 'the key works again')
  }
})

test('requests fail with a 500 if the settings are damaged', async () => {
  const storage = memoryStorage()
  const { world } = await open({ storage })
  await storage.set('settings', '{"requireApiKey":')
  assert.is((await world.chat({})).status, 500)
})
