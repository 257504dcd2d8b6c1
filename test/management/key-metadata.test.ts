import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createClient } from '../../src/client/client.ts'
import { isGatewayError } from '../../src/errors.ts'
import type { ApiKey, Storage } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement, TOKEN } from './open-management.ts'

const test = suite('key metadata')

const metadata = { team: 'ml', 'cost centre': '42', empty: '' }

test('creates a key with metadata, shows it, replaces it completely, and removes it with null', async () => {
  const { expect } = openManagement()
  const created = await expect(201, 'POST', '/api/keys', { name: 'a', metadata })
  assert.equal(Object.keys(created), ['key', 'id', 'name', 'createdAt', 'metadata'])
  const path = `/api/keys/${created.id}`
  const showKey = async () => (await expect(200, 'GET', path)).key as unknown as ApiKey
  assert.equal((await showKey()).metadata, metadata)
  await expect(200, 'PUT', path, { isActive: false })
  assert.equal((await showKey()).metadata, metadata)
  const { key } = (await expect(200, 'PATCH', path, { metadata: { team: 'web' } })) as unknown as { key: ApiKey }
  assert.equal(key.metadata, { team: 'web' })
  assert.equal((await expect(200, 'GET', '/api/keys')).keys[0]?.metadata, { team: 'web' })
  await expect(200, 'PUT', path, { metadata: {} })
  assert.equal((await showKey()).metadata, {})
  await expect(200, 'PUT', path, { metadata: null })
  assert.not.ok('metadata' in (await showKey()))
  const plain = await expect(201, 'POST', '/api/keys', { name: 'b' })
  assert.equal(Object.keys(plain), ['key', 'id', 'name', 'createdAt'])
})

const createMany = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`name ${index}`, 'text']))

const rejected: [metadata: unknown, error: string][] = [
  [createMany(17), '"metadata" must not have more than 16 fields'],
  [{ ['n'.repeat(65)]: 'a' }, '"metadata" has an invalid field name: each must not be longer than 64 characters'],
  [{ '': 'a' }, '"metadata" has an invalid field name: each must not be blank'],
  [{ 'a\nb': 'a' }, '"metadata" has an invalid field name: each must not contain control characters'],
  [{ team: 'x'.repeat(513) }, '"metadata.team" must not be longer than 512 characters'],
  [{ team: 'a\u0000' }, '"metadata.team" must not contain control characters'],
  [{ team: 5 }, '"metadata.team" must be a string'],
  [{ team: null }, '"metadata.team" must be a string'],
  [{ team: { a: 'b' } }, '"metadata.team" must be a string'],
  [['ml'], '"metadata" must be an object'],
  ['ml', '"metadata" must be an object'],
]

test('rejects key metadata that exceeds the limits, and changes nothing', async () => {
  const { expect, expectError } = openManagement()
  const { id } = await expect(201, 'POST', '/api/keys', { name: 'a', metadata })
  for (const [input, error] of rejected) {
    await expectError(400, error, ['PUT', `/api/keys/${id}`, { name: 'changed', metadata: input }])
    await expectError(400, error, ['POST', '/api/keys', { name: 'b', metadata: input }])
  }
  await expectError(400, '"metadata" must be an object', ['POST', '/api/keys', { name: 'b', metadata: null }])
  const { keys } = await expect(200, 'GET', '/api/keys')
  assert.equal(
    keys.map(({ name, metadata: kept }) => [name, kept]),
    [['a', metadata]],
  )
  const most = { ...createMany(15), ['n'.repeat(64)]: 'x'.repeat(512) }
  await expect(200, 'PUT', `/api/keys/${id}`, { metadata: most })
  assert.equal((await expect(200, 'GET', '/api/keys')).keys[0]?.metadata, most)
})

