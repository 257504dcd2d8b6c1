import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createClient } from '../../src/client/client.ts'
import type { Storage } from '../../src/types.ts'
import { chatChunk, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { openWorld, token } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('key groups')

const limits = { requests: { minute: 60 }, usd: { day: 0.5, month: 12.25 }, parallel: 4 }
const full = { name: 'Team A', limits, models: ['one/*'], kinds: ['llm'], metadata: { plan: 'pro' } }

test('creates, shows, lists, changes, pauses, and deletes a group', async () => {
  const { expect, expectError, clock, gateway } = openManagement()
  const baseUrl = 'https://one.test/v1'
  await gateway.api.connections.create({ provider: 'openai-compatible-one', baseUrl, prefix: 'one' })
  const createdAt = new Date(clock.now()).toISOString()
  const created = await expect(201, 'POST', '/api/groups', full)
  assert.equal(created, { id: created.id, isActive: true, ...full, createdAt })
  const path = `/api/groups/${created.id}`
  assert.equal(await expect(200, 'GET', path), created)
  const plain = await expect(201, 'POST', '/api/groups', { name: 'b', isActive: false })
  assert.equal(Object.keys(plain).sort(), ['createdAt', 'id', 'isActive', 'name'])
  assert.is(plain.isActive, false)
  assert.equal((await expect(200, 'GET', '/api/groups')).groups, [created, plain] as unknown[])
  const changed = await expect(200, 'PUT', path, { isActive: false, limits: { parallel: 1 }, models: null })
  const { models: _, ...left } = created
  assert.equal(changed, { ...left, isActive: false, limits: { parallel: 1 } } as unknown)
  assert.equal(await expect(200, 'PUT', path, { ...changed, isActive: true }), { ...changed, isActive: true })
  await expect(200, 'PATCH', path, { limits: null, kinds: null, metadata: null, name: 'Team B' })
  assert.equal(await expect(200, 'GET', path), { id: created.id, name: 'Team B', isActive: true, createdAt } as unknown)
  assert.equal(await expect(200, 'DELETE', path), { success: true } as unknown)
  await expectError(404, 'Group not found', ['GET', path])
  await expectError(404, 'Group not found', ['PUT', path, { name: 'x' }])
  await expectError(404, 'Group not found', ['DELETE', path])
})

const EMPTY = 'must not be empty. For no restriction, send null or omit it'
const rejected: [given: object, error: string][] = [
  [{ name: ' ' }, '"name" must not be blank'],
  [{ isActive: 'no' }, '"isActive" must be true or false'],
  [{ limits: {} }, `"limits" ${EMPTY}`],
  [{ limits: { usd: { day: 0 } } }, '"limits.usd.day" must be a number above 0 and up to 9007199'],
  [
    { limits: { tokens: { fortnight: 5 } } },
    'Unknown field "limits.tokens.fortnight". Known: "minute", "hour", "day", "week", "month", "total".',
  ],
  [{ limits: { parallel: 1.5 } }, '"limits.parallel" must be a whole number from 1 to 9007199254740991'],
  [{ models: [] }, `"models" ${EMPTY}`],
  [{ kinds: [] }, `"kinds" ${EMPTY}`],
  [{ metadata: { a: 5 } }, '"metadata.a" must be a string'],
  [
    { owner: 'x' },
    'Unknown field "owner". Known: "name", "isActive", "limits", "each", "models", "kinds", "require", "guards", "promptCaching", "metadata".',
  ],
]

test('rejects an invalid group with an error that identifies the field, and changes nothing', async () => {
  const { expect, expectError } = openManagement()
  const { id } = await expect(201, 'POST', '/api/groups', full)
  const before = await expect(200, 'GET', '/api/groups')
  for (const [input, error] of rejected) {
    await expectError(400, error, ['POST', '/api/groups', { name: 'b', ...input }])
    const known = error.replace('"metadata".', '"metadata", "id".')
    await expectError(400, known, ['PUT', `/api/groups/${id}`, input])
  }
  await expectError(400, '"id" cannot be changed; omit it', ['PUT', `/api/groups/${id}`, { id: 'other' }])
  await expectError(400, 'Send "isActive", "name", or another field to change.', ['PUT', `/api/groups/${id}`, {}])
  assert.equal(await expect(200, 'GET', '/api/groups'), before)
})

test('puts a group by id or name, and writes nothing if the put is repeated', async () => {
  const { gateway, storage } = openManagement()
  const { groups } = gateway.api
  const getVersions = async () => (await storage.list('groups/')).map(({ version }) => version)
  const put = { id: 'team-a', name: 'Team A', limits }
  const created = await groups.put(put)
  assert.is(created.id, 'team-a')
  const before = await getVersions()
  assert.equal(await groups.put(put), created)
  assert.equal(await groups.put({ name: 'Team A' }), created)
  assert.equal(await getVersions(), before)
  const changed = await groups.put({ id: 'team-a', name: 'Team A', isActive: false, limits: null })
  assert.equal([changed.isActive, 'limits' in changed], [false, false])
  const twice = await Promise.all([groups.put({ name: 'new' }), groups.put({ name: 'new' })])
  assert.is(twice[0].id, twice[1].id)
})

test('rejects deleting a group that has keys, and rejects keys in an unknown group', async () => {
  const { expect, expectError } = openManagement()
  const { id } = await expect(201, 'POST', '/api/groups', { name: 'a' })
  const unknown = '"group" must be the ID of a group; no group has the ID "nowhere"'
  await expectError(400, unknown, ['POST', '/api/keys', { name: 'k', group: 'nowhere' }])
  await expectError(400, unknown, ['PUT', '/api/keys', { id: 'k', name: 'k', group: 'nowhere' }])
  const one = await expect(201, 'POST', '/api/keys', { name: 'one', group: id })
  assert.is(Reflect.get(one, 'group'), id)
  await expectError(400, unknown, ['PUT', `/api/keys/${one.id}`, { group: 'nowhere' }])
  const getMessage = (count: string, it: string) =>
    `The group still has ${count}. First delete ${it}, or set ${it} to another group or null: PUT /api/keys/{id} with "group".`
  await expectError(400, getMessage('1 key', 'it'), ['DELETE', `/api/groups/${id}`])
  const two = await expect(201, 'POST', '/api/keys', { name: 'two' })
  await expect(200, 'PUT', `/api/keys/${two.id}`, { group: id })
  await expectError(400, getMessage('2 keys', 'them'), ['DELETE', `/api/groups/${id}`])
  await expect(200, 'PUT', `/api/keys/${one.id}`, { group: null })
  await expect(200, 'DELETE', `/api/keys/${two.id}`)
  await expect(200, 'DELETE', `/api/groups/${id}`)
})

test('the management client can manage groups', async () => {
  const { gateway } = await openWorld()
  const { groups, keys } = createClient({ baseUrl: 'http://gateway.test', token, fetch: gateway.fetch })
  const { id } = await groups.create({ name: 'a' })
  assert.equal((await groups.list()).groups.length, 1)
  await groups.update(id, { limits })
  assert.equal((await groups.get(id)).limits, limits)
  await keys.create({ name: 'k', group: id })
  assert.match(await groups.delete(id).catch(({ message }) => message), /has 1 key/)
  assert.is((await groups.put({ id: 'b', name: 'b' })).id, 'b')
})

/** Creates a store that claims not to support atomic writes. */
const loose = (): Storage => ({ ...memoryStorage(), atomic: false })

test('warns about limits on a storage without atomic writes', async () => {
  const { gateway } = openManagement({ storage: loose(), sharedState: false })
  const { keys, groups } = gateway.api
  const message = /not atomic, so gateways that share it can together exceed a limit/
  const group = await groups.create({ name: 'a', limits })
  assert.match(group.warnings?.[0] ?? '', message)
  assert.match((await groups.update(group.id, { limits: { parallel: 1 } })).warnings?.[0] ?? '', message)
  assert.is((await groups.update(group.id, { limits: null })).warnings, undefined)
  const key = await keys.create({ name: 'k', limits })
  assert.match(key.warnings?.[0] ?? '', message)
  assert.match((await keys.update(key.id, { limits: { parallel: 1 } })).warnings?.[0] ?? '', message)
  assert.match((await keys.put({ name: 'k' })).warnings?.[0] ?? '', message)
  assert.is((await keys.create({ name: 'free' })).warnings, undefined)
  assert.not.ok('warnings' in (await openManagement().gateway.api.keys.create({ name: 'k', limits })))
})

const use = suite('the keys in a group')

const secret = 'a secret of the store, as long as secrets must be'

async function openUsed(storage: Storage = memoryStorage()) {
  const upstream = fakeUpstream(({ body }) =>
    JSON.parse(String(body)).stream ? sse([chatChunk({ content: 'Once' })], 'hang') : json(chatResponse()),
  )
  const world = await openWorld({ fetch: upstream, storage, secret })
  const send = (key: string, stream = false) =>
    world.chat({ model: 'one/m', messages: [], stream }, { headers: { 'x-api-key': key } })
  return { ...world, storage, send, status: async (key: string) => (await send(key)).status }
}

use("a paused group's keys are rejected, and their in-flight streams end", async () => {
  const { api, status, send } = await openUsed()
  const { id } = await api.groups.create({ name: 'a' })
  const { key } = await api.keys.create({ name: 'k', group: id })
  const { key: other } = await api.keys.create({ name: 'o' })
  const stream = await send(key, true)
  assert.is(stream.status, 200)
  await api.groups.update(id, { isActive: false })
  assert.match(await stream.text(), /"error":\{[^\n]*The group of this API key is paused/)
  const refusal = await send(key)
  assert.is(refusal.status, 403)
  assert.match(await refusal.text(), /The group of this API key is paused/)
  assert.is(await status(other), 200)
  await api.groups.update(id, { isActive: true })
  assert.is(await status(key), 200)
})

use("a group change by another gateway on the same storage affects the group's keys", async () => {
  const storage = memoryStorage()
  const [first, second] = [await openUsed(storage), await openUsed(storage)]
  const { id } = await first.api.groups.create({ name: 'a' })
  const { key, id: keyId } = await first.api.keys.create({ name: 'k', group: id })
  assert.is(await second.status(key), 200)
  const stream = await second.send(key, true)
  await first.api.groups.update(id, { isActive: false })
  assert.match(await stream.text(), /The group of this API key is paused/)
  assert.is(await second.status(key), 403)
  await first.api.keys.update(keyId, { group: null })
  assert.is(await second.status(key), 200)
})

use('keys are rejected if their group is missing or was modified by another program', async () => {
  const { api, status, storage, recorded } = await openUsed()
  const { id } = await api.groups.create({ name: 'a', limits: { parallel: 4 } })
  const { key } = await api.keys.create({ name: 'k', group: id })
  assert.is(await status(key), 200)
  const stored = await storage.get(`groups/${id}`)
  await storage.set(`groups/${id}`, String(stored?.value).replace('"parallel":4', '"parallel":400'))
  assert.is(await status(key), 500)
  assert.match(
    String(recorded.errors.at(-1)),
    /The record of the group "a" was not written by a gateway with this secret/,
  )
  assert.match((await api.groups.get(id)).error ?? '', /Pause, resume, or delete it/)
  assert.match((await api.health.list()).damaged[0]?.problem ?? '', /its keys are rejected/)
  await api.groups.update(id, { isActive: true, limits: { parallel: 4 } })
  assert.is(await status(key), 200)
  await storage.delete(`groups/${id}`)
  assert.is(await status(key), 500)
  assert.match(String(recorded.errors.at(-1)), /belongs to the group ".*", which does not exist/)
})
