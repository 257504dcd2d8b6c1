import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway, type Storage } from '../../src/index.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'
import { farStorage } from './support/far-storage.ts'

const test = suite('cold reads')
const SECRET = 'a secret of 32 characters or more'

async function openStored() {
  const storage = memoryStorage()
  const gateway = createGateway({ storage, secret: SECRET, logger: false })
  await gateway.api.connections.create({ provider: 'openai', apiKey: 'sk-test' })
  const { key, id } = await gateway.api.keys.create({ name: 'a' })
  await gateway.close()
  return { storage, key, id }
}

const open = (storage: Storage) =>
  createGateway({
    ...{ storage, secret: SECRET, logger: false, usage: false },
    fetch: async () => Response.json(chatResponse('Hello')),
  })

const send = (gateway: ReturnType<typeof open>, key: string) =>
  gateway.fetch(
    new Request('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'openai/gpt-5', messages: [{ role: 'user', content: 'Hi' }] }),
    }),
  )

test('a cold instance responds to its first request after one storage round trip, and reads nothing twice', async () => {
  const { storage, key } = await openStored()
  const { far, counted } = farStorage(storage)
  const gateway = open(far)
  assert.is((await send(gateway, key)).status, 200)
  assert.is(counted.trips, 1)
  assert.equal(new Set(counted.operations).size, counted.operations.length)
  await gateway.close()
})

test("with more than 100 keys, a cold instance's first request takes two storage round trips", async () => {
  const { storage, ...one } = await openStored()
  const first = open(storage)
  const others = await Promise.all(Array.from({ length: 100 }, () => first.api.keys.create({ name: 'b' })))
  await first.close()
  const [last] = (await storage.list('keys/')).slice(-1)
  const found = [one, ...others].find(({ id }) => last?.value.includes(id))
  const { far, counted } = farStorage(storage)
  const gateway = open(far)
  assert.is((await send(gateway, String(found?.key))).status, 200)
  assert.is(counted.trips, 2)
  await gateway.close()
})

test('a cold instance enforces key, group, and gateway limits in two storage round trips', async () => {
  const { storage } = await openStored()
  const first = open(storage)
  const group = await first.api.groups.create({ name: 'team', limits: { requests: { day: 3 } } })
  await first.api.settings.update({ limits: { requests: { minute: 100 } } })
  const { key } = await first.api.keys.create({ name: 'b', group: group.id, limits: { requests: { day: 2 } } })
  for (const status of [200, 200, 429]) {
    const { far, counted } = farStorage(storage)
    const gateway = open(far)
    assert.is((await send(gateway, key)).status, status)
    assert.is(counted.trips, 2)
    await gateway.close()
  }
  await first.close()
})

test('concurrent cold instances enforce a limit exactly', async () => {
  const { storage } = await openStored()
  const first = open(storage)
  const { key } = await first.api.keys.create({ name: 'b', limits: { requests: { day: 3 } } })
  await first.close()
  for (const served of [3, 0]) {
    const gateways = Array.from({ length: 6 }, () => open(farStorage(storage).far))
    const statuses = await Promise.all(gateways.map(async (gateway) => (await send(gateway, key)).status))
    assert.is(statuses.filter((status) => status === 200).length, served, statuses.join())
    assert.is(statuses.filter((status) => status === 429).length, 6 - served, statuses.join())
    await Promise.all(gateways.map((gateway) => gateway.close()))
  }
})

test("prefetched data doesn't hide another instance's later change", async () => {
  const { storage, key, id } = await openStored()
  const { watch, ...far } = storage
  const gateway = open(far)
  const other = open(storage)
  assert.is((await send(gateway, key)).status, 200)
  await other.api.settings.update({ requireApiKey: true })
  await other.api.keys.update(id, { isActive: false })
  await new Promise((resolve) => setTimeout(resolve, 1_050))
  assert.is((await send(gateway, key)).status, 403)
  assert.is((await gateway.api.settings.get()).requireApiKey, true)
  await Promise.all([gateway.close(), other.close()])
})

test("a cold instance's settings change doesn't overwrite another instance's concurrent change", async () => {
  const { storage } = await openStored()
  const { far } = farStorage(storage)
  const gateway = open(far)
  const other = open(storage)
  const [name, changed] = [gateway.api.settings.get(), other.api.settings.update({ requireApiKey: true })]
  await Promise.all([name, changed])
  await gateway.api.settings.update({ whenPriceUnknown: 'allow' })
  assert.is((await other.api.settings.get()).requireApiKey, true)
  assert.is((await other.api.settings.get()).whenPriceUnknown, 'allow')
  await Promise.all([gateway.close(), other.close()])
})

test('if prefetching fails, only the request that needs the data fails', async () => {
  const { storage, key } = await openStored()
  let fails = true
  const { watch, ...rest } = storage
  const gateway = open({
    ...rest,
    list: (...args) =>
      fails ? Promise.reject(Object.assign(new Error(), { code: 'STORAGE_UNREACHABLE' })) : storage.list(...args),
  })
  assert.is((await send(gateway, key)).status, 503)
  fails = false
  assert.is((await send(gateway, key)).status, 200)
  await gateway.close()
})
