import { memoryStorage } from '../../adapters/storage/memory.ts'
import { listServedOperations } from '../../src/management/operations.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { Storage } from '../../src/types.ts'
import { CLOUD, ENROLLMENT_TOKEN, fakeProxy } from '../management/cloud/fake-proxy.ts'
import { openManagement } from '../management/open-management.ts'
import { damageStore, fillStore } from '../storage/support/damaged-store.ts'
import { assert, suite } from '../support/suite.ts'
import { checkResponse } from './check-results.ts'

const test = suite('management API results')

test("each operation's result matches its description", async () => {
  const { storage } = await fillStore()
  const hurt = await damageStore(storage, 'aliases/', () => 'damaged')
  const proxy = fakeProxy()
  const [first, ...others] = defaultCatalog.deepseek?.models ?? []
  const refresh = async () => ({ providers: { deepseek: [{ ...first, price: { input: 0 } }, ...others] } })
  const options = { cloud: { enrollmentToken: ENROLLMENT_TOKEN }, catalog: { refresh } }
  const { call } = openManagement({ storage, fetch: proxy.fetch, ...options })
  const seen = new Set<string>()

  async function send(method: string, path: string, sent?: object) {
    const { status, body } = await call(method, path, sent)
    const name = await checkResponse({ method, path, sent, status, body })
    assert.ok(name, `${method} ${path}: ${status} ${JSON.stringify(body)}`)
    seen.add(name)
    return body
  }

  await send('GET', '/api/openapi.json')
  await send('GET', '/api/health')
  await send('GET', `/api/health/records/${hurt}`)
  await send('PUT', `/api/health/records/${hurt}`, { record: { alias: 'hurt-alias', model: 'one/m' } })
  const again = await damageStore(storage, 'combos/', () => 'damaged')
  await send('DELETE', `/api/health/records/${again}`)

  const { id: key } = await send('POST', '/api/keys', { name: 'mine' })
  await send('GET', '/api/keys')
  await send('GET', `/api/keys/${key}`)
  await send('PUT', `/api/keys/${key}`, { isActive: false })
  await send('PATCH', `/api/keys/${key}`, { name: 'yours' })
  await send('DELETE', `/api/keys/${key}`)

  const limits = { requests: { minute: 5 }, usd: { day: 0.5 }, parallel: 2 }
  const { id: group } = await send('POST', '/api/groups', { name: 'team', limits, models: ['one/*'], kinds: ['llm'] })
  await send('GET', '/api/groups')
  await send('GET', `/api/groups/${group}`)
  await send('PUT', `/api/groups/${group}`, { isActive: false })
  await send('DELETE', `/api/groups/${group}`)
  await send('PUT', '/api/groups', { id: 'team', name: 'team' })
  await send('POST', '/api/guards', { name: 'word', kind: 'words', words: ['a'], on: ['request'] })
  await send('PUT', '/api/guards', { name: 'word', kind: 'words', message: 'No.' })
  await send('GET', '/api/guards')
  await send('GET', '/api/guards/word')
  await send('PUT', '/api/guards/word', { mode: 'watch' })
  await send('POST', '/api/guards/test', { text: 'a', guards: ['word'] })
  await send('DELETE', '/api/guards/word')
  const { id: limited } = await send('POST', '/api/keys', {
    name: 'limited',
    limits,
    group: 'team',
    expiresAt: '2030-01-01T00:00:00Z',
  })
  const away = { usd: 'allow' }
  await send('POST', `/api/keys/${limited}/rotate`, { graceMs: 5 })
  await send('PUT', '/api/accounts', { id: 'user_42', name: 'Alice', plan: 'team', limits, metadata: { tier: 'x' } })
  await send('GET', '/api/accounts?state=active&limit=5')
  await send('GET', '/api/accounts/user_42')
  await send('PATCH', '/api/accounts/user_42', { models: ['one/*'], kinds: ['llm'] })
  for (const action of ['pause', 'resume', 'revoke']) await send('POST', `/api/accounts/user_42/${action}`)
  for (const path of [
    `/api/keys/${limited}/limits`,
    '/api/groups/team/limits',
    '/api/accounts/user_42/limits',
    '/api/settings/limits',
  ]) {
    await send('GET', path)
    await send('DELETE', path)
    await send('POST', `${path}/settle`, { as: 'unspent' })
  }
  await send('DELETE', '/api/accounts/user_42?usage=erase')
  await send('PATCH', '/api/settings', {
    limits,
    whenPriceUnknown: 'allow',
    onStorageUnavailable: away,
    allowRequestModels: false,
    showKeyValues: false,
    usage: { keepTotalsDays: 9 },
  })

  await send('PATCH', '/api/settings', { health: { cooldownMs: 1_000 }, timeouts: null, maxAttempts: 2 })
  await send('GET', '/api/settings')

  const when = { bytes: { min: 1 }, headers: { 'x-team': ['a*', 'b'] }, metadata: { tier: true }, model: 'fast' }
  const { id: combo } = await send('POST', '/api/combos', {
    name: 'fast',
    models: ['one/m', { model: 'two/m', weight: 2, when }],
    kind: 'llm',
    on: ['content'],
    stickyLimit: 2,
    connectionStrategy: 'random',
    hedge: true,
    health: { minCalls: 2 },
    maxAttempts: 4,
    timeouts: { idleMs: 10 },
  })
  await send('GET', '/api/combos')
  await send('GET', `/api/combos/${combo}`)
  await send('PUT', `/api/combos/${combo}`, { models: [], hedge: null, timeouts: null })
  await send('DELETE', `/api/combos/${combo}`)

  const { id: connection } = await send('POST', '/api/connections', {
    provider: 'openai-compatible',
    apiKey: 'sk-0123456789-abcd',
    priority: 1,
    draining: true,
    providerSpecificData: { baseUrl: 'https://up.example/v1', prefix: 'up', sharesPrefix: true, enabledModels: ['m'] },
  })
  await send('GET', '/api/connections')
  await send('GET', `/api/connections/${connection}`)
  await send('PUT', `/api/connections/${connection}`, { priority: null, format: 'openai-chat' })
  await send('DELETE', `/api/health/${connection}`)
  await send('DELETE', '/api/health')
  await send('POST', `/api/connections/${connection}/models`)
  await send('POST', `/api/connections/${connection}/test`)
  await send('DELETE', `/api/connections/${connection}`)

  await send('POST', '/api/models/custom', { providerAlias: 'one', id: 'vendor/new', type: 'image' })
  await send('GET', '/api/models')
  await send('GET', '/api/models/custom')
  await send('DELETE', '/api/models/custom/one/vendor/new')
  await send('PUT', '/api/models/aliases', { alias: 'a/b', model: 'nowhere' })
  await send('GET', '/api/models/aliases')
  await send('DELETE', '/api/models/aliases/a/b')

  await send('PUT', '/api/keys', { name: 'seeded' })
  await send('PUT', '/api/connections', { id: 'seeded', provider: 'openai' })
  await send('PUT', '/api/models/custom', { providerAlias: 'one', id: 'vendor/new' })
  await send('PUT', '/api/combos', { name: 'seeded', models: ['openai/gpt-5-mini'] })

  await send('GET', '/api/providers')
  await send('GET', '/api/providers/openai')
  await send('PUT', '/api/providers/openai', { strategy: 'round-robin', stickyLimit: 3 })
  await send('POST', '/api/explain', { model: 'one/m', body: { stream: true }, headers: { 'X-Team': 'a' } })
  await send('POST', '/api/explain', { model: 'nobody/m' })
  await send('POST', '/api/catalog/refresh')
  await send('GET', '/api/catalog')
  await send('POST', '/api/catalog/accept', { models: [`deepseek/${first?.id}`] })
  await send('POST', '/api/catalog/rollback')
  await send('POST', '/api/tokens', { account: 'alice' })
  await send('GET', '/api/overview')
  await send('GET', '/api/info')

  await call('POST', '/v1/chat/completions', { model: 'nobody/m', messages: [] })
  await send('GET', '/api/usage?by=key,model,hour')
  const { requests } = (await send('GET', '/api/usage/requests')) as unknown as { requests: { id: string }[] }
  await send('GET', `/api/usage/requests/${requests[0]?.id}`)
  await send('GET', '/api/usage/requests?sort=cost&order=asc')
  await send('GET', `/api/usage/keys?ids=${limited}`)

  await send('PATCH', '/api/settings', { cloudUrl: CLOUD })
  for (const action of ['check', 'enable', 'sync', 'enable']) await send('POST', '/api/sync/cloud', { action })
  await send('GET', '/api/sync/cloud')
  const { sessions } = (await send('GET', '/api/sync/cloud/sessions')) as unknown as { sessions: { id: string }[] }
  await send('DELETE', `/api/sync/cloud/sessions/${sessions[0]?.id}`)
  await send('POST', '/api/sync/cloud', { action: 'disable' })

  const served = listServedOperations().map(({ names }) => names.join('.'))
  assert.equal(
    served.filter((name) => !seen.has(name)),
    [],
    'Call each of these operations above.',
  )
})

