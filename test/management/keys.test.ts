import { keyFields } from '../../src/types/records/key-fields.ts'
import { assert, suite } from '../support/suite.ts'
import { listFields } from './input-fields.ts'
import { openManagement } from './open-management.ts'

const test = suite('API keys')

const known = { create: listFields(keyFields, 'create'), update: listFields(keyFields, 'update') }

test('returns a created key once as `key`, with its id, name, and creation time', async () => {
  const { expect } = openManagement()
  const created = await expect(201, 'POST', '/api/keys', { name: 'Team A' })
  assert.match(created.key, /^sbx_[\w-]{51}$/)
  assert.equal(created, { key: created.key, id: created.id, name: 'Team A', createdAt: '2026-01-01T00:00:00.000Z' })
})

test('lists every key with its value and state, in creation order', async () => {
  const { expect } = openManagement()
  assert.equal(await expect(200, 'GET', '/api/keys'), { keys: [] })
  const created = []
  for (const name of ['one', 'two', 'three', 'four']) created.push(await expect(201, 'POST', '/api/keys', { name }))
  const keys = created.map(({ id, name, key, createdAt }) => ({ id, name, key, isActive: true, createdAt }))
  assert.equal(await expect(200, 'GET', '/api/keys'), { keys })
  assert.equal(await expect(200, 'GET', `/api/keys/${created[1]?.id}`), { key: keys[1] })
})

test("trims a key's name", async () => {
  const { expect } = openManagement()
  assert.is((await expect(201, 'POST', '/api/keys', { name: '  Team A\t' })).name, 'Team A')
})

const refusals: Array<[body: unknown, error: string]> = [
  [{}, '"name" is required and must not be blank'],
  [{ name: '' }, '"name" must not be blank'],
  [{ name: ' \n ' }, '"name" must not be blank'],
  [{ name: null }, '"name" must be a string'],
  [{ name: 7 }, '"name" must be a string'],
  [{ name: 'x'.repeat(201) }, '"name" must not be longer than 200 characters'],
  [{ name: 'a\u0000b' }, '"name" must not contain control characters'],
  [{ name: 'a\ud800' }, '"name" must not contain control characters'],
  [{ nam: 'a' }, 'Unknown field "nam". Did you mean "name"?'],
  [{ name: 'a', isAdmin: true }, `Unknown field "isAdmin". Known: ${known.create}.`],
  [{ name: 'a', key: 'sbx_mine' }, `Unknown field "key". Known: ${known.create}.`],
]
for (const [body, error] of refusals) {
  test(`rejects creating a key with ${JSON.stringify(body).slice(0, 40)}: ${error}`, async () => {
    const { expectError, expect } = openManagement()
    await expectError(400, error, ['POST', '/api/keys', body])
    assert.equal(await expect(200, 'GET', '/api/keys'), { keys: [] })
  })
}

test('pauses, resumes, and renames a key', async () => {
  const { expect } = openManagement()
  const { id, key, createdAt } = await expect(201, 'POST', '/api/keys', { name: 'a' })
  const change = async (body: unknown) => (await expect(200, 'PUT', `/api/keys/${id}`, body)).key
  assert.equal(await change({ isActive: false }), { id, name: 'a', key, isActive: false, createdAt })
  assert.equal(await change({ name: ' b ' }), { id, name: 'b', key, isActive: false, createdAt })
  assert.equal(await change({ isActive: true, name: 'c' }), { id, name: 'c', key, isActive: true, createdAt })
  assert.equal((await expect(200, 'GET', '/api/keys')).keys, [{ id, name: 'c', key, isActive: true, createdAt }])
})

const badChanges: Array<[body: unknown, error: string]> = [
  [{}, 'Send "isActive", "name", or another field to change.'],
  [{ isActiv: false }, 'Unknown field "isActiv". Did you mean "isActive"?'],
  [{ isActvie: false }, 'Unknown field "isActvie". Did you mean "isActive"?'],
  [{ isActive: 'false' }, '"isActive" must be true or false'],
  [{ isActive: null }, '"isActive" must be true or false'],
  [{ isActive: 0 }, '"isActive" must be true or false'],
  [{ name: ' ' }, '"name" must not be blank'],
  [{ isActive: false, key: 'x' }, `Unknown field "key". Known: ${known.update}.`],
  [{ isActive: false, constructor: 1 }, `Unknown field "constructor". Known: ${known.update}.`],
]
for (const [body, error] of badChanges) {
  test(`rejects the key change ${JSON.stringify(body)} and leaves the key unchanged: ${error}`, async () => {
    const { expectError, expect } = openManagement()
    const { id } = await expect(201, 'POST', '/api/keys', { name: 'a' })
    await expectError(400, error, ['PUT', `/api/keys/${id}`, body])
    const [key] = (await expect(200, 'GET', '/api/keys')).keys
    assert.is(key?.name, 'a')
    assert.is(key?.isActive, true)
  })
}

test('an unknown key ID returns a 404, but an empty change returns a 400 first', async () => {
  const { expectError } = openManagement()
  await expectError(404, 'Key not found', ['GET', '/api/keys/nobody'])
  await expectError(404, 'Key not found', ['PUT', '/api/keys/nobody', { isActive: false }])
  await expectError(404, 'Key not found', ['DELETE', '/api/keys/nobody'])
  await expectError(400, 'Send "isActive", "name", or another field to change.', ['PUT', '/api/keys/nobody', {}])
})

test('a deleted key stays deleted', async () => {
  const { expect, expectError } = openManagement()
  const { id } = await expect(201, 'POST', '/api/keys', { name: 'a' })
  const other = await expect(201, 'POST', '/api/keys', { name: 'b' })
  assert.equal(await expect(200, 'DELETE', `/api/keys/${id}`), { success: true })
  await expectError(404, 'Key not found', ['DELETE', `/api/keys/${id}`])
  await expectError(404, 'Key not found', ['PUT', `/api/keys/${id}`, { isActive: true }])
  assert.equal(
    (await expect(200, 'GET', '/api/keys')).keys.map((key) => key.id),
    [other.id],
  )
})

test("keys and ids are unique, but names don't have to be", async () => {
  const { expect } = openManagement()
  for (let count = 0; count < 20; count++) await expect(201, 'POST', '/api/keys', { name: 'same' })
  const { keys } = await expect(200, 'GET', '/api/keys')
  assert.is(new Set(keys.map(({ key }) => key)).size, 20)
  assert.is(new Set(keys.map(({ id }) => id)).size, 20)
})

test("the storage doesn't contain any key's value", async () => {
  const { expect, storage } = openManagement()
  const { key } = await expect(201, 'POST', '/api/keys', { name: 'a' })
  const raw = JSON.stringify(await storage.list(''))
  assert.not.ok(raw.includes(key))
  assert.not.ok(raw.includes(key.slice(4, 20)))
})
