import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('key permissions and limits')

const limits = {
  requests: { minute: 60, total: 1_000 },
  tokens: { hour: 1_000_000, week: 5_000_000 },
  usd: { day: 0.5, month: 12.25 },
  parallel: 4,
}
const fields = {
  expiresAt: '2027-01-31T12:00:00+01:00',
  models: ['fast', 'openai/*'],
  kinds: ['llm', 'embedding'],
  limits,
  metadata: { team: 'ml' },
}

test("sets, returns, replaces, and removes a key's permissions and limits", async () => {
  const { expect, gateway } = openManagement()
  await gateway.api.connections.create({ provider: 'openai' })
  await gateway.api.aliases.set({ alias: 'fast', model: 'openai/gpt-5-mini' })
  const created = await expect(201, 'POST', '/api/keys', { name: 'a', ...fields })
  const { key: _, id, createdAt: __, ...rest } = created
  assert.equal(rest, { name: 'a', ...fields })
  const path = `/api/keys/${id}`
  const showKey = async () => (await expect(200, 'GET', path)).key
  const { id: ___, key: ____, createdAt: _____, ...read } = Object(await showKey())
  assert.equal(read, { name: 'a', isActive: true, ...fields })
  await expect(200, 'PUT', path, { limits: { requests: { day: 5 } } })
  assert.equal(Object(await showKey()).limits, { requests: { day: 5 } })
  await expect(200, 'PUT', path, { expiresAt: null, models: null, kinds: null, limits: null, metadata: null })
  assert.equal(Object.keys(Object(await showKey())), ['id', 'name', 'key', 'isActive', 'createdAt'])
})

test("a put sets a key's permissions and limits, and writes nothing if repeated", async () => {
  const { gateway, storage } = openManagement()
  const getVersions = async () => (await storage.list('keys/')).map(({ version }) => version)
  const put = { id: 'app', name: 'app', limits, models: ['fast'] }
  await gateway.api.keys.put(put)
  const before = await getVersions()
  const { key } = await gateway.api.keys.put({ ...put, limits: { ...limits, usd: { month: 12.25, day: 0.5 } } })
  assert.equal([key.limits, await getVersions()], [limits, before])
})

const WHOLE = 'must be a whole number from 1 to 9007199254740991'
const MOMENT = 'must be an ISO 8601 time with a time zone, such as "2027-01-31T00:00:00Z"'
const EMPTY = 'must not be empty. For no restriction, send null or omit it'

/** Invalid limits, rejected everywhere. */
const refusedLimits: [limits: unknown, error: string][] = [
  [{}, `"limits" ${EMPTY}`],
  [[], '"limits" must be an object'],
  ['5', '"limits" must be an object'],
  [{ usd: {} }, `"limits.usd" ${EMPTY}`],
  [{ usd: null }, '"limits.usd" must be an object'],
  [{ usd: 5 }, '"limits.usd" must be an object'],
  [{ usd: [5] }, '"limits.usd" must be an object'],
  [{ usd: { day: 0 } }, '"limits.usd.day" must be a number above 0 and up to 9007199'],
  [{ usd: { day: -0.01 } }, '"limits.usd.day" must be a number above 0 and up to 9007199'],
  [{ usd: { day: 9_007_200 } }, '"limits.usd.day" must be a number above 0 and up to 9007199'],
  [{ usd: { day: '5' } }, '"limits.usd.day" must be a number above 0 and up to 9007199'],
  [{ usd: { day: null } }, '"limits.usd.day" must be a number above 0 and up to 9007199'],
  [{ usd: { day: true } }, '"limits.usd.day" must be a number above 0 and up to 9007199'],
  [{ usd: { year: 5 } }, 'Unknown field "limits.usd.year". Known: "minute", "hour", "day", "week", "month", "total".'],
  [{ usd: { dya: 5 } }, 'Unknown field "limits.usd.dya". Did you mean "day"?'],
  [{ requests: { minute: 0 } }, `"limits.requests.minute" ${WHOLE}`],
  [{ requests: { minute: -1 } }, `"limits.requests.minute" ${WHOLE}`],
  [{ requests: { minute: 1.5 } }, `"limits.requests.minute" ${WHOLE}`],
  [{ requests: { minute: '60' } }, `"limits.requests.minute" ${WHOLE}`],
  [{ requests: { minute: 1e300 } }, `"limits.requests.minute" ${WHOLE}`],
  [{ requests: {} }, `"limits.requests" ${EMPTY}`],
  [{ tokens: { total: 0.5 } }, `"limits.tokens.total" ${WHOLE}`],
  [{ tokens: { total: {} } }, `"limits.tokens.total" ${WHOLE}`],
  [{ parallel: 0 }, `"limits.parallel" ${WHOLE}`],
  [{ parallel: 1.5 }, `"limits.parallel" ${WHOLE}`],
  [{ parallel: { minute: 1 } }, `"limits.parallel" ${WHOLE}`],
  [{ euros: { day: 5 } }, 'Unknown field "limits.euros". Known: "requests", "tokens", "usd", "parallel".'],
]

