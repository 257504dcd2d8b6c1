import type { Catalog } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite("a connection's prefix")

const catalog: Catalog = {
  openai: { name: 'OpenAI', alias: 'oa', baseUrl: 'https://openai.test/v1', models: [{ id: 'gpt-5' }] },
  google: { alias: 'gemini', catalogAlias: 'goog', baseUrl: 'https://google.test/v1' },
}
const lab = (data: object = {}) => ({
  provider: 'openai-compatible-lab',
  name: 'Lab',
  providerSpecificData: { baseUrl: 'https://lab.test/v1', ...data },
})
const advice = 'Choose another prefix, or set "providerSpecificData.sharesPrefix" to true to share it'
const taken = (prefix: string, owner: string) =>
  `"providerSpecificData.prefix" must not be "${prefix}". That is a name of ${owner}, and this connection would also receive its requests. ${advice}`

for (const [prefix, owner] of [
  ['openai', 'openai'],
  ['oa', 'openai'],
  [' oa ', 'openai'],
  ['gemini', 'google'],
  ['goog', 'google'],
] as const) {
  test(`rejects the prefix "${prefix}", which belongs to the built-in provider "${owner}"`, async () => {
    const { expectError, expect } = openManagement({ catalog })
    const error = taken(prefix.trim(), `the built-in provider "${owner}"`)
    await expectError(400, error, ['POST', '/api/connections', lab({ prefix })])
    const { id } = await expect(201, 'POST', '/api/connections', lab())
    await expectError(400, error, ['PUT', `/api/connections/${id}`, lab({ prefix })])
    assert.is((await expect(200, 'GET', `/api/connections/${id}`)).providerSpecificData?.prefix, undefined)
    const shared = { ...lab({ prefix }).providerSpecificData, sharesPrefix: true }
    const changed = await expect(200, 'PUT', `/api/connections/${id}`, { providerSpecificData: shared })
    assert.equal(changed.providerSpecificData, shared)
    await expect(201, 'POST', '/api/connections', lab({ prefix, sharesPrefix: true }))
  })
}

test('a provider can use each of its names as a prefix', async () => {
  const { expect } = openManagement({ catalog })
  for (const prefix of ['openai', 'oa', 'work', ''])
    await expect(201, 'POST', '/api/connections', { provider: 'openai', providerSpecificData: { prefix } })
})

for (const isActive of [true, false]) {
  test(`rejects the prefix of another provider's ${isActive ? 'active' : 'paused'} connection`, async () => {
    const { expectError, expect } = openManagement({ catalog })
    const { id } = await expect(201, 'POST', '/api/connections', { ...lab({ prefix: 'lab' }), isActive })
    const mine = { provider: 'mine', providerSpecificData: { baseUrl: 'https://mine.test/v1', prefix: 'lab' } }
    await expectError(400, taken('lab', `the connection "Lab" to "openai-compatible-lab" (id ${id})`), [
      'POST',
      '/api/connections',
      mine,
    ])
    const byId = { ...mine, providerSpecificData: { ...mine.providerSpecificData, prefix: 'openai-compatible-lab' } }
    await expect(400, 'POST', '/api/connections', byId)
    const shared = { ...mine.providerSpecificData, sharesPrefix: true }
    await expect(201, 'POST', '/api/connections', { ...mine, providerSpecificData: shared })
  })
}

test('connections to the same provider can share a prefix', async () => {
  const { expect } = openManagement({ catalog })
  await expect(201, 'POST', '/api/connections', lab({ prefix: 'lab' }))
  await expect(201, 'POST', '/api/connections', lab({ prefix: 'lab' }))
})

test("rejects a provider whose id is another connection's prefix, unless that connection shares it", async () => {
  const { expectError, expect } = openManagement({ catalog })
  const { id } = await expect(201, 'POST', '/api/connections', lab({ prefix: 'local' }))
  const local = { provider: 'local', providerSpecificData: { baseUrl: 'https://local.test/v1' } }
  await expectError(
    400,
    `"provider" must not be "local": its name "local" is the prefix of the connection "Lab" to "openai-compatible-lab" (id ${id}), which would receive its requests. Give that connection another prefix, or set its "providerSpecificData.sharesPrefix" to true`,
    ['POST', '/api/connections', local],
  )
  await expect(200, 'PUT', `/api/connections/${id}`, lab({ prefix: 'local', sharesPrefix: true }))
  await expect(201, 'POST', '/api/connections', local)
})

