import { memoryStorage } from '../../../adapters/storage/memory.ts'
import type { GatewayOptions } from '../../../src/options.ts'
import type { Storage } from '../../../src/types.ts'
import { assert, suite } from '../../support/suite.ts'
import { openManagement } from '../open-management.ts'
import { CLOUD, ENROLLMENT_TOKEN, fakeProxy } from './fake-proxy.ts'

const test = suite('the cloud actions')

const SYNC = '/api/sync/cloud'

async function open(options: Partial<GatewayOptions> = {}, proxy = fakeProxy()) {
  const management = openManagement({ fetch: proxy.fetch, cloud: { enrollmentToken: ENROLLMENT_TOKEN }, ...options })
  await management.expect(200, 'PATCH', '/api/settings', { cloudUrl: CLOUD })
  const sendAction = (action: string, extra = {}) => management.call('POST', SYNC, { action, ...extra })
  return { ...management, proxy, act: sendAction, api: management.gateway.api }
}

test('enable mirrors the data, turns cloud sync on, and verifies the mirror with an active key', async () => {
  const { api, act, proxy, expect } = await open()
  await api.keys.create({ name: 'mine' })
  const { status, body } = await act('enable')
  assert.equal([status, body], [200, { success: true, verified: true, conflicts: [] }])
  assert.is((await api.settings.get()).cloudEnabled, true)
  const names = proxy.seen.map(({ name }) => name)
  assert.is(names.at(-1), 'GET /v1/models')
  const state = await expect(200, 'GET', SYNC)
  assert.equal(state, {
    cloudEnabled: true,
    cloudUrl: CLOUD,
    lastSuccessAt: '2026-01-01T00:00:00.000Z',
    lagMs: 0,
    lastError: null,
    conflicts: [],
  })
  assert.is(proxy.open(), 0)
})

test('enable creates a key if there is none, and otherwise uses an existing key', async () => {
  const { act, api, proxy } = await open()
  const { body } = await act('enable')
  const { createdKey } = body as unknown as { createdKey: { key: string; id: string; name: string; createdAt: string } }
  assert.equal(Object.keys(createdKey), ['key', 'id', 'name', 'createdAt'])
  assert.is((await api.keys.list()).keys[0]?.key, createdKey.key)
  assert.is(Object.hasOwn((await act('enable')).body, 'createdKey'), false)
  assert.is((await api.keys.list()).keys.length, 1)
  assert.ok(proxy.tenant()?.states.has(`keys ${createdKey.id}`), 'the key is mirrored')
})

test('only the enrollment message contains the enrollment token', async () => {
  const storage = memoryStorage()
  const { act, proxy, gateway } = await open({ storage, cloud: {} })
  const rejected = await act('enable')
  assert.is(rejected.status, 502)
  assert.match(rejected.body.error, /rejected the request: Send the enrollment token\./)
  assert.is((await gateway.api.settings.get()).cloudEnabled, false)
  assert.is((await act('enable', { enrollmentToken: ENROLLMENT_TOKEN })).status, 200)
  assert.is((await act('enable', { enrollmentToken: ENROLLMENT_TOKEN })).status, 200)
  const withCredential = proxy.calls.filter(({ url, init }) =>
    JSON.stringify([url, init.body, [...new Headers(init.headers)]]).includes(ENROLLMENT_TOKEN),
  )
  assert.equal(
    withCredential.map(({ url }) => url),
    [`${CLOUD}/cloud/1/sessions`],
  )
  assert.not.match(await getText(storage), new RegExp(ENROLLMENT_TOKEN))
})

test('no error contains the enrollment token, even if the response repeats it', async () => {
  const { act, proxy } = await open({ cloud: {} })
  const respond = () =>
    Promise.resolve(Response.json({ error: `Not ${ENROLLMENT_TOKEN}!`, code: 'NO' }, { status: 401 }))
  proxy.failAt('POST /cloud/1/sessions', respond, { nth: 2 })
  const { status, body } = await act('enable', { enrollmentToken: ENROLLMENT_TOKEN })
  assert.is(status, 502)
  assert.match(body.error, /rejected the request: Not …!$/)
})