const rejected: [given: object, error: string][] = [
  ...refusedLimits.map(([limits, error]): [object, string] => [{ limits }, error]),
  [{ expiresAt: 'tomorrow' }, `"expiresAt" ${MOMENT}`],
  [{ expiresAt: '2027-01-31' }, `"expiresAt" ${MOMENT}`],
  [{ expiresAt: '2027-01-31T00:00:00' }, `"expiresAt" ${MOMENT}`],
  [{ expiresAt: '2027-13-31T00:00:00Z' }, `"expiresAt" ${MOMENT}`],
  [{ expiresAt: 1_800_000_000_000 }, '"expiresAt" must be a string'],
  [{ models: [] }, `"models" ${EMPTY}`],
  [{ models: 'fast' }, '"models" must be an array of model names'],
  [{ models: [''] }, '"models[0]" must not be blank'],
  [{ models: ['a', 5] }, '"models[1]" must be a string'],
  [{ models: ['m'.repeat(513)] }, '"models[0]" must not be longer than 512 characters'],
  [{ models: Array.from({ length: 1_001 }, () => 'm') }, '"models" must not contain more than 1000 models'],
  [{ kinds: [] }, `"kinds" ${EMPTY}`],
  [{ kinds: 'llm' }, '"kinds" must be an array of kinds'],
  [{ group: '' }, '"group" must not be blank'],
  [{ group: 5 }, '"group" must be a string'],
]

test('rejects invalid key permissions and limits, names the field, and changes nothing', async () => {
  const { expect, expectError } = openManagement()
  const { id } = await expect(201, 'POST', '/api/keys', { name: 'a', ...fields })
  const before = await expect(200, 'GET', '/api/keys')
  for (const [input, error] of rejected) {
    await expectError(400, error, ['POST', '/api/keys', { name: 'b', ...input }])
    await expectError(400, error, ['PUT', `/api/keys/${id}`, { name: 'changed', ...input }])
    await expectError(400, error, ['PUT', '/api/keys', { id, name: 'changed', ...input }])
  }
  for (const [limits, error] of refusedLimits) await expectError(400, error, ['PATCH', '/api/settings', { limits }])
  const unknown = await expect(400, 'POST', '/api/keys', { name: 'b', kinds: ['llm', 'smell'] })
  assert.match(unknown.error, /^"kinds\[1\]" must be one of "llm", /)
  assert.equal(await expect(200, 'GET', '/api/keys'), before)
  assert.not.ok('limits' in (await expect(200, 'GET', '/api/settings')))
})

const settings = suite('limits in the settings')

settings(
  'settings patches replace limits completely and other settings field by field, and null removes both',
  async () => {
    const { expect } = openManagement()
    const plain = await expect(200, 'GET', '/api/settings')
    const full = {
      limits,
      whenPriceUnknown: 'allow',
      onStorageUnavailable: { usd: 'allow' },
      usage: { keepRequestsDays: 7 },
    } as const
    assert.equal(await expect(200, 'PATCH', '/api/settings', full), { ...plain, ...full })
    assert.equal(await expect(200, 'GET', '/api/settings'), { ...plain, ...full })
    const changed = await expect(200, 'PATCH', '/api/settings', {
      limits: { parallel: 9 },
      onStorageUnavailable: { requests: 'refuse' },
      usage: { keepRequestsDays: null, keepTotalsDays: 30 },
    })
    assert.equal(changed.limits, { parallel: 9 })
    assert.equal(changed.onStorageUnavailable, { usd: 'allow', requests: 'refuse' })
    assert.equal(changed.usage, { keepTotalsDays: 30 })
    const none = {
      limits: null,
      whenPriceUnknown: null,
      onStorageUnavailable: { usd: null, requests: null },
      usage: null,
    }
    assert.equal(await expect(200, 'PATCH', '/api/settings', none), plain)
    assert.equal(await expect(200, 'GET', '/api/settings'), plain)
  },
)

settings('invalid settings are rejected with an error that identifies the field', async () => {
  const { expectError } = openManagement()
  for (const [input, error] of [
    [{ whenPriceUnknown: 'maybe' }, '"whenPriceUnknown" must be one of "skip", "allow"'],
    [{ onStorageUnavailable: { usd: 'pass' } }, '"onStorageUnavailable.usd" must be one of "refuse", "allow"'],
    [
      { onStorageUnavailable: { euros: 'allow' } },
      'Unknown field "onStorageUnavailable.euros". Known: "usd", "tokens", "requests", "parallel".',
    ],
    [{ usage: { keepRequestsDays: 0 } }, '"usage.keepRequestsDays" must be a whole number from 1 to 36500'],
    [{ usage: { keepTotalsDays: 1.5 } }, '"usage.keepTotalsDays" must be a whole number from 1 to 36500'],
  ] as const)
    await expectError(400, error, ['PATCH', '/api/settings', input])
})
