import { memoryStorage } from '../../adapters/storage/memory.ts'
import { getGatewayId } from '../../src/features/cloud-sync/cryptography.ts'
import { createCloudProxy } from '../../src/features/cloud-sync/proxy/proxy.ts'
import { mintClientKey } from '../../src/records/key-format.ts'
import { plant } from '../support/canaries.ts'
import { assert, suite } from '../support/suite.ts'
import { createHome } from './support/gateway.ts'
import { ENROLLMENT_TOKEN, openProxy, SECRET } from './support/proxy.ts'
import { connectionState, keyState, settingsState } from './support/states.ts'

const test = suite('tenants of a cloud proxy')

type World = ReturnType<typeof openProxy>

/** Opens a gateway with a replica of one key, and the operator's operations on it. */
async function getTenant(world: World) {
  const home = createHome(await world.enrolled())
  const id = await getGatewayId(home.client.kept.publicKey)
  const { value, state } = await keyState('one')
  await home.enable([settingsState(true), state])
  return { home, id, value, state, api: world.proxy.tenant(id).api }
}

const getStatus = async (world: World, key: string) => {
  const headers = { authorization: `Bearer ${key}` }
  return (await world.proxy.fetch(new Request('http://proxy.test/v1/models', { headers }))).status
}

const getError = (promise: Promise<unknown>): Promise<{ code?: string; status?: number; message: string }> =>
  promise.then(
    () => ({ message: 'it was not rejected' }),
    (error) => error,
  )

test('creating, pausing, and deleting keys in process takes effect immediately', async () => {
  const world = openProxy()
  const { api, value } = await getTenant(world)
  const created = await api.keys.create({ name: 'from the host' })
  assert.is(await getStatus(world, created.key), 200)
  await api.keys.update(created.id, { isActive: false })
  assert.is(await getStatus(world, created.key), 403)
  await api.keys.delete(created.id)
  assert.is(await getStatus(world, created.key), 401)
  await api.keys.update('one', { isActive: false })
  assert.is(await getStatus(world, value), 403)
  const { keys } = await api.keys.list()
  assert.equal(
    keys.map(({ id, key, error }) => ({ id, key, error })),
    [{ id: 'one', key: '', error: undefined }],
  )
})

test('operations on an unknown tenant return NOT_FOUND', async () => {
  const world = openProxy()
  for (const id of ['', 'x', '0'.repeat(64), '../vault', 'constructor']) {
    const { api } = world.proxy.tenant(id)
    for (const work of [api.keys.list(), api.settings.get(), api.combos.list(), world.proxy.tenants.delete(id)])
      assert.is((await getError(work)).code, 'NOT_FOUND', id)
  }
})

test("a tenant can't claim another tenant's key, not even through the operator", async () => {
  const world = openProxy()
  const [first, second] = [await getTenant(world), await getTenant(world)]
  const error = await getError(second.api.keys.put({ name: 'two', key: first.value }))
  assert.is(error.code, 'CLOUD_CONFLICT')
  assert.is(error.status, 409)
  assert.ok(!error.message.includes(first.value))
  const key = mintClientKey()
  await second.api.keys.put({ name: 'two', key })
  assert.is((await getError(first.api.keys.put({ name: 'two', key }))).code, 'CLOUD_CONFLICT')
  await second.api.keys.put({ name: 'two', key: mintClientKey() }) // deleting a key releases its value for other tenants
  await world.clock.advance(60_000)
  await first.api.keys.put({ name: 'two', key })
  assert.is(await getStatus(world, key), 200)
})