test('the cloud identity is encrypted, created once per URL, and never sent to another URL', async () => {
  const storage = memoryStorage()
  const secret = 'a-secret-of-more-than-thirty-two-characters'
  const { act, api, proxy } = await open({ storage, secret })
  await act('enable')
  await act('disable')
  await act('enable')
  assert.is(proxy.enrolled.size, 1)
  assert.not.match(await getText(storage), /privateKey/)
  const again = await open({ storage, secret }, proxy)
  assert.is((await again.act('sync')).status, 200)
  assert.is(proxy.enrolled.size, 1, 'the proxy recognizes a gateway with the same data')
  await act('disable')
  await api.settings.update({ cloudUrl: `${CLOUD}/other` })
  const { status } = await act('enable')
  assert.is(status, 502) // there is no proxy at this URL
  const identities = JSON.parse((await storage.get('cloud/identity'))?.value ?? '{}')
  assert.equal(Object.keys(identities), [CLOUD])
})

test('sync opens a new session if the proxy has discarded the previous one', async () => {
  const { act, proxy } = await open()
  await act('enable')
  proxy.sessions.clear()
  assert.equal((await act('sync')).body, { success: true, conflicts: [] })
  assert.is(proxy.sessions.size, 1)
})

for (const gone of ['the mirror', 'everything']) {
  test(`if the proxy lost ${gone}, the sync error suggests enable, which restores the mirror`, async () => {
    const { act, proxy, api } = await open()
    const { id } = await api.keys.create({ name: 'mine' })
    await act('enable')
    if (gone === 'everything') proxy.reset()
    else proxy.tenants.clear()
    const { status, body } = await act('sync')
    assert.is(status, 502)
    assert.match(body.error, /POST \/api\/sync\/cloud with the action "enable"\.$/)
    assert.is((await api.cloud.get()).lastError, body.error)
    assert.is((await act('enable')).status, 200)
    assert.ok(proxy.tenant()?.states.has(`keys ${id}`))
    assert.is((await api.cloud.get()).lastError, null)
  })
}

test('disable removes the mirror and the sessions, and succeeds again after a lost response', async () => {
  const { act, proxy, api } = await open()
  await act('enable')
  proxy.failAt('DELETE /cloud/1/mirror', () => Promise.reject(new TypeError('fetch failed')), { isAfter: true })
  const lost = await act('disable')
  assert.is(lost.status, 502)
  assert.match(lost.body.error, /"force": true/)
  assert.is((await api.settings.get()).cloudEnabled, true)
  assert.equal((await act('disable')).body, { success: true, conflicts: [] })
  assert.is((await api.settings.get()).cloudEnabled, false)
  assert.equal([proxy.tenants.size, proxy.sessions.size], [0, 0])
  assert.is((await act('disable')).status, 409)
})

test('a forced disable turns cloud sync off within 15 s even without the proxy', async () => {
  for (const respond of [() => Promise.reject(new TypeError('fetch failed')), () => new Promise<never>(() => {})]) {
    const { act, proxy, api, clock } = await open()
    await act('enable')
    proxy.failAt('POST /cloud/1/mirror', respond)
    const before = clock.now()
    const acting = act('disable', { force: true })
    if (respond.length === 0) await Promise.race([acting, clock.untilPending(2).then(() => clock.advance(12_000))])
    assert.equal((await acting).body, { success: true, conflicts: [] })
    assert.ok(clock.now() - before < 15_000)
    assert.is((await api.settings.get()).cloudEnabled, false)
    assert.is(proxy.open(), 0)
  }
})

test('a remote http URL gets a 400 that explains what to do, unless allowHttp is set', async () => {
  for (const [cloudUrl, allowHttp, status] of [
    ['http://cloud.example', false, 400],
    ['http://127.0.0.2.example', false, 400],
    ['http://10.0.0.1', false, 400],
    ['http://cloud.example', true, 502],
    ['http://localhost:1', false, 502],
    ['http://127.0.0.1:1', false, 502],
    ['http://[::1]:1', false, 502],
  ] as const) {
    const { act, expect, proxy } = await open({ cloud: { allowHttp } })
    await expect(200, 'PATCH', '/api/settings', { cloudUrl })
    const calls = proxy.calls.length
    const response = await act('enable')
    assert.is(response.status, status, cloudUrl)
    if (status === 400) {
      assert.match(response.body.error, /https:\/\/.*allowHttp: true/)
      assert.is(proxy.calls.length, calls)
    }
  }
})

test("cloudUrl can't be changed while cloud sync is on", async () => {
  const { act, expectError, expect } = await open()
  await act('enable')
  const error =
    '"cloudUrl" cannot be changed while cloud sync is on, because the data is synced there. Send POST /api/sync/cloud with the action "disable" first.'
  for (const cloudUrl of ['https://other.example', ''])
    await expectError(409, error, ['PATCH', '/api/settings', { requireApiKey: true, cloudUrl }])
  assert.is((await expect(200, 'PATCH', '/api/settings', { cloudUrl: `${CLOUD}/v1/` })).requireApiKey, false)
  await act('disable')
  await expect(200, 'PATCH', '/api/settings', { cloudUrl: 'https://other.example' })
})

