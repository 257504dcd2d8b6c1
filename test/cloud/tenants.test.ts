import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createCloudProxy } from '../../src/cloud/proxy.ts'
import { mintClientKey } from '../../src/store/client-key.ts'
import { gatewayId } from '../../src/sync/cryptography.ts'
import { plant } from '../support/canaries.ts'
import { assert, suite } from '../support/suite.ts'
import { createHome } from './support/home.ts'
import { ENROLMENT, openProxy, SECRET } from './support/proxy.ts'
import { connectionState, keyState, settingsState } from './support/states.ts'

const test = suite('the tenants of a cloud proxy')

type World = ReturnType<typeof openProxy>

/** A gateway with a mirror of one key, and the operations of the host on it. */
async function tenantOf(world: World) {
  const home = createHome(await world.enrolled())
  const id = await gatewayId(home.client.kept.publicKey)
  const { value, state } = await keyState('one')
  await home.enable([settingsState(true), state])
  return { home, id, value, state, api: world.proxy.tenant(id).api }
}

const statusOf = async (world: World, key: string) => {
  const headers = { authorization: `Bearer ${key}` }
  return (await world.proxy.fetch(new Request('http://proxy.test/v1/models', { headers }))).status
}

const refusal = (work: Promise<unknown>): Promise<{ code?: string; status?: number; message: string }> =>
  work.then(
    () => ({ message: 'it was not refused' }),
    (error) => error,
  )

test('tenants are managed in process: keys that are made, paused and deleted there count at once', async () => {
  const world = openProxy()
  const { api, value } = await tenantOf(world)
  const made = await api.keys.create({ name: 'from the host' })
  assert.is(await statusOf(world, made.key), 200)
  await api.keys.update(made.id, { isActive: false })
  assert.is(await statusOf(world, made.key), 403)
  await api.keys.delete(made.id)
  assert.is(await statusOf(world, made.key), 401)
  await api.keys.update('one', { isActive: false })
  assert.is(await statusOf(world, value), 403)
  const { keys } = await api.keys.list()
  assert.equal(
    keys.map(({ id, key, error }) => ({ id, key, error })),
    [{ id: 'one', key: '', error: undefined }],
  )
})

test('tenants that are not known are NOT_FOUND for every operation', async () => {
  const world = openProxy()
  for (const id of ['', 'x', '0'.repeat(64), '../vault', 'constructor']) {
    const { api } = world.proxy.tenant(id)
    for (const work of [api.keys.list(), api.settings.get(), api.combos.list(), world.proxy.tenants.delete(id)])
      assert.is((await refusal(work)).code, 'NOT_FOUND', id)
  }
})

test('tenants cannot have the key of another tenant, by the host either', async () => {
  const world = openProxy()
  const [one, other] = [await tenantOf(world), await tenantOf(world)]
  const error = await refusal(other.api.keys.put({ name: 'two', key: one.value }))
  assert.is(error.code, 'CLOUD_CONFLICT')
  assert.is(error.status, 409)
  assert.ok(!error.message.includes(one.value))
  const key = mintClientKey()
  await other.api.keys.put({ name: 'two', key })
  assert.is((await refusal(one.api.keys.put({ name: 'two', key }))).code, 'CLOUD_CONFLICT')
  await other.api.keys.put({ name: 'two', key: mintClientKey() }) // which releases the value before
  await world.clock.advance(60_000)
  await one.api.keys.put({ name: 'two', key })
  assert.is(await statusOf(world, key), 200)
})

