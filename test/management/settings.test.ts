import { memoryStorage } from '../../adapters/storage/memory.ts'
import { assert, suite } from '../support/suite.ts'
import { defaultRules, openManagement } from './open-management.ts'

const test = suite('settings')

const defaults = { cloudEnabled: false, requireApiKey: false, cloudUrl: '', ...defaultRules }

test('missing settings have default values', async () => {
  const { expect } = openManagement()
  assert.equal(await expect(200, 'GET', '/api/settings'), defaults)
})

test('a patch changes the given fields, returns the settings, and persists', async () => {
  const { expect } = openManagement()
  assert.equal(await expect(200, 'PATCH', '/api/settings', { requireApiKey: true }), {
    ...defaults,
    requireApiKey: true,
  })
  const patched = { ...defaults, requireApiKey: true, cloudUrl: 'https://cloud.example' }
  assert.equal(await expect(200, 'PATCH', '/api/settings', { cloudUrl: 'https://cloud.example' }), patched)
  assert.equal(await expect(200, 'PATCH', '/api/settings', {}), patched)
  assert.equal(await expect(200, 'GET', '/api/settings'), patched)
})

test('once requireApiKey is set, the next request without a valid key is rejected', async () => {
  const { expect, send } = openManagement()
  const status = async () => (await send('GET', '/v1/models')).status
  assert.is(await status(), 200)
  await expect(200, 'PATCH', '/api/settings', { requireApiKey: true })
  assert.is(await status(), 401)
  await expect(200, 'PATCH', '/api/settings', { requireApiKey: false })
  assert.is(await status(), 200)
})

const urls: Array<[sent: string, stored: string]> = [
  ['', ''],
  ['https://cloud.example', 'https://cloud.example'],
  ['https://cloud.example/', 'https://cloud.example'],
  ['https://cloud.example///', 'https://cloud.example'],
  ['https://cloud.example/v1', 'https://cloud.example'],
  ['https://cloud.example/v1/', 'https://cloud.example'],
  ['https://cloud.example//v1/', 'https://cloud.example'],
  ['https://cloud.example/v1//', 'https://cloud.example/v1'],
  ['https://cloud.example/v1/v1', 'https://cloud.example/v1'],
  ['https://cloud.example/api/v1', 'https://cloud.example/api'],
  ['https://cloud.example/v10', 'https://cloud.example/v10'],
  ['http://localhost:8787/v1', 'http://localhost:8787'],
  [' https://cloud.example/v1\n', 'https://cloud.example'],
  ['/v1', ''],
  ['///', ''],
]
for (const [sent, stored] of urls) {
  test(`stores the cloudUrl ${JSON.stringify(sent)} as ${JSON.stringify(stored)}`, async () => {
    const { expect } = openManagement()
    await expect(200, 'PATCH', '/api/settings', { cloudUrl: 'https://before.example' })
    assert.is((await expect(200, 'PATCH', '/api/settings', { cloudUrl: sent })).cloudUrl, stored)
    assert.is((await expect(200, 'GET', '/api/settings')).cloudUrl, stored)
  })
}

const noAddress = '"cloudUrl" must be a URL that starts with http:// or https://, or be empty'
const byAction =
  '"cloudEnabled" can only be changed by POST /api/sync/cloud with the action "enable" or "disable"; omit it'
const refusals: Array<[body: unknown, error: string]> = [
  [{ requireApiKeys: true }, 'Unknown field "requireApiKeys". Did you mean "requireApiKey"?'],
  [{ requireapikey: true }, 'Unknown field "requireapikey". Did you mean "requireApiKey"?'],
  [
    { theme: 'dark' },
    'Unknown field "theme". Known: "requireApiKey", "cloudUrl", "health", "maxAttempts", "timeouts", "limits", "guards", "whenPriceUnknown", "onStorageUnavailable", "allowRequestModels", "showKeyValues", "promptCaching", "usage".',
  ],
  [{ unpriced: 'allow' }, 'Unknown field "unpriced". It was renamed. Use "whenPriceUnknown".'],
  [{ whenStoreIsAway: {} }, 'Unknown field "whenStoreIsAway". It was renamed. Use "onStorageUnavailable".'],
  [{ requestModels: true }, 'Unknown field "requestModels". It was renamed. Use "allowRequestModels".'],
  [{ requireApiKey: 'true' }, '"requireApiKey" must be true or false'],
  [{ requireApiKey: null }, '"requireApiKey" must be true or false'],
  [{ requireApiKey: true, cloudUrl: 5 }, '"cloudUrl" must be a string'],
  [{ requireApiKey: true, cloudUrl: 'cloud.example' }, noAddress],
  [{ requireApiKey: true, cloudUrl: 'ftp://cloud.example' }, noAddress],
  [{ requireApiKey: true, cloudUrl: 'http:cloud.example' }, noAddress],
  [{ requireApiKey: true, cloudUrl: 'javascript:alert(1)' }, noAddress],
  [{ cloudUrl: 'https://me:secret@cloud.example' }, '"cloudUrl" must not contain credentials, or be empty'],
  [{ cloudUrl: 'https://cloud.example?a=1' }, '"cloudUrl" must not have a query or a fragment, or be empty'],
  [{ cloudUrl: 'https://cloud.example#' }, '"cloudUrl" must not have a query or a fragment, or be empty'],
  [
    { cloudUrl: 'https://cloud.example\\x' },
    '"cloudUrl" must not contain whitespace, backslashes, or control characters, or be empty',
  ],
  [
    { cloudUrl: `https://cloud.example/${'x'.repeat(2_048)}` },
    '"cloudUrl" must not be longer than 2048 characters, or be empty',
  ],
  [{ cloudEnabled: true }, byAction],
  [{ cloudEnabled: false }, byAction],
]
for (const [body, error] of refusals) {
  test(`rejects the entire settings patch ${JSON.stringify(body).slice(0, 60)}, and changes nothing`, async () => {
    const { expectError, expect } = openManagement()
    await expectError(400, error, ['PATCH', '/api/settings', body])
    assert.equal(await expect(200, 'GET', '/api/settings'), defaults)
  })
}

test('merges two concurrent settings patches', async () => {
  const { call, expect } = openManagement()
  await Promise.all([
    call('PATCH', '/api/settings', { requireApiKey: true }),
    call('PATCH', '/api/settings', { cloudUrl: 'https://cloud.example' }),
  ])
  const both = { ...defaults, requireApiKey: true, cloudUrl: 'https://cloud.example' }
  assert.equal(await expect(200, 'GET', '/api/settings'), both)
})

test('reading or updating unreadable settings returns a 500, and onError receives the cause', async () => {
  const broken = new Error('disk on fire')
  const errors: unknown[] = []
  const storage = { ...memoryStorage(), get: () => Promise.reject(broken) }
  const { expectError } = openManagement({ storage, hooks: { onError: (error) => errors.push(error) } })
  await expectError(500, 'Failed to fetch settings', ['GET', '/api/settings'])
  await expectError(500, 'Failed to update settings', ['PATCH', '/api/settings', { requireApiKey: true }])
  assert.equal(
    errors.map((error) => error instanceof Error && error.cause),
    [broken, broken],
  )
})