const refusals = [
  ['KEY_TAKEN', 409],
  ['INVALID', 502],
  ['NO_SECRET', 502],
] as const

test('a key that the proxy rejects returns a 409 or 502, and other records are synced', async () => {
  for (const [code, status] of refusals) {
    const { act, api, proxy } = await open()
    await act('enable')
    const taken = await api.keys.create({ name: 'taken' })
    const other = await api.keys.create({ name: 'other' })
    proxy.judge(({ id }) => (id === taken.id ? { refused: 'Another gateway has it.', code } : 'taken'))
    for (const action of ['sync', 'enable']) {
      const { status: answered, body } = await act(action)
      assert.is(answered, status)
      assert.match(
        body.error,
        new RegExp(`^The record ${taken.id} of keys is not synced: .*All other records are synced\\.$`),
      )
      assert.is((await api.settings.get()).cloudEnabled, true)
      assert.ok(proxy.tenant()?.states.has(`keys ${other.id}`))
    }
  }
})

test('a record rejected during enable leaves cloud sync off and the proxy without data', async () => {
  for (const [code, status] of refusals) {
    const { act, api, proxy } = await open()
    const taken = await api.keys.create({ name: 'taken' })
    proxy.judge(({ id }) => (id === taken.id ? { refused: 'Another gateway has it.', code } : 'taken'))
    const { status: answered, body } = await act('enable')
    assert.is(answered, status)
    assert.is(
      body.error,
      `The record ${taken.id} of keys is not synced: Another gateway has it. Cloud sync stays off, and the proxy stores nothing.`,
    )
    assert.is((await api.settings.get()).cloudEnabled, false)
    assert.is(proxy.tenant()?.mirror, undefined)
    assert.is(proxy.sessions.size, 0)
    assert.is((await act('disable')).status, 409)
    proxy.judge(() => 'taken')
    assert.is((await act('enable')).status, 200)
  }
})

test('if enable fails after sending data, the error says so, and disable removes the data', async () => {
  const { act, api, proxy } = await open()
  await api.keys.create({ name: 'mine' })
  proxy.failAt('POST /cloud/1/mirror', () => Promise.reject(new TypeError('fetch failed')), { nth: 2 })
  const { status, body } = await act('enable')
  assert.is(status, 502)
  assert.match(body.error, /Repeat the action, or remove the data with the action "disable"\.$/)
  assert.is((await api.settings.get()).cloudEnabled, false)
  assert.is((await act('sync')).status, 409)
  proxy.failAt('DELETE /cloud/1/mirror', () => Promise.reject(new TypeError('fetch failed')))
  assert.is((await act('disable')).status, 502)
  assert.is((await act('disable')).status, 200)
  assert.is(proxy.tenant()?.mirror, undefined)
  assert.is((await act('disable')).status, 409)
})

test("a cloud enable that can't be verified succeeds, and the result explains why", async () => {
  const failures = [
    [
      () => Promise.resolve(new Response('no', { status: 401 })),
      /GET .*\/v1\/models returned 401 for the key "mine"\.$/,
    ],
    [() => Promise.reject(new TypeError('fetch failed')), /is unreachable/],
    [() => new Promise<never>(() => {}), /got no response in time/],
  ] as const
  for (const [respond, why] of failures) {
    const { act, api, proxy, clock } = await open()
    await api.keys.create({ name: 'mine' })
    proxy.failAt('GET /v1/models', respond)
    const before = clock.now()
    const acting = act('enable')
    if (why.source.includes('time')) {
      while (!proxy.calls.some(({ url }) => url.endsWith('/v1/models')))
        await new Promise((resolve) => setTimeout(resolve))
      await clock.advance(14_000)
    }
    const body = (await acting).body as unknown as { verified: boolean; verifyError: string }
    assert.is(body.verified, false)
    assert.match(body.verifyError, why)
    assert.ok(clock.now() - before < 15_000)
    assert.is((await api.settings.get()).cloudEnabled, true)
    assert.is(proxy.open(), 0)
  }
})