test('two tenants cannot both get one key, when two proxies on one storage are asked at once', async () => {
  for (let attempt = 0; attempt < 20; attempt++) {
    const world = openProxy()
    const one = await tenantOf(world)
    world.restart()
    const other = await tenantOf(world)
    const key = mintClientKey()
    const settled = await Promise.allSettled([one, other].map(({ api }) => api.keys.put({ name: 'two', key })))
    assert.equal(settled.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    assert.is(await statusOf(world, key), 200)
    const held = await Promise.all([one, other].map(async ({ api }) => (await api.keys.list()).keys.length))
    assert.equal(held.toSorted(), [1, 2])
  }
})

test('tenants keep what they have when an operation is refused', async () => {
  const world = openProxy()
  const { api, value } = await tenantOf(world)
  const before = (await world.storage.list('directory/')).length
  for (const input of [{}, { name: ' ' }, { name: 'x', more: 1 }, null])
    assert.is((await refusal(Reflect.apply(api.keys.create, undefined, [input]))).code, 'INVALID_REQUEST')
  assert.is((await refusal(api.keys.put({ name: 'x', key: 'short' }))).code, 'INVALID_REQUEST')
  assert.is((await refusal(api.keys.put({ id: 'other', name: 'x', key: value }))).code, 'INVALID_REQUEST')
  assert.is((await world.storage.list('directory/')).length, before)
  assert.is(await statusOf(world, value), 200)
})

test('tenants lose all of their data, and nothing of others, when they are deleted', async () => {
  const world = openProxy()
  const [one, other] = [await tenantOf(world), await tenantOf(world)]
  assert.equal(await world.proxy.tenants.delete(one.id), { success: true })
  assert.is(await statusOf(world, one.value), 401)
  assert.is(await statusOf(world, other.value), 200)
  const left = (await world.storage.list('')).filter(({ key, value }) => key.includes(one.id) || value.includes(one.id))
  assert.equal(left, [])
  assert.is((await refusal(one.api.keys.list())).code, 'NOT_FOUND')
  assert.is((await one.home.client.call('GET', '/cloud/1/sessions')).body.code, 'SESSION_INVALID')
  assert.is((await one.home.client.open()).body.code, 'NOT_ENROLLED')
  await one.home.open()
  assert.is((await refusal(one.home.sync([]))).code, 'MIRROR_GONE')
  await one.home.enable([one.state])
  assert.is(await statusOf(world, one.value), 200)
})

test('tenants are refused by other proxies on the same storage a second after they are gone at this one', async () => {
  const { watch: _, ...storage } = memoryStorage()
  const world = openProxy({ storage })
  const { value, home, state } = await tenantOf(world)
  const first = world.proxy
  world.restart()
  const ask = async () => {
    const headers = { authorization: `Bearer ${value}` }
    return (await first.fetch(new Request('http://proxy.test/v1/models', { headers }))).status
  }
  assert.is(await ask(), 200)
  await home.disable()
  await world.clock.advance(1_000)
  assert.is(await ask(), 401)
  await home.enable([state])
  await world.clock.advance(1_000)
  assert.is(await ask(), 200)
})

test('tenants leave a key to others when the process that took it has ended', async () => {
  const world = openProxy()
  const [one, other] = [await tenantOf(world), await tenantOf(world)]
  const key = mintClientKey()
  const { set, delete: remove } = world.storage
  world.storage.set = (name, ...rest) =>
    name.includes('/keys/') ? Promise.reject(new Error('The process is gone.')) : set(name, ...rest)
  world.storage.delete = () => Promise.reject(new Error('The process is gone.'))
  await refusal(one.api.keys.put({ name: 'two', key }))
  Object.assign(world.storage, { set, delete: remove })
  world.restart()
  const { api } = world.proxy.tenant(other.id)
  assert.is((await refusal(api.keys.put({ name: 'two', key }))).code, 'CLOUD_CONFLICT')
  await world.clock.advance(60_000)
  await api.keys.put({ name: 'two', key })
  assert.is(await statusOf(world, key), 200)
})

test('tenants have no secret in clear in the storage', async () => {
  const world = openProxy()
  const { home, api, value } = await tenantOf(world)
  const provider = 'sk-provider-key-of-the-connection'
  await home.sync([connectionState('c', provider)])
  const made = await api.keys.create({ name: 'from the host' })
  const held = JSON.stringify(await world.storage.list(''))
  for (const secret of [value, made.key, provider, ENROLMENT, SECRET]) {
    plant(secret)
    assert.ok(!held.includes(secret), secret)
  }
})

test('options that cannot work are refused with what to pass', () => {
  const storage = memoryStorage()
  for (const [options, says] of [
    [undefined, /createCloudProxy takes an object of options/],
    [{}, /Call createCloudProxy\(/],
    [{ storage, enrolment: 'short' }, /enrolment must be text of 32 characters or more/],
    [{ storage, enrolment: 5 }, /enrolment must be text/],
    [{ storage, secret: 'short' }, /32 characters/],
    [{ storage, management: { token: 'x' } }, /management is not an option. Known: storage, .*enrolment/],
    [{ storage, basePath: '/x' }, /basePath is not an option/],
  ] as const)
    assert.throws(() => Reflect.apply(createCloudProxy, undefined, [options]), says)
})
