import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Storage } from '../../src/types.ts'
import { openManagement } from '../management/open-management.ts'
import { chatChunk, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { plant } from '../support/canaries.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('rotating keys')

const secret = 'a secret of the store, as long as secrets must be'

async function open(storage: Storage = memoryStorage(), clock: FakeClock = fakeClock()) {
  const upstream = fakeUpstream(({ body }) =>
    JSON.parse(String(body)).stream ? sse([chatChunk({ content: 'Once' })], 'hang') : json(chatResponse()),
  )
  const world = await openWorld({ fetch: upstream, storage, clock, secret })
  await world.api.settings.update({ requireApiKey: true })
  const send = (key: string, stream = false) =>
    world.chat({ model: 'one/m', messages: [], stream }, { headers: { 'x-api-key': key } })
  return { ...world, storage, send, status: async (key: string) => (await send(key)).status }
}

test('a rotated key keeps its id and settings, and its old value stops working', async () => {
  const { api, status, recorded } = await open()
  const limits = { requests: { day: 100 } }
  const created = await api.keys.create({ name: 'app', limits, metadata: { team: 'ml' } })
  await api.keys.create({ name: 'later' })
  assert.is(await status(created.key), 200)
  const rotated = await api.keys.rotate(created.id)
  assert.not.equal(rotated.key, created.key)
  assert.equal({ ...rotated, key: '' }, { ...created, key: '' })
  assert.equal(Object.keys(rotated)[0], 'key')
  assert.equal([await status(created.key), await status(rotated.key)], [401, 200])
  assert.equal(new Set(recorded.requests.flatMap(({ keyId }) => keyId ?? [])), new Set([created.id]))
  const { keys } = await api.keys.list()
  assert.equal(
    keys.map(({ name }) => name),
    ['app', 'later'],
  )
  assert.is((await api.keys.get(created.id)).key.key, rotated.key)
  assert.is((await api.keys.limits.get(created.id)).limits[0]?.used, 2)
})

test('the old value of a rotated key works until the grace period ends, even after a restart', async () => {
  const storage = memoryStorage()
  const clock = fakeClock()
  const first = await open(storage, clock)
  const other = await open(storage, clock)
  const { key: old, id } = await first.api.keys.create({ name: 'app', limits: { requests: { day: 100 } } })
  assert.equal([await first.status(old), await other.status(old)], [200, 200])
  const { key: next } = await first.api.keys.rotate(id, { graceMs: 60_000 })
  const third = await open(storage, clock)
  for (const gateway of [first, other, third])
    assert.equal([await gateway.status(old), await gateway.status(old), await gateway.status(next)], [200, 200, 200])
  assert.is((await first.api.keys.limits.get(id)).limits[0]?.used, 11)

  await first.api.keys.update(id, { isActive: false })
  for (const gateway of [first, other, third])
    assert.equal([await gateway.status(old), await gateway.status(next)], [403, 403])
  await other.api.keys.update(id, { isActive: true })
  for (const gateway of [first, other, third])
    assert.equal([await gateway.status(old), await gateway.status(next)], [200, 200])

  await clock.advance(59_000)
  assert.is(await first.status(old), 200)
  await clock.advance(1_000)
  for (const gateway of [first, other, third, await open(storage, clock)])
    assert.equal([await gateway.status(old), await gateway.status(next)], [401, 200])
})

test("a second rotation keeps the first rotation's grace period, unless the second has none", async () => {
  const { api, status, storage, clock } = await open()
  const { key: first, id } = await api.keys.create({ name: 'app' })
  const { key: second } = await api.keys.rotate(id, { graceMs: 60_000 })
  assert.is(await status(first), 200)
  const { key: third } = await api.keys.rotate(id, { graceMs: 30_000 })
  assert.equal([await status(first), await status(second), await status(third)], [200, 200, 200])
  await clock.advance(30_000)
  assert.equal([await status(first), await status(second), await status(third)], [200, 401, 200])
  const { key: fourth } = await api.keys.rotate(id)
  assert.equal(
    [await status(first), await status(second), await status(third), await status(fourth)],
    [401, 401, 401, 200],
  )
  assert.equal(await storage.list('former-keys/'), [])
})

test('deleting a rotated key invalidates its old and new values', async () => {
  const { api, status, storage } = await open()
  const { key: old, id } = await api.keys.create({ name: 'app' })
  const { key: next } = await api.keys.rotate(id, { graceMs: 60_000 })
  assert.is(await status(old), 200)
  await api.keys.delete(id)
  assert.equal([await status(old), await status(next)], [401, 401])
  assert.equal(await storage.list('former-keys/'), [])
})

test("rotating a key with a grace period keeps the key's streams, and pausing the key ends them", async () => {
  const { api, send } = await open()
  const { key: old, id } = await api.keys.create({ name: 'app' })
  const before = (await send(old, true)).text()
  await api.keys.rotate(id, { graceMs: 60_000 })
  const after = (await send(old, true)).text()
  const isOver = (stream: Promise<string>) =>
    Promise.race([stream.then(() => true), new Promise((resolve) => setTimeout(resolve, 20, false))])
  assert.equal([await isOver(before), await isOver(after)], [false, false])
  await api.keys.update(id, { isActive: false })
  for (const stream of [before, after]) assert.match(await stream, /This API key is paused/)
})

test("a program that extends a grace period in the storage can't bring back the old key", async () => {
  const { api, status, storage, clock } = await open()
  const { key: old, id } = await api.keys.create({ name: 'app' })
  await api.keys.rotate(id, { graceMs: 1_000 })
  const [former] = await storage.list('former-keys/')
  const record = JSON.parse(former?.value ?? '')
  record.record.until = '2100-01-01T00:00:00.000Z'
  await storage.set(former?.key ?? '', JSON.stringify(record))
  assert.is(await status(old), 500)
  await clock.advance(2_000)
  assert.is((await open(storage, clock)).recorded.errors.length, 0)
})

test('the HTTP API rotates keys with or without a body, and rejects an invalid grace period', async () => {
  const { call, expect, expectError } = openManagement()
  const { id, key } = await expect(201, 'POST', '/api/keys', { name: 'app' })
  const { body, status } = await call('POST', `/api/keys/${id}/rotate`)
  assert.is(status, 200)
  assert.match(body.key, /^sbx_/)
  assert.not.equal(body.key, key)
  plant(body.key)
  await expect(200, 'POST', `/api/keys/${id}/rotate`, { graceMs: 30 * 24 * 60 * 60 * 1_000 })
  const message = '"graceMs" must be a whole number from 0 to 2592000000'
  for (const graceMs of [-1, 1.5, '5', 2_592_000_001])
    await expectError(400, message, ['POST', `/api/keys/${id}/rotate`, { graceMs }])
  await expectError(400, 'Unknown field "grace". Did you mean "graceMs"?', [
    'POST',
    `/api/keys/${id}/rotate`,
    { grace: 5 },
  ])
  await expectError(404, 'Key not found', ['POST', '/api/keys/nobody/rotate'])
})