test("two tenants can't both claim the same key concurrently through two proxies on one storage", async () => {
  for (let attempt = 0; attempt < 20; attempt++) {
    const world = openProxy()
    const one = await getTenant(world)
    world.restart()
    const other = await getTenant(world)
    const key = mintClientKey()
    const settled = await Promise.allSettled([one, other].map(({ api }) => api.keys.put({ name: 'two', key })))
    assert.equal(settled.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    assert.is(await getStatus(world, key), 200)
    const held = await Promise.all([one, other].map(async ({ api }) => (await api.keys.list()).keys.length))
    assert.equal(held.toSorted(), [1, 2])
  }
})

test('a tenant keeps its data when an operation is rejected', async () => {
  const world = openProxy()
  const { api, value } = await getTenant(world)
  const before = (await world.storage.list('directory/')).length
  for (const input of [{}, { name: ' ' }, { name: 'x', more: 1 }, null])
    assert.is((await getError(Reflect.apply(api.keys.create, undefined, [input]))).code, 'INVALID_REQUEST')
  assert.is((await getError(api.keys.put({ name: 'x', key: 'short' }))).code, 'INVALID_REQUEST')
  assert.is((await getError(api.keys.put({ id: 'other', name: 'x', key: value }))).code, 'INVALID_REQUEST')
  assert.is((await world.storage.list('directory/')).length, before)
  assert.is(await getStatus(world, value), 200)
})

test("deleting a tenant removes all of its data, and no other tenant's data", async () => {
  const world = openProxy()
  const [first, second] = [await getTenant(world), await getTenant(world)]
  assert.equal(await world.proxy.tenants.delete(first.id), { success: true })
  assert.is(await getStatus(world, first.value), 401)
  assert.is(await getStatus(world, second.value), 200)
  const left = (await world.storage.list('')).filter(
    ({ key, value }) => key.includes(first.id) || value.includes(first.id),
  )
  assert.equal(left, [])
  assert.is((await getError(first.api.keys.list())).code, 'NOT_FOUND')
  assert.is((await first.home.client.call('GET', '/cloud/1/sessions')).body.code, 'SESSION_INVALID')
  assert.is((await first.home.client.open()).body.code, 'NOT_ENROLLED')
  await first.home.open()
  assert.is((await getError(first.home.sync([]))).code, 'MIRROR_GONE')
  await first.home.enable([first.state])
  assert.is(await getStatus(world, first.value), 200)
})

test('other proxies on the storage reject a deleted tenant within a second', async () => {
  const { watch: _, ...storage } = memoryStorage()
  const world = openProxy({ storage })
  const { value, home, state } = await getTenant(world)
  const first = world.proxy
  world.restart()
  const send = async () => {
    const headers = { authorization: `Bearer ${value}` }
    return (await first.fetch(new Request('http://proxy.test/v1/models', { headers }))).status
  }
  assert.is(await send(), 200)
  await home.disable()
  await world.clock.advance(1_000)
  assert.is(await send(), 401)
  await home.enable([state])
  await world.clock.advance(1_000)
  assert.is(await send(), 200)
})

test('a key becomes available a minute after the process that claimed it has ended', async () => {
  const world = openProxy()
  const [first, second] = [await getTenant(world), await getTenant(world)]
  const key = mintClientKey()
  const { set, delete: remove } = world.storage
  world.storage.set = (name, ...rest) =>
    name.includes('/keys/') ? Promise.reject(new Error('The process is gone.')) : set(name, ...rest)
  world.storage.delete = () => Promise.reject(new Error('The process is gone.'))
  await getError(first.api.keys.put({ name: 'two', key }))
  Object.assign(world.storage, { set, delete: remove })
  world.restart()
  const { api } = world.proxy.tenant(second.id)
  assert.is((await getError(api.keys.put({ name: 'two', key }))).code, 'CLOUD_CONFLICT')
  await world.clock.advance(60_000)
  await api.keys.put({ name: 'two', key })
  assert.is(await getStatus(world, key), 200)
})

test("a tenant's secrets aren't stored unencrypted", async () => {
  const world = openProxy()
  const { home, api, value } = await getTenant(world)
  const provider = 'sk-provider-key-of-the-connection'
  await home.sync([connectionState('c', provider)])
  const created = await api.keys.create({ name: 'from the host' })
  const held = JSON.stringify(await world.storage.list(''))
  for (const secret of [value, created.key, provider, ENROLLMENT_TOKEN, SECRET]) {
    plant(secret)
    assert.ok(!held.includes(secret), secret)
  }
})

test('createCloudProxy rejects invalid options with advice on what to pass', () => {
  const storage = memoryStorage()
  for (const [options, message] of [
    [undefined, /createCloudProxy takes an options object/],
    [{}, /Call createCloudProxy\(/],
    [{ storage, enrollmentToken: 'short' }, /enrollmentToken must be a string of at least 32 characters/],
    [{ storage, enrolment: 'x'.repeat(32) }, /^enrolment was renamed\. Use enrollmentToken\.$/],
    [{ storage, enrollmentToken: 5 }, /enrollmentToken must be a string/],
    [{ storage, secret: 'short' }, /32 characters/],
    [{ storage, management: { token: 'x' } }, /management is not an option. Known: storage, .*enrollmentToken/],
    [{ storage, basePath: '/x' }, /basePath is not an option/],
  ] as const)
    assert.throws(() => Reflect.apply(createCloudProxy, undefined, [options]), message)
})
