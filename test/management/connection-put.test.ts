import { memoryStorage } from '../../adapters/storage/memory.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('PUT and DELETE /api/connections/{id}')

const KEY = 'sk-test-0123456789-abcd'

async function openWithConnection() {
  const management = openManagement()
  const providerSpecificData = { prefix: 'p', enabledModels: ['m'] }
  const input = { provider: 'openai', name: 'a', priority: 1, apiKey: KEY, providerSpecificData }
  const connection = await management.expect(201, 'POST', '/api/connections', input)
  await management.clock.advance(1_000)
  return { ...management, connection, path: `/api/connections/${connection.id}` }
}

const later = '2026-01-01T00:00:01.000Z'

for (const [change, changed] of [
  [{}, {}],
  [{ name: ' b ' }, { name: 'b' }],
  [{ isActive: false }, { isActive: false }],
  [{ priority: 0 }, { priority: 0 }],
  [{ priority: null }, { priority: undefined }],
  [{ apiKey: 'sk-other-0123456789-wxyz\n' }, { apiKey: '…wxyz' }],
  [{ apiKey: null }, { apiKey: undefined }],
  [{ providerSpecificData: { prefix: 'q' } }, { providerSpecificData: { prefix: 'q' } }],
  [{ providerSpecificData: {} }, { providerSpecificData: {} }],
  [{ providerSpecificData: null }, { providerSpecificData: undefined }],
] as Array<[change: object, changed: Record<string, unknown>]>) {
  test(`a connection update with ${JSON.stringify(change)} changes only the given fields`, async () => {
    const { expect, connection, path } = await openWithConnection()
    const expected = JSON.parse(JSON.stringify({ ...connection, ...changed, updatedAt: later }))
    assert.equal(await expect(200, 'PUT', path, change), expected)
    assert.equal(await expect(200, 'GET', path), expected)
  })
}

test('an inactive connection can be activated again', async () => {
  const { expect, path } = await openWithConnection()
  await expect(200, 'PUT', path, { isActive: false })
  assert.is((await expect(200, 'PUT', path, { isActive: true })).isActive, true)
})

for (const [body, error] of [
  [{ isActiv: false }, 'Unknown field "isActiv". Did you mean "isActive"?'],
  [
    { weight: 2 },
    'Unknown field "weight". Known: "name", "isActive", "draining", "priority", "prices", "promptCaching", "tags", "apiKey", "providerSpecificData", "discover", "provider", "id".',
  ],
  [{ isActive: null }, '"isActive" must be true or false'],
  [{ name: ' ' }, '"name" must not be blank'],
  [{ name: null }, '"name" must be a string'],
  [{ priority: 'first' }, '"priority" must be a number'],
  [
    { apiKey: '' },
    '"apiKey" must not be blank. Check that the variable it comes from is set. For none, send null or omit it',
  ],
  [
    { apiKey: '…abcd' },
    '"apiKey" contains "…", which replaces the hidden part of a key. Send the whole key, or omit it to keep the stored one',
  ],
  [{ id: 'other' }, '"id" cannot be changed; omit it'],
  [
    { providerSpecificData: { baseUrl: 'https://up.example/v1/chat/completions' } },
    '"providerSpecificData.baseUrl" must not include "/chat/completions", which the gateway appends. Use "https://up.example/v1"',
  ],
] as const) {
  test(`rejects the connection update ${JSON.stringify(body)} and changes nothing`, async () => {
    const { expectError, expect, connection, path } = await openWithConnection()
    await expectError(400, error, ['PUT', path, { priority: 9, ...body }])
    assert.equal(await expect(200, 'GET', path), connection)
  })
}

test('accepts a connection exactly as it was returned, except for its shortened key', async () => {
  const { expect, connection, path } = await openWithConnection()
  const { apiKey, ...rest } = connection
  assert.equal(await expect(200, 'PUT', path, rest), { ...connection, updatedAt: later })
})

test('merges concurrent changes to different fields of a connection', async () => {
  const { call, expect, path } = await openWithConnection()
  await Promise.all([call('PUT', path, { name: 'b' }), call('PUT', path, { isActive: false })])
  const { name, isActive } = await expect(200, 'GET', path)
  assert.equal({ name, isActive }, { name: 'b', isActive: false })
})

test('a deleted connection returns a 404 and is no longer listed', async () => {
  const { expect, expectError, path } = await openWithConnection()
  assert.equal(await expect(200, 'DELETE', path), { success: true })
  for (const request of [
    ['GET', path],
    ['PUT', path, {}],
    ['DELETE', path],
  ] as Array<[string, string, unknown?]>) {
    await expectError(404, 'Connection not found', request)
  }
  assert.equal(await expect(200, 'GET', '/api/connections'), { connections: [] })
})

test('an unknown connection ID returns a 404, even if it contains special characters', async () => {
  const { expectError } = openManagement()
  for (const id of ['nobody', '..%2Fsettings', '%F0%9F%98%80', 'x'.repeat(3_000)]) {
    await expectError(404, 'Connection not found', ['GET', `/api/connections/${id}`])
    await expectError(404, 'Connection not found', ['PUT', `/api/connections/${id}`, {}])
    await expectError(404, 'Connection not found', ['DELETE', `/api/connections/${id}`])
  }
})

test('finds a connection that another process has just created', async () => {
  const { watch, ...storage } = memoryStorage()
  const here = openManagement({ storage })
  const other = openManagement({ storage })
  assert.equal((await here.expect(200, 'GET', '/api/connections')).connections, [])
  const { id } = await other.expect(201, 'POST', '/api/connections', { provider: 'openai' })
  await here.expect(200, 'GET', `/api/connections/${id}`)
})

test('rejects a stored key that was moved to another connection', async () => {
  const { expect, storage, connection } = await openWithConnection()
  const other = await expect(201, 'POST', '/api/connections', {
    provider: 'openai',
    apiKey: 'sk-other-0123456789-wxyz',
  })
  const mine = await storage.get(`connections/${connection.id}`)
  const moved = JSON.parse(mine?.value ?? '')
  moved.record.id = other.id
  moved.order += 1 // now equal to the other's
  await storage.set(`connections/${other.id}`, JSON.stringify(moved))
  const shown = await expect(200, 'GET', `/api/connections/${other.id}`)
  assert.is(shown.apiKey, undefined)
  assert.match(shown.error, /changed, moved, or encrypted with another secret/)
  const changed = await expect(200, 'PUT', `/api/connections/${other.id}`, { providerSpecificData: { prefix: 'q' } })
  assert.match(changed.error, /encrypted with another secret/)
  assert.equal(
    (await expect(200, 'GET', '/api/connections')).connections.map(({ apiKey }) => apiKey),
    ['…abcd', undefined],
  )
  await expect(200, 'DELETE', `/api/connections/${other.id}`)
})
