import type { Catalog } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite("a connection's provider")

const catalog: Catalog = {
  router: { models: [{ id: 'gpt/oss-claude' }] },
  openai: { name: 'OpenAI', alias: 'oa', models: [{ id: 'gpt-5' }] },
  anthropic: { name: 'Anthropic', models: [{ id: 'claude-opus-4-5' }] },
  groq: { models: [{ id: 'gpt-oss-120b' }] },
  xai: { models: [{ id: 'grok-4' }] },
  mistral: { alias: 'mi' },
}
const elsewhere = 'For any other provider, send its base URL as "providerSpecificData.baseUrl".'

for (const provider of [
  'openai',
  'openai-compatible',
  'openai-compatible-chat',
  'anthropic-compatible',
  'anthropic-compatible-x',
]) {
  test(`accepts "${provider}" without a base URL`, async () => {
    const { expect } = openManagement({ catalog })
    assert.is((await expect(201, 'POST', '/api/connections', { provider })).provider, provider)
  })
}

test('accepts an unknown provider with a base URL, and names the connection after it', async () => {
  const { expect } = openManagement({ catalog })
  const providerSpecificData = { baseUrl: 'http://127.0.0.1:11434/v1' }
  assert.is(
    (await expect(201, 'POST', '/api/connections', { provider: 'ollama', providerSpecificData })).name,
    'ollama',
  )
})

for (const [provider, hint] of [
  ['opnai', 'Did you mean "openai"?'],
  ['OpenAI', 'Did you mean "openai"?'],
  ['anthropc', 'Did you mean "anthropic"?'],
  ['Claude', 'Did you mean "anthropic"?'],
  ['gpt', 'Did you mean "openai"?'],
  ['grok', 'Did you mean "xai" or "groq"?'],
  ['zzz', 'GET /api/providers lists the known providers.'],
  ['toString', 'GET /api/providers lists the known providers.'],
  ['__proto__', 'GET /api/providers lists the known providers.'],
] as const) {
  test(`rejects "${provider}": ${hint}`, async () => {
    const { expectError } = openManagement({ catalog })
    await expectError(400, `Unknown provider "${provider}". ${hint} ${elsewhere}`, [
      'POST',
      '/api/connections',
      { provider },
    ])
  })
}

for (const [alias, provider] of [
  ['oa', 'openai'],
  ['mi', 'mistral'],
] as const) {
  test(`resolves the alias "${alias}" to "${provider}"`, async () => {
    const { expect } = openManagement({ catalog })
    const { id, ...created } = await expect(201, 'POST', '/api/connections', { provider: alias })
    assert.is(created.provider, provider)
    assert.is((await expect(200, 'PUT', `/api/connections/${id}`, { provider: alias, name: 'b' })).provider, provider)
  })
}

test("doesn't resolve an alias that two providers share", async () => {
  const shared = { one: { alias: 'x' }, two: { alias: 'y', catalogAlias: 'x' } }
  const { expectError } = openManagement({ catalog: shared })
  const error = '"provider" must not be "x", an alias of "one" and "two"'
  await expectError(400, error, ['POST', '/api/connections', { provider: 'x' }])
})

test("a required base URL can't be removed", async () => {
  const { expect, expectError } = openManagement({ catalog })
  const providerSpecificData = { baseUrl: 'http://127.0.0.1:11434/v1' }
  const { id } = await expect(201, 'POST', '/api/connections', { provider: 'ollama', providerSpecificData })
  const error = `Unknown provider "ollama". GET /api/providers lists the known providers. ${elsewhere}`
  await expectError(400, error, ['PUT', `/api/connections/${id}`, { providerSpecificData: null }])
  await expectError(400, error, ['PUT', `/api/connections/${id}`, { providerSpecificData: { prefix: 'p' } }])
  await expectError(400, error, ['PUT', `/api/connections/${id}`, { providerSpecificData: { baseUrl: ' ' } }])
  await expect(200, 'PUT', `/api/connections/${id}`, { name: 'local' })
})

test("a connection's provider can't be changed", async () => {
  const { expect, expectError } = openManagement({ catalog })
  const { id } = await expect(201, 'POST', '/api/connections', { provider: 'openai' })
  const error = '"provider" cannot be changed; create a new connection instead'
  await expectError(400, error, ['PUT', `/api/connections/${id}`, { provider: 'anthropic', name: 'b' }])
  assert.is((await expect(200, 'PUT', `/api/connections/${id}`, { provider: 'openai', name: 'b' })).name, 'b')
})

for (const [provider, kind] of [
  ['openai-compatable', 'openai-compatible'],
  ['openai-compatable-lab', 'openai-compatible'],
  ['openai_compatible_lab', 'openai-compatible'],
  ['OpenAI-Compatible', 'openai-compatible'],
  ['openaicompatible', 'openai-compatible'],
  ['openai-compat-lab', 'openai-compatible'],
  ['anthropic-comptible', 'anthropic-compatible'],
] as const) {
  test(`rejects "${provider}" without a base URL, and accepts it with one and a warning`, async () => {
    const { expect, expectError, gateway } = openManagement({ catalog })
    const error = `Unknown provider "${provider}". Did you mean "${kind}"? ${elsewhere}`
    await expectError(400, error, ['POST', '/api/connections', { provider }])
    const created = await expect(201, 'POST', '/api/connections', { provider, baseUrl: 'http://lab.test/v1' })
    const warnings = [
      `The provider name "${provider}" does not start with "${kind}", so GET /v1/models does not query its models, and its format is "openai-chat". If you meant a compatible provider, delete this connection and create one whose "provider" starts with "${kind}".`,
    ]
    const ofKind = (shown: { warnings?: string[] }) => shown.warnings?.filter((text) => !text.includes('"discover"'))
    assert.equal(ofKind(created), warnings)
    const path = `/api/connections/${created.id}`
    assert.equal(ofKind(await expect(200, 'PUT', path, { ...created, name: 'x', apiKey: null })), warnings)
    assert.equal(ofKind(await gateway.api.connections.put({ id: created.id, provider })), warnings)
    assert.is((await expect(200, 'GET', path)).warnings, undefined)
  })
}

for (const provider of [
  'lab',
  'openai-company',
  'openai-eu',
  'compatible',
  'openai-compatible-lab',
  'anthropic-compatible',
])
  test(`"${provider}" with a base URL causes no warning about its name`, async () => {
    const { expect } = openManagement({ catalog })
    const created = await expect(201, 'POST', '/api/connections', { provider, baseUrl: 'http://lab.test/v1' })
    assert.not.match(String(created.warnings), 'does not start with')
  })
