import { memoryStorage } from '../../adapters/storage/memory.ts'
import { gatewayError } from '../../src/errors.ts'
import { getGatewayId } from '../../src/features/cloud-sync/cryptography.ts'
import { parseReplicatedRecord } from '../../src/features/cloud-sync/gateway/replica-input.ts'
import { paths, type SyncRequest, type SyncResponse } from '../../src/features/cloud-sync/protocol.ts'
import { createReplica } from '../../src/features/cloud-sync/replica.ts'
import { syncReplicas } from '../../src/features/cloud-sync/sync-replicas.ts'
import type { SyncProgress } from '../../src/features/cloud-sync/sync-types.ts'
import { createGatewayWith } from '../../src/gateway.ts'
import { getWritableStore } from '../../src/records/writable-store.ts'
import type { Storage } from '../../src/types.ts'
import { plant } from '../support/canaries.ts'
import { assert, suite } from '../support/suite.ts'
import { openProxy } from './support/proxy.ts'

const test = suite('a sync between a gateway and a cloud proxy')

const PROVIDER_KEY = 'sk-provider-key-of-the-connection'

/** Opens a gateway that syncs to a proxy. */
async function openWorld(options: Parameters<typeof openProxy>[0] = {}) {
  plant(PROVIDER_KEY)
  const world = openProxy(options)
  const client = await world.enrolled()
  const { gateway, store: plain } = createGatewayWith({ storage: memoryStorage(), clock: world.clock, logger: false })
  const store = getWritableStore(plain, world.clock)
  const id = await getGatewayId(client.kept.publicKey)
  let state: SyncProgress = { mirror: null, stamp: null }
  const requests: SyncRequest[] = []

  async function send(request: SyncRequest): Promise<SyncResponse> {
    requests.push(request)
    const { status, body } = await client.call('POST', paths.replica, request)
    if (status !== 200)
      throw gatewayError('CLOUD_FAILED', { message: String(body.error), data: { refusal: body.code } })
    return body as unknown as SyncResponse // the type of the proxy's responses
  }

  const sync = (create = false) =>
    syncReplicas({
      createReplica: (replicaId) =>
        createReplica({
          store,
          side: 'gateway',
          replicaId,
          validate: parseReplicatedRecord,
          clock: world.clock,
          keepsSecrets: true,
        }),
      send,
      state,
      save: async (next) => {
        state = next
      },
      create,
      signal: new AbortController().signal,
    })

  const getStatus = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` }
    return (await world.current().fetch(new Request('http://proxy.test/v1/models', { headers }))).status
  }

  const cloud = () => world.current().tenant(id).api
  return { ...world, client, id, home: gateway.api, cloud, sync, statusOf: getStatus, requests }
}

async function fillBoth() {
  const world = await openWorld()
  const { home, sync } = world
  const { key, id } = await home.keys.create({ name: 'first' })
  await home.connections.create({ provider: 'openai', name: 'main', apiKey: PROVIDER_KEY })
  await home.combos.create({ name: 'fast', models: ['openai/gpt-5-mini'] })
  await home.aliases.set({ alias: 'quick', model: 'openai/gpt-5-mini' })
  await home.settings.update({ requireApiKey: true })
  assert.equal(await sync(true), { conflicts: [], rejected: [] })
  return { ...world, key, id }
}

test("a sync sends the gateway's records to the cloud, where its operator can read them", async () => {
  const { cloud, home, key, statusOf } = await fillBoth()
  assert.is(await statusOf(key), 200)
  const [here, there] = await Promise.all([home, cloud()].map((api) => api.connections.list()))
  assert.equal(there, here)
  assert.equal(await cloud().combos.list(), await home.combos.list())
  assert.equal(await cloud().aliases.list(), await home.aliases.list())
  assert.is((await cloud().settings.get()).requireApiKey, true)
})

test('a sync preserves all fields of combo entries, in both directions', async () => {
  const { cloud, home, sync, restart } = await fillBoth()
  const models = [
    { model: 'openai/tts-1', weight: 2, voices: { alloy: 'Rachel', Chloé: 'echo' } },
    { model: 'openai/tts-2', when: { headers: { 'x-plan': 'paid' } }, voices: { alloy: 'nova' } },
  ]
  const { id } = await home.combos.create({ name: 'speech', kind: 'tts', models })
  await home.combos.create({ name: 'chat', models: [{ model: 'openai/gpt-5', params: { maxTokens: 9, topP: 0.5 } }] })
  assert.equal(await sync(), { conflicts: [], rejected: [] })
  restart()
  assert.equal(await cloud().combos.list(), await home.combos.list())
  assert.equal((await cloud().combos.get(id)).models, models)
  const changed = [{ model: 'openai/tts-1', voices: { verse: 'Clyde' } }]
  await cloud().combos.update(id, { models: changed })
  assert.equal(await sync(), { conflicts: [], rejected: [] })
  assert.equal((await home.combos.get(id)).models, changed)
})

test("a sync brings the proxy operator's changes to the gateway, including new key values", async () => {
  const { cloud, home, id, key, sync, statusOf, restart } = await fillBoth()
  const created = await cloud().keys.create({ name: 'made at the cloud' })
  await cloud().keys.update(id, { isActive: false })
  await cloud().combos.create({ name: 'slow', models: ['openai/gpt-5'] })
  assert.is((await cloud().keys.get(created.id)).key.key, created.key)
  restart()
  assert.equal(await sync(), { conflicts: [], rejected: [] })
  assert.is((await home.keys.get(created.id)).key.key, created.key)
  assert.is((await home.keys.get(id)).key.isActive, false)
  assert.is((await home.combos.list()).combos.length, 2)
  assert.equal((await cloud().keys.get(created.id)).key, { ...(await home.keys.get(created.id)).key, key: '' })
  assert.equal([await statusOf(created.key), await statusOf(key)], [200, 403])
})

test('a sync releases keys deleted on either side', async () => {
  const { cloud, home, id, key, sync, statusOf, storage } = await fillBoth()
  const created = await cloud().keys.create({ name: 'made at the cloud' })
  await sync()
  await home.keys.delete(created.id)
  await sync()
  assert.is(await statusOf(created.key), 401)
  await cloud().keys.delete(id)
  assert.is(await statusOf(key), 401)
  await sync()
  assert.equal((await home.keys.list()).keys, [])
  for (const prefix of ['directory/', 'claims/']) assert.equal(await storage.list(prefix), [])
})

test('a sync without changes sends one request', async () => {
  const { sync, requests } = await fillBoth()
  requests.length = 0
  await sync()
  assert.is(requests.length, 1)
  assert.equal([requests[0]?.changes, requests[0]?.seen], [[], []])
})

const restore = async (storage: Storage, copy: Awaited<ReturnType<Storage['list']>>) => {
  for (const { key } of await storage.list('')) await storage.delete(key)
  for (const { key, value } of copy) await storage.set(key, value)
}

test('a sync with a proxy restored from an old backup deletes nothing, and updates the proxy', async () => {
  const { cloud, home, id, key, sync, statusOf, storage, restart } = await fillBoth()
  const copy = await storage.list('')
  const later = await home.keys.create({ name: 'later' })
  await home.keys.update(id, { isActive: false })
  await sync()
  await restore(storage, copy)
  restart()
  assert.is(await statusOf(key), 200)
  assert.equal((await sync()).rejected, [])
  assert.equal([await statusOf(key), await statusOf(later.key)], [403, 200])
  assert.is((await home.keys.list()).keys.length, 2)
  assert.is((await cloud().keys.list()).keys.length, 2)
})

test('a sync after the proxy lost its storage deletes nothing, and enabling it again makes both sides equal', async () => {
  const { cloud, home, key, client, sync, statusOf, storage, restart } = await fillBoth()
  await restore(storage, [])
  restart()
  assert.is((await client.open()).body.code, 'NOT_ENROLLED')
  assert.is((await client.open('enrollment-token-with-forty-characters-1')).status, 200)
  const rejected = await sync().catch((error: Error) => error)
  assert.instance(rejected, Error)
  assert.is((await home.keys.list()).keys.length, 1)
  await sync(true)
  assert.is(await statusOf(key), 200)
  assert.equal(await cloud().combos.list(), await home.combos.list())
})