test("a web page, or any response other than a model list, doesn't verify the mirror", async () => {
  for (const respond of [
    () => new Response('<html>Welcome</html>', { headers: { 'content-type': 'text/html' } }),
    () => new Response('{"object":"list","data":[]}', { headers: { 'content-type': 'text/html' } }),
    () => Response.json({ object: 'list' }),
    () => Response.json([]),
  ]) {
    const { act, proxy } = await open()
    void proxy.failAt('GET /v1/models', async () => respond())
    const { status, body } = await act('enable')
    const { verified, verifyError } = body as unknown as { verified: boolean; verifyError: string }
    assert.equal([status, verified], [200, false])
    assert.match(verifyError, /GET https:\/\/cloud\.example\/proxy\/v1\/models did not return a list of models/)
  }
})

test('enable warns about active connections with private URLs', async () => {
  const { act, api } = await open()
  const put = (id: string, baseUrl: string, isActive = true) =>
    api.connections.put({ id, name: id, provider: `openai-compatible-${id}`, baseUrl, isActive })
  await put('public', 'https://api.acme.com/v1')
  await put('address', 'https://203.0.113.9/v1')
  await put('paused', 'http://10.0.0.1/v1', false)
  assert.is(Object.hasOwn((await act('enable')).body, 'warnings'), false)
  await put('lab', 'http://192.168.1.5:11434/v1')
  await put('pod', 'http://models.internal/v1')
  await api.connections.put({ id: 'ollama', name: 'ollama', provider: 'ollama' })
  const { body } = await act('enable')
  const { warnings } = body as unknown as { warnings: string[] }
  assert.equal(warnings, [
    'The cloud proxy may be unable to reach the private URLs of these connections: "lab", "pod", "ollama".',
  ])
})

test("enable doesn't warn about local connections if the proxy is also local", async () => {
  const proxy = fakeProxy()
  const { gateway } = openManagement({
    fetch: (input: string | URL | Request, init?: RequestInit) =>
      proxy.fetch(String(input).replace('http://127.0.0.1:1', CLOUD), init),
    cloud: { enrollmentToken: ENROLLMENT_TOKEN },
  })
  await gateway.api.settings.update({ cloudUrl: 'http://127.0.0.1:1' })
  await gateway.api.connections.put({ id: 'ollama', provider: 'ollama' })
  assert.is((await gateway.api.cloud.enable()).warnings, undefined)
  await gateway.api.connections.put({ id: 'lab', provider: 'openai-compatible-lab', baseUrl: 'http://10.0.0.1/v1' })
  assert.is((await gateway.api.cloud.enable()).warnings?.length, 1)
})

test('disable removes data left by a failed enable, even after the URL has changed', async () => {
  const { act, api, proxy } = await open()
  await api.keys.create({ name: 'mine' })
  void proxy.failAt('POST /cloud/1/mirror', () => Promise.reject(new TypeError('fetch failed')), {
    nth: 2,
    isAfter: true,
  })
  assert.is((await act('enable')).status, 502)
  assert.is(proxy.tenants.size, 1)
  await api.settings.update({ cloudUrl: '' })
  assert.is((await act('disable')).status, 200)
  assert.is(proxy.tenants.size, 0)
})

test("with only paused keys, enable can't verify the mirror and creates no key", async () => {
  const { act, api } = await open()
  const { id } = await api.keys.create({ name: 'mine' })
  await api.keys.update(id, { isActive: false })
  assert.equal((await act('enable')).body, {
    success: true,
    verified: false,
    verifyError: 'This gateway has no active API key that it can decrypt.',
    conflicts: [],
  })
})

test('lists and revokes cloud sessions', async () => {
  const { act, expect, api, proxy, expectError } = await open()
  await act('enable')
  const { sessions } = await api.cloud.sessions.list()
  assert.equal(
    sessions,
    [{ id: 'session-2', createdAt: '2026-01-01T00:00:00.000Z', lastUsedAt: '2026-01-01T00:00:00.000Z' }].map(
      (session) => ({ ...session, id: [...proxy.sessions.keys()][0] ?? '' }),
    ),
  )
  assert.equal(await expect(200, 'GET', `${SYNC}/sessions`), { sessions })
  await expectError(404, 'Session not found', ['DELETE', `${SYNC}/sessions/nobody`])
  assert.equal(await expect(200, 'DELETE', `${SYNC}/sessions/${sessions[0]?.id}`), { success: true })
  assert.is(proxy.sessions.size, 0)
  assert.is((await act('sync')).status, 200)
})

async function getText(storage: Storage): Promise<string> {
  return JSON.stringify(await storage.list(''))
}
