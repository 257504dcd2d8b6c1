import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Storage } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('API key states')

type Target = ReturnType<typeof openManagement>

const models = async ({ send }: Target, key: string) =>
  (await send('GET', '/v1/models', { headers: { authorization: `Bearer ${key}` } })).status

function signal() {
  let fire = () => {}
  const fired = new Promise<void>((resolve) => {
    fire = resolve
  })
  return { fired, fire: () => fire() }
}

/** Creates a store without `watch`, so only the change itself can make the gateway invalidate its cache. */
function unwatched(): Storage {
  const { watch, ...storage } = memoryStorage()
  return storage
}

async function openWithKey(storage = unwatched()) {
  const management = openManagement({ storage })
  const { id, key } = await management.expect(201, 'POST', '/api/keys', { name: 'a' })
  return { management, id, key }
}

test('rejects a paused key with a 403 from the next request on, until it is resumed', async () => {
  const { management, id, key } = await openWithKey()
  await management.expect(200, 'PATCH', '/api/settings', { requireApiKey: true })
  assert.is(await models(management, key), 200)
  for (let round = 0; round < 3; round++) {
    await management.expect(200, 'PUT', `/api/keys/${id}`, { isActive: false })
    assert.is(await models(management, key), 403)
    await management.expect(200, 'PUT', `/api/keys/${id}`, { isActive: true })
    assert.is(await models(management, key), 200)
  }
})

test('rejects a paused key whether or not a key is required', async () => {
  const { management, id, key } = await openWithKey()
  await management.expect(200, 'PUT', `/api/keys/${id}`, { isActive: false })
  assert.is(await models(management, key), 403)
})

test('a renamed key stays paused', async () => {
  const { management, id, key } = await openWithKey()
  await management.expect(200, 'PUT', `/api/keys/${id}`, { isActive: false })
  await management.expect(200, 'PUT', `/api/keys/${id}`, { name: 'b' })
  assert.is(await models(management, key), 403)
})

test('rejects a deleted key from the next request on', async () => {
  const { management, id, key } = await openWithKey()
  await management.expect(200, 'PATCH', '/api/settings', { requireApiKey: true })
  assert.is(await models(management, key), 200)
  await management.expect(200, 'DELETE', `/api/keys/${id}`)
  assert.is(await models(management, key), 401)
})

test("an in-flight request doesn't resume a key that is paused in the meantime", async () => {
  const storage = unwatched()
  const gate = { isArmed: false, reached: signal(), open: signal() }
  const slow: Storage = {
    ...storage,
    async get(key) {
      const stored = await storage.get(key)
      if (gate.isArmed && key.startsWith('keys/')) {
        gate.isArmed = false
        gate.reached.fire()
        await gate.open.fired
      }
      return stored
    },
  }
  const { management, id, key } = await openWithKey(slow)
  gate.isArmed = true
  const early = models(management, key)
  await gate.reached.fired // it has read the key while active
  await management.expect(200, 'PUT', `/api/keys/${id}`, { isActive: false })
  gate.open.fire()
  assert.is(await early, 200)
  assert.is(await models(management, key), 403)
})

test('finds by id a key that another process just created, even while the cache is valid', async () => {
  const storage = unwatched()
  const here = openManagement({ storage })
  const other = openManagement({ storage })
  assert.equal((await here.expect(200, 'GET', '/api/keys')).keys, [])
  const { id } = await other.expect(201, 'POST', '/api/keys', { name: 'a' })
  await here.expect(200, 'PUT', `/api/keys/${id}`, { isActive: false })
  await here.expect(200, 'DELETE', `/api/keys/${id}`)
  await other.expectError(404, 'Key not found', ['DELETE', `/api/keys/${id}`])
})

test('pausing or deleting a key takes effect even if the storage fails after writing', async () => {
  const storage = unwatched()
  let failing = false
  const failAfter = <A extends unknown[], T>(run: (...args: A) => Promise<T>) => {
    return async (...args: A) => {
      const result = await run(...args)
      if (failing) throw new Error('the answer was lost')
      return result
    }
  }
  const lossy = { ...storage, set: failAfter(storage.set), delete: failAfter(storage.delete) }
  const { management, id, key } = await openWithKey(lossy)
  await management.expect(200, 'PATCH', '/api/settings', { requireApiKey: true })
  assert.is(await models(management, key), 200)
  failing = true
  await management.expectError(500, 'Failed to update key', ['PUT', `/api/keys/${id}`, { isActive: false }])
  assert.is(await models(management, key), 403)
  await management.expect(200, 'GET', '/api/keys')
  await management.expectError(500, 'Failed to delete key', ['DELETE', `/api/keys/${id}`])
  assert.is(await models(management, key), 401)
  assert.equal(await management.expect(200, 'GET', '/api/keys'), { keys: [] })
})

test('a stored key without a state is active', async () => {
  const storage = unwatched()
  const { id, key } = await openWithKey(storage)
  const [stored] = await storage.list('keys/')
  const envelope = JSON.parse(stored?.value ?? '')
  delete envelope.record.isActive
  await storage.set(stored?.key ?? '', JSON.stringify(envelope))
  const { expect, send } = openManagement({ storage })
  assert.is((await expect(200, 'GET', '/api/keys')).keys[0]?.isActive, true)
  await expect(200, 'PUT', `/api/keys/${id}`, { name: 'b' })
  assert.is((await send('GET', '/v1/models', { headers: { 'x-api-key': key } })).status, 200)
})

test('lists keys created alternately by two processes in creation order', async () => {
  const storage = unwatched()
  const here = openManagement({ storage })
  const other = openManagement({ storage })
  const names = Array.from({ length: 12 }, (_, index) => String(index))
  for (const name of names) {
    await here.expect(200, 'GET', '/api/keys')
    await (Number(name) % 2 === 0 ? other : here).expect(201, 'POST', '/api/keys', { name })
  }
  assert.equal(
    (await openManagement({ storage }).expect(200, 'GET', '/api/keys')).keys.map(({ name }) => name),
    names,
  )
})
