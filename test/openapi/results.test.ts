import { memoryStorage } from '../../adapters/storage/memory.ts'
import { servedOperations } from '../../src/management/operations.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { Storage } from '../../src/types.ts'
import { CLOUD, ENROLLMENT_TOKEN, fakeProxy } from '../management/cloud/fake-proxy.ts'
import { openDoor } from '../management/open-management.ts'
import { damaged, filled } from '../storage/support/damaged-store.ts'
import { assert, suite } from '../support/suite.ts'
import { checkAnswer } from './check-results.ts'

const test = suite('management API results')

test('each operation resolves to a result that matches its description', async () => {
  const { storage } = await filled()
  const hurt = await damaged(storage, 'aliases/', () => 'damaged')
  const proxy = fakeProxy()
  const [first, ...others] = defaultCatalog.deepseek?.models ?? []
  const refresh = async () => ({ providers: { deepseek: [{ ...first, price: { input: 0 } }, ...others] } })
  const options = { cloud: { enrollmentToken: ENROLLMENT_TOKEN }, catalog: { refresh } }
  const { call } = openDoor({ storage, fetch: proxy.fetch, ...options })
  const seen = new Set<string>()

  async function ask(method: string, path: string, sent?: object) {
    const { status, body } = await call(method, path, sent)
    const name = await checkAnswer({ method, path, sent, status, body })
    assert.ok(name, `${method} ${path}: ${status} ${JSON.stringify(body)}`)
    seen.add(name)
    return body
  }

  await ask('GET', '/api/openapi.json')
  await ask('GET', '/api/health')
  await ask('GET', `/api/health/records/${hurt}`)
  await ask('PUT', `/api/health/records/${hurt}`, { record: { alias: 'hurt-alias', model: 'one/m' } })
  const again = await damaged(storage, 'combos/', () => 'damaged')
  await ask('DELETE', `/api/health/records/${again}`)

  const { id: key } = await ask('POST', '/api/keys', { name: 'mine' })
  await ask('GET', '/api/keys')
  await ask('GET', `/api/keys/${key}`)
  await ask('PUT', `/api/keys/${key}`, { isActive: false })
  await ask('PATCH', `/api/keys/${key}`, { name: 'yours' })
  await ask('DELETE', `/api/keys/${key}`)

  const limits = { requests: { minute: 5 }, usd: { day: 0.5 }, parallel: 2 }
  const { id: group } = await ask('POST', '/api/groups', { name: 'team', limits, models: ['one/*'], kinds: ['llm'] })
  await ask('GET', '/api/groups')
  await ask('GET', `/api/groups/${group}`)
  await ask('PUT', `/api/groups/${group}`, { isActive: false })
  await ask('DELETE', `/api/groups/${group}`)
  await ask('PUT', '/api/groups', { id: 'team', name: 'team' })
  await ask('POST', '/api/guards', { name: 'word', kind: 'words', words: ['a'], on: ['request'] })
  await ask('PUT', '/api/guards', { name: 'word', kind: 'words', message: 'No.' })
  await ask('GET', '/api/guards')
  await ask('GET', '/api/guards/word')
  await ask('PUT', '/api/guards/word', { mode: 'watch' })
  await ask('POST', '/api/guards/test', { text: 'a', guards: ['word'] })
  await ask('DELETE', '/api/guards/word')
  const { id: limited } = await ask('POST', '/api/keys', {
    name: 'limited',
    limits,
    group: 'team',
    expiresAt: '2030-01-01T00:00:00Z',
  })
  const away = { usd: 'allow' }
  await ask('POST', `/api/keys/${limited}/rotate`, { graceMs: 5 })
  await ask('PUT', '/api/accounts', { id: 'user_42', name: 'Alice', plan: 'team', limits, metadata: { tier: 'x' } })
  await ask('GET', '/api/accounts?state=active&limit=5')
  await ask('GET', '/api/accounts/user_42')
  await ask('PATCH', '/api/accounts/user_42', { models: ['one/*'], kinds: ['llm'] })
  for (const action of ['pause', 'resume', 'revoke']) await ask('POST', `/api/accounts/user_42/${action}`)
  for (const path of [
    `/api/keys/${limited}/limits`,
    '/api/groups/team/limits',
    '/api/accounts/user_42/limits',
    '/api/settings/limits',
  ]) {
    await ask('GET', path)
    await ask('DELETE', path)
    await ask('POST', `${path}/settle`, { as: 'unspent' })
  }
  await ask('DELETE', '/api/accounts/user_42?usage=erase')
  await ask('PATCH', '/api/settings', {
    limits,
    whenPriceUnknown: 'allow',
    onStorageUnavailable: away,
    allowRequestModels: false,
    showKeyValues: false,
    usage: { keepTotalsDays: 9 },
  })

  await ask('PATCH', '/api/settings', { health: { cooldownMs: 1_000 }, timeouts: null, maxAttempts: 2 })
  await ask('GET', '/api/settings')

  const when = { bytes: { min: 1 }, headers: { 'x-team': ['a*', 'b'] }, metadata: { tier: true }, model: 'fast' }
  const { id: combo } = await ask('POST', '/api/combos', {
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
  await ask('GET', '/api/combos')
  await ask('GET', `/api/combos/${combo}`)
  await ask('PUT', `/api/combos/${combo}`, { models: [], hedge: null, timeouts: null })
  await ask('DELETE', `/api/combos/${combo}`)

  const { id: connection } = await ask('POST', '/api/connections', {
    provider: 'openai-compatible',
    apiKey: 'sk-0123456789-abcd',
    priority: 1,
    draining: true,
    providerSpecificData: { baseUrl: 'https://up.example/v1', prefix: 'up', sharesPrefix: true, enabledModels: ['m'] },
  })
  await ask('GET', '/api/connections')
  await ask('GET', `/api/connections/${connection}`)
  await ask('PUT', `/api/connections/${connection}`, { priority: null, format: 'openai-chat' })
  await ask('DELETE', `/api/health/${connection}`)
  await ask('DELETE', '/api/health')
  await ask('POST', `/api/connections/${connection}/models`)
  await ask('POST', `/api/connections/${connection}/test`)
  await ask('DELETE', `/api/connections/${connection}`)

  await ask('POST', '/api/models/custom', { providerAlias: 'one', id: 'vendor/new', type: 'image' })
  await ask('GET', '/api/models')
  await ask('GET', '/api/models/custom')
  await ask('DELETE', '/api/models/custom/one/vendor/new')
  await ask('PUT', '/api/models/aliases', { alias: 'a/b', model: 'nowhere' })
  await ask('GET', '/api/models/aliases')
  await ask('DELETE', '/api/models/aliases/a/b')

  await ask('PUT', '/api/keys', { name: 'seeded' })
  await ask('PUT', '/api/connections', { id: 'seeded', provider: 'openai' })
  await ask('PUT', '/api/models/custom', { providerAlias: 'one', id: 'vendor/new' })
  await ask('PUT', '/api/combos', { name: 'seeded', models: ['openai/gpt-5-mini'] })

  await ask('GET', '/api/providers')
  await ask('GET', '/api/providers/openai')
  await ask('PUT', '/api/providers/openai', { strategy: 'round-robin', stickyLimit: 3 })
  await ask('POST', '/api/explain', { model: 'one/m', body: { stream: true }, headers: { 'X-Team': 'a' } })
  await ask('POST', '/api/explain', { model: 'nobody/m' })
  await ask('POST', '/api/catalog/refresh')
  await ask('GET', '/api/catalog')
  await ask('POST', '/api/catalog/accept', { models: [`deepseek/${first?.id}`] })
  await ask('POST', '/api/catalog/rollback')
  await ask('POST', '/api/tokens', { account: 'alice' })
  await ask('GET', '/api/overview')
  await ask('GET', '/api/info')

  await call('POST', '/v1/chat/completions', { model: 'nobody/m', messages: [] })
  await ask('GET', '/api/usage?by=key,model,hour')
  const { requests } = (await ask('GET', '/api/usage/requests')) as unknown as { requests: { id: string }[] }
  await ask('GET', `/api/usage/requests/${requests[0]?.id}`)
  await ask('GET', '/api/usage/requests?sort=cost&order=asc')
  await ask('GET', `/api/usage/keys?ids=${limited}`)

  await ask('PATCH', '/api/settings', { cloudUrl: CLOUD })
  for (const action of ['check', 'enable', 'sync', 'enable']) await ask('POST', '/api/sync/cloud', { action })
  await ask('GET', '/api/sync/cloud')
  const { sessions } = (await ask('GET', '/api/sync/cloud/sessions')) as unknown as { sessions: { id: string }[] }
  await ask('DELETE', `/api/sync/cloud/sessions/${sessions[0]?.id}`)
  await ask('POST', '/api/sync/cloud', { action: 'disable' })

  const served = servedOperations().map(({ names }) => names.join('.'))
  assert.equal(
    served.filter((name) => !seen.has(name)),
    [],
    'Call each of these operations above.',
  )
})

test('the health of targets that are failing, in cooldown, or draining matches its description', async () => {
  const error = { error: { message: 'Slow down.', type: 'rate_limit_error', code: 'rate_limit_exceeded' } }
  const { call, send, expect } = openDoor({
    fetch: async () => Response.json(error, { status: 429, headers: { 'retry-after': '30' } }),
  })
  const { id } = await expect(201, 'POST', '/api/connections', { provider: 'openai', apiKey: 'sk-0123456789-abcd' })
  await expect(201, 'POST', '/api/connections', { provider: 'groq', apiKey: 'sk-0123456789-abcd', draining: true })
  await send('POST', '/v1/chat/completions', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'openai/gpt-5-mini', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  const { status, body } = await call('GET', '/api/health')
  assert.is(await checkAnswer({ method: 'GET', path: '/api/health', status, body }), 'health.list')
  const { health, targets } = body as unknown as { health: { state: string }[]; targets: { state: string }[] }
  assert.equal([health[0]?.state, targets.map(({ state }) => state).sort()], ['cooling', ['cooling', 'draining']])
  const shown = await call('GET', `/api/connections/${id}`)
  assert.ok(Object.hasOwn(shown.body, 'health'), JSON.stringify(shown.body))
})

const list = { method: 'GET', path: '/api/keys', status: 200 }
const one = { id: 'i', name: 'n', key: 'k', createdAt: '2026-01-01T00:00:00.000Z' }
const refused = (answer: Parameters<typeof checkAnswer>[0]) =>
  checkAnswer(answer).then(
    () => 'accepted',
    (error: Error) => error.message,
  )

test("results that don't match their description are detected", async () => {
  assert.is(await refused({ ...list, body: { keys: [one] } }), 'accepted')
  assert.match(
    await refused({ ...list, body: { keys: [{ ...one, digest: 'd' }] } }),
    /members that its schema does not have/,
  )
  assert.match(await refused({ ...list, body: { keys: [{ ...one, name: 7 }] } }), /must be string/)
  assert.match(await refused({ ...list, body: {} }), /must have required property 'keys'/)
  assert.match(await refused({ ...list, status: 404, body: { error: 'e' } }), /described are 200,400/)
  assert.match(await refused({ ...list, status: 401, body: { error: 'e', more: 1 } }), /answered 401/)
  const created = { method: 'POST', path: '/api/keys', status: 201, body: one }
  assert.is(await refused({ ...created, sent: { name: 'n' } }), 'accepted')
  assert.match(await refused({ ...created, sent: { name: 'n', more: 1 } }), /description refuses it/)
})

test('errors of a failing storage and a closed gateway match their description', async () => {
  const fail = async () => {
    throw new Error('The disk is gone.')
  }
  const broken: Storage = { ...memoryStorage(), get: fail, set: fail, list: fail }
  const { call } = openDoor({ storage: broken, logger: false })
  for (const path of ['/api/keys', '/api/settings', '/api/combos/x']) {
    const { status } = await call('GET', path)
    assert.ok(status === 500 || status === 503, `${path}: ${status}`)
  }
  const { call: callClosed, gateway } = openDoor()
  await gateway.close()
  assert.is((await callClosed('GET', '/api/keys')).status, 503)
})