test('rejects one of two connections that concurrently claim the same prefix', async () => {
  const { call } = openManagement({ catalog })
  const one = (name: string) => ({
    provider: name,
    providerSpecificData: { baseUrl: `https://${name}.test/v1`, prefix: 'lab' },
  })
  const responses = await Promise.all(['a', 'b', 'c'].map((name) => call('POST', '/api/connections', one(name))))
  assert.equal(responses.map(({ status }) => status).sort(), [201, 400, 400])
})

test('keeps a connection stored by an earlier release, and checks its prefix when it changes', async () => {
  const { expectError, expect, storage } = openManagement({ catalog })
  const { id } = await expect(201, 'POST', '/api/connections', lab({ prefix: 'openai', sharesPrefix: true }))
  const stored = await storage.get(`connections/${id}`)
  const { order, record } = JSON.parse(stored?.value ?? '')
  const { sharesPrefix, ...data } = record.providerSpecificData
  const old = JSON.stringify({ order, record: { ...record, providerSpecificData: data } })
  const path = `/api/connections/${id}`
  const later = openManagement({ catalog, storage })
  await storage.set(`connections/${id}`, old)
  assert.is((await later.expect(200, 'PUT', path, { name: 'New' })).name, 'New')
  const same = { ...data, enabledModels: ['m'] }
  assert.equal((await later.expect(200, 'PUT', path, { providerSpecificData: same })).providerSpecificData, same)
  await later.expect(400, 'PUT', path, { providerSpecificData: { ...data, prefix: 'oa' } })
  assert.is(sharesPrefix, true)
  await expect(200, 'PUT', path, { providerSpecificData: { ...data, sharesPrefix: true } })
  await expectError(400, taken('openai', 'the built-in provider "openai"'), [
    'PUT',
    path,
    { providerSpecificData: data },
  ])
})

test('rejects a taken prefix in process, just like over HTTP', async () => {
  const { gateway } = openManagement({ catalog })
  const { connections } = gateway.api
  const error = await connections.create(lab({ prefix: 'openai' })).catch((error: unknown) => error)
  assert.match(String(error), 'That is a name of the built-in provider "openai"')
})

test("a connection that shares a prefix is a fallback for the prefix's owner", async () => {
  const requests: string[] = []
  const upstream = async (input: RequestInfo | URL) => {
    requests.push(new URL(String(input)).host)
    return Response.json({ error: { message: 'down' } }, { status: 503 })
  }
  const { gateway, expect } = openManagement({ catalog, fetch: upstream })
  await expect(201, 'POST', '/api/connections', { provider: 'openai', apiKey: 'sk-0123456789-abcd' })
  await expect(201, 'POST', '/api/connections', lab({ prefix: 'openai', sharesPrefix: true }))
  const body = JSON.stringify({ model: 'openai/gpt-5', messages: [{ role: 'user', content: 'Hi' }] })
  const headers = { 'content-type': 'application/json' }
  await gateway.fetch(new Request('http://gateway.test/v1/chat/completions', { method: 'POST', headers, body }))
  assert.equal(requests.slice(0, 2), ['openai.test', 'lab.test'])
})

test('accepts sharesPrefix next to a top-level prefix, and null removes it', async () => {
  const { expect, expectError } = openManagement()
  const input = { provider: 'lab', baseUrl: 'http://lab.test/v1', prefix: 'openai' }
  const { id, providerSpecificData } = await expect(201, 'POST', '/api/connections', { ...input, sharesPrefix: true })
  assert.equal(providerSpecificData, { baseUrl: input.baseUrl, prefix: 'openai', sharesPrefix: true })
  const path = `/api/connections/${id}`
  await expectError(
    400,
    `"providerSpecificData.prefix" must not be "openai". That is a name of the built-in provider "openai", and this connection would also receive its requests. ${advice}`,
    ['PUT', path, { sharesPrefix: null }],
  )
  const renamed = await expect(200, 'PUT', path, { prefix: 'own', sharesPrefix: null })
  assert.equal(renamed.providerSpecificData, { baseUrl: input.baseUrl, prefix: 'own' })
})