test('puts key metadata, and writes nothing if the put is repeated', async () => {
  const { gateway, storage } = openManagement()
  const { keys } = gateway.api
  const getVersions = async () => (await storage.list('keys/')).map(({ version }) => version)
  await keys.put({ id: 'app', name: 'app', metadata })
  const before = await getVersions()
  const { key } = await keys.put({ id: 'app', name: 'app', metadata: { empty: '', team: 'ml', 'cost centre': '42' } })
  assert.equal([key.metadata, await getVersions()], [metadata, before])
  assert.equal((await keys.put({ id: 'app', name: 'app' })).key.metadata, metadata)
  const value = `sbx_${'v'.repeat(40)}`
  assert.equal((await keys.put({ id: 'app', name: 'app', key: value })).key.metadata, metadata)
  assert.is((await keys.put({ id: 'app', name: 'app', metadata: null })).key.metadata, undefined)
  assert.is((await keys.put({ id: 'new', name: 'new', metadata: null })).key.metadata, undefined)
})

test('the management client can set key metadata', async () => {
  const { gateway } = openManagement()
  const client = createClient({ baseUrl: 'http://gateway.test', token: TOKEN, fetch: gateway.fetch as typeof fetch })
  const created = await client.keys.create({ name: 'a', metadata })
  assert.equal(created.metadata, metadata)
  const { key } = await client.keys.update(created.id, { metadata: { team: 'web' } })
  assert.equal(key.metadata, { team: 'web' })
  assert.not.ok('metadata' in (await client.keys.update(created.id, { metadata: null })).key)
})

test('the OpenAPI document describes key metadata', async () => {
  const { gateway } = openManagement()
  const { components } = await gateway.api.openapi()
  for (const name of ['ApiKey', 'NewApiKey', 'KeysCreateInput', 'KeysUpdateInput']) {
    const { properties, required = [] } = Object(components.schemas?.[name])
    assert.ok(properties.metadata && !required.includes('metadata'), name)
  }
  const { properties } = Object(components.schemas?.KeysUpdateInput)
  assert.equal(
    [properties.metadata.maxProperties, properties.metadata.type, /at most 16/.test(properties.metadata.description)],
    [16, ['object', 'null'], true],
  )
})

/** Opens a gateway with one key, and replaces the key's stored metadata. */
async function damageMetadata(stored: unknown) {
  const storage: Storage = memoryStorage()
  const first = await openWorld({ storage, connections: ['one'] })
  const { key, id } = await first.api.keys.create({ name: 'hurt', metadata })
  const [{ key: location = '', value = '' } = {}] = await storage.list('keys/')
  const envelope = JSON.parse(value)
  await storage.set(location, JSON.stringify({ ...envelope, record: { ...envelope.record, metadata: stored } }))
  const world = await openWorld({ storage, connections: [], fetch: fakeUpstream(() => json(chatResponse())) })
  return { ...world, storage, place: location, key, id }
}

const damages: [stored: unknown, problem: string, shown: object | undefined][] = [
  [5, '"metadata" is a number and is ignored', undefined],
  [null, '"metadata" is null and is ignored', undefined],
  [['ml'], '"metadata" is an array and is ignored', undefined],
  [{ team: 5, a: 'b' }, '"metadata.team" is a number and is ignored', { a: 'b' }],
]

for (const [stored, problem, kept] of damages)
  test(`reports key metadata stored as ${JSON.stringify(stored)}, and the key works`, async () => {
    const { api, chat, recorded, place, key, id, storage } = await damageMetadata(stored)
    assert.is((await chat({}, { headers: { 'x-api-key': key } })).status, 200)
    assert.equal((await api.keys.get(id)).key.metadata, kept)
    const { damaged: known } = await api.health.list()
    assert.equal(known, [{ key: place, problem: `is damaged: ${problem}` }])
    assert.ok(recorded.errors.every((error) => isGatewayError(error, 'RECORD_DAMAGED')))
    await api.keys.update(id, { name: 'renamed' })
    assert.equal(
      JSON.parse((await storage.get(place))?.value ?? '').record.metadata,
      stored,
      'unchanged metadata stays',
    )
    await api.keys.update(id, { metadata: { team: 'mended' } })
    assert.equal([(await api.keys.get(id)).key.metadata, (await api.health.list()).damaged], [{ team: 'mended' }, []])
  })
