import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway, type Storage } from '../../src/index.ts'
import { chatAnswer } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('cold reads')
const SECRET = 'a secret of 32 characters or more'

/** A store over a network: counts the round trips, which are the operations that begin after another one has ended. */
function remote(storage: Storage) {
  const counted = { trips: 0, operations: [] as string[] }
  let isSent = false
  const onTrip =
    <Args extends [string, ...unknown[]], Result>(work: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      counted.operations.push(args[0])
      if (!isSent) {
        isSent = true
        counted.trips++
        setTimeout(() => {
          isSent = false
        }, 20)
      }
      await new Promise((resolve) => setTimeout(resolve, 25))
      return work(...args)
    }
  const { watch, increment, ...rest } = storage
  const far: Storage = {
    ...rest,
    get: onTrip(storage.get),
    list: onTrip(storage.list),
    set: onTrip(storage.set),
    delete: onTrip(storage.delete),
  }
  return { counted, far }
}

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
    ...{ storage, secret: SECRET, logger: false },
    fetch: async () => Response.json(chatAnswer('Hello')),
  })

const ask = (gateway: ReturnType<typeof open>, key: string) =>
  gateway.fetch(
    new Request('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'openai/gpt-5', messages: [{ role: 'user', content: 'Hi' }] }),
    }),
  )

test('a cold instance responds to its first request after two round trips, and reads nothing twice', async () => {
  const { storage, key } = await openStored()
  const { far, counted } = remote(storage)
  const gateway = open(far)
  assert.is((await ask(gateway, key)).status, 200)
  assert.is(counted.trips, 2)
  assert.equal(new Set(counted.operations).size, counted.operations.length)
  await gateway.close()
})

test("reads in advance don't hide another instance's later change", async () => {
  const { storage, key, id } = await openStored()
  const { far } = remote(storage)
  const gateway = open(far)
  const other = open(storage)
  assert.is((await ask(gateway, key)).status, 200)
  await other.api.settings.update({ requireApiKey: true })
  await other.api.keys.update(id, { isActive: false })
  await new Promise((resolve) => setTimeout(resolve, 1_050))
  assert.is((await ask(gateway, key)).status, 403)
  assert.is((await gateway.api.settings.get()).requireApiKey, true)
  await Promise.all([gateway.close(), other.close()])
})

test("a cold instance that changes the settings first keeps another instance's latest change", async () => {
  const { storage } = await openStored()
  const { far } = remote(storage)
  const gateway = open(far)
  const other = open(storage)
  const [name, changed] = [gateway.api.settings.get(), other.api.settings.update({ requireApiKey: true })]
  await Promise.all([name, changed])
  await gateway.api.settings.update({ whenPriceUnknown: 'allow' })
  assert.is((await other.api.settings.get()).requireApiKey, true)
  assert.is((await other.api.settings.get()).whenPriceUnknown, 'allow')
  await Promise.all([gateway.close(), other.close()])
})

test('if reading ahead fails, only the request that needs the data fails', async () => {
  const { storage, key } = await openStored()
  let fails = true
  const { watch, ...rest } = storage
  const gateway = open({
    ...rest,
    list: (...args) =>
      fails ? Promise.reject(Object.assign(new Error(), { code: 'STORAGE_UNREACHABLE' })) : storage.list(...args),
  })
  assert.is((await ask(gateway, key)).status, 503)
  fails = false
  assert.is((await ask(gateway, key)).status, 200)
  await gateway.close()
})