test('the health of targets that are failing, in cooldown, or draining matches its description', async () => {
  const error = { error: { message: 'Slow down.', type: 'rate_limit_error', code: 'rate_limit_exceeded' } }
  const { call, send, expect } = openManagement({
    fetch: async () => Response.json(error, { status: 429, headers: { 'retry-after': '30' } }),
  })
  const { id } = await expect(201, 'POST', '/api/connections', { provider: 'openai', apiKey: 'sk-0123456789-abcd' })
  await expect(201, 'POST', '/api/connections', { provider: 'groq', apiKey: 'sk-0123456789-abcd', draining: true })
  await send('POST', '/v1/chat/completions', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'openai/gpt-5-mini', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  const { status, body } = await call('GET', '/api/health')
  assert.is(await checkResponse({ method: 'GET', path: '/api/health', status, body }), 'health.list')
  const { health, targets } = body as unknown as { health: { state: string }[]; targets: { state: string }[] }
  assert.equal([health[0]?.state, targets.map(({ state }) => state).sort()], ['cooling', ['cooling', 'draining']])
  const shown = await call('GET', `/api/connections/${id}`)
  assert.ok(Object.hasOwn(shown.body, 'health'), JSON.stringify(shown.body))
})

const list = { method: 'GET', path: '/api/keys', status: 200 }
const one = { id: 'i', name: 'n', key: 'k', createdAt: '2026-01-01T00:00:00.000Z' }
const assertMismatch = (response: Parameters<typeof checkResponse>[0]) =>
  checkResponse(response).then(
    () => 'accepted',
    (error: Error) => error.message,
  )

test("results that don't match their description are detected", async () => {
  assert.is(await assertMismatch({ ...list, body: { keys: [one] } }), 'accepted')
  assert.match(
    await assertMismatch({ ...list, body: { keys: [{ ...one, digest: 'd' }] } }),
    /fields that aren't in its schema/,
  )
  assert.match(await assertMismatch({ ...list, body: { keys: [{ ...one, name: 7 }] } }), /must be string/)
  assert.match(await assertMismatch({ ...list, body: {} }), /must have required property 'keys'/)
  assert.match(await assertMismatch({ ...list, status: 404, body: { error: 'e' } }), /documented statuses: 200,400/)
  assert.match(await assertMismatch({ ...list, status: 401, body: { error: 'e', more: 1 } }), /answered 401/)
  const created = { method: 'POST', path: '/api/keys', status: 201, body: one }
  assert.is(await assertMismatch({ ...created, sent: { name: 'n' } }), 'accepted')
  assert.match(await assertMismatch({ ...created, sent: { name: 'n', more: 1 } }), /description rejects the request/)
})

test('errors from a failing storage and from a closed gateway match their description', async () => {
  const fail = async () => {
    throw new Error('The disk is gone.')
  }
  const broken: Storage = { ...memoryStorage(), get: fail, set: fail, list: fail }
  const { call } = openManagement({ storage: broken, logger: false })
  for (const path of ['/api/keys', '/api/settings', '/api/combos/x']) {
    const { status } = await call('GET', path)
    assert.ok(status === 500 || status === 503, `${path}: ${status}`)
  }
  const { call: callClosed, gateway } = openManagement()
  await gateway.close()
  assert.is((await callClosed('GET', '/api/keys')).status, 503)
})
