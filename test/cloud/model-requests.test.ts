import { getGatewayId } from '../../src/features/cloud-sync/cryptography.ts'
import { servedRoutes } from '../support/served-routes.ts'
import { assert, suite } from '../support/suite.ts'
import type { Client } from './support/client.ts'
import { ENROLLMENT_TOKEN, openProxy } from './support/proxy.ts'
import { keyState, markDeleted, settingsState } from './support/states.ts'

const test = suite('model requests at a cloud proxy')

type World = ReturnType<typeof openProxy>

async function send(world: World, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await world.proxy.fetch(new Request(`http://proxy.test${path}`, { method, headers }))
  const text = await response.text()
  return { status: response.status, headers: response.headers, text }
}

const withKey = (value: string) => ({ authorization: `Bearer ${value}` })
const models = async (world: World, value: string) => (await send(world, '/v1/models', withKey(value))).status

/** Creates a replica with these states, and returns the data for the next sync. */
async function mirrored(client: Client, states: Parameters<typeof client.sync>[0]['changes'] = []) {
  const { mirror, stamp } = await client.sync({ create: true })
  const response = await client.sync({ mirror, stamp, changes: states })
  return { mirror, stamp: response.stamp, verdicts: response.verdicts }
}

test("model requests need a known key even if the replica requires none, and errors use the client's format", async () => {
  const world = openProxy()
  const client = await world.enrolled()
  const { value, state } = await keyState('one')
  await mirrored(client, [settingsState(false), state])
  const { value: unknown } = await keyState('other')
  for (const credentials of [
    {},
    withKey(unknown),
    withKey(ENROLLMENT_TOKEN),
    { 'x-api-key': 'sk-provider-key-of-someone' },
  ]) {
    const response = await send(world, '/v1/models', credentials)
    assert.is(response.status, 401)
    assert.type(JSON.parse(response.text).error.message, 'string')
  }
  const google = await send(world, '/v1beta/models', { 'x-goog-api-key': unknown })
  assert.is(JSON.parse(google.text).error.code, 401)
  assert.is(await models(world, value), 200)
  const probe = await send(world, '/v1/chat/completions', {}, 'OPTIONS')
  assert.is(probe.status, 204)
})

test('model requests are rejected as soon as their key is paused or deleted, and accepted once resumed', async () => {
  const world = openProxy()
  const client = await world.enrolled()
  const { value, state } = await keyState('one')
  const { mirror, stamp } = await mirrored(client, [state])
  assert.is(await models(world, value), 200)
  const { state: paused } = await keyState('one', { value, edits: 2, isActive: false })
  const second = await client.sync({ mirror, stamp, changes: [paused] })
  assert.is(await models(world, value), 403)
  const { state: resumed } = await keyState('one', { value, edits: 3 })
  const third = await client.sync({ mirror, stamp: second.stamp, changes: [resumed] })
  assert.is(await models(world, value), 200)
  await client.sync({ mirror, stamp: third.stamp, changes: [markDeleted(state, 4)] })
  assert.is(await models(world, value), 401)
})

test('model requests go to the gateway that currently owns their key, even after a change of owner', async () => {
  const world = openProxy()
  const [one, other] = [await world.enrolled(), await world.enrolled()]
  const { value, state } = await keyState('one')
  const first = await mirrored(one, [state])
  assert.is(await models(world, value), 200)
  const second = await mirrored(other, [state])
  assert.is((second.verdicts[0] as { code: string }).code, 'KEY_TAKEN')
  await one.sync({ mirror: first.mirror, stamp: first.stamp, changes: [markDeleted(state, 2)] })
  await other.sync({ mirror: second.mirror, stamp: second.stamp, changes: [state] })
  assert.is(await models(world, value), 200)
  await one.call('DELETE', '/cloud/1/mirror')
  assert.is(await models(world, value), 200)
  await other.call('DELETE', '/cloud/1/mirror')
  assert.is(await models(world, value), 401)
})

test("model requests with a cached key don't read the directory", async () => {
  const world = openProxy()
  const client = await world.enrolled()
  const { value, state } = await keyState('one')
  await mirrored(client, [state])
  await models(world, value)
  const reads: string[] = []
  const { get } = world.storage
  world.storage.get = (key) => {
    reads.push(key)
    return get(key)
  }
  world.restart()
  await models(world, value)
  assert.is(reads.filter((key) => key.startsWith('directory/')).length, 1)
  reads.length = 0
  for (let more = 0; more < 5; more++) await models(world, value)
  assert.equal(reads, [])
})

test('model requests use no data from an old replica once its gateway has a new replica', async () => {
  const world = openProxy()
  const client = await world.enrolled()
  const { value, state } = await keyState('one')
  const first = await mirrored(client, [state])
  assert.is(await models(world, value), 200)
  const second = await mirrored(client) // the gateway forgot the first replica
  assert.is.not(second.mirror, first.mirror)
  assert.is(await models(world, value), 401)
  const gone = await client.call('POST', '/cloud/1/mirror', {
    ...first,
    verdicts: undefined,
    changes: [state],
    seen: [],
  })
  assert.equal([gone.status, gone.body.code], [409, 'MIRROR_GONE'])
})

test("a proxy doesn't serve the management API or any path outside its own", async () => {
  const world = openProxy()
  for (const path of ['/api', '/api/keys', '/api/sync/cloud', '/elsewhere', '/cloudy'])
    for (const method of ['GET', 'POST', 'DELETE']) {
      assert.is((await send(world, path, {}, method)).status, 404, path)
      assert.is(world.proxy.matches(`http://proxy.test${path}`), false)
      assert.is(await world.proxy.handle(new Request(`http://proxy.test${path}`, { method })), undefined)
    }
  for (const path of ['/v1', '/v1/x', '/v1beta/x', '/health', '/cloud', '/cloud/1'])
    assert.is(world.proxy.matches(`http://proxy.test${path}`), true)
  assert.is(JSON.parse((await send(world, '/')).text).name, 'signalbox-cloud')
  assert.is(JSON.parse((await send(world, '/health')).text).status, 'ok')
  await world.proxy.close()
  assert.is((await send(world, '/health')).status, 503)
  assert.is((await send(world, '/v1/models')).status, 503)
})

test('a proxy operator sees each gateway that has a replica', async () => {
  const world = openProxy()
  const [first, second] = [await world.enrolled(), await world.enrolled()]
  await world.enrolled()
  const ids = await Promise.all([first, second].map((client) => getGatewayId(client.kept.publicKey)))
  assert.equal(await world.proxy.tenants.list(), { tenants: [] })
  for (const client of [first, second]) await mirrored(client)
  const { tenants } = await world.proxy.tenants.list()
  assert.equal(
    tenants.map(({ id }) => id),
    ids.toSorted(),
  )
  assert.equal(tenants[0], {
    id: tenants[0]?.id,
    createdAt: '2026-01-01T00:00:00.000Z',
    lastSyncAt: '2026-01-01T00:00:00.000Z',
  })
})

test("the proxy serves every client route of a tenant's gateway", async () => {
  const world = openProxy()
  const client = await world.enrolled()
  const { value, state } = await keyState('one')
  await mirrored(client, [state])
  const headers = { ...withKey(value), 'content-type': 'application/json' }
  const routes = servedRoutes.filter(({ path }) => !path.startsWith('/api'))
  assert.ok(routes.length > 40, `${routes.length}`)
  for (const { method, path } of routes) {
    const { text } = await send(world, path.replace(/:\w+\+?|\{\w+\}/g, 'x'), headers, method)
    assert.not.match(text, /does not exist here|Nothing is served/, `${method} ${path}`)
  }
})
