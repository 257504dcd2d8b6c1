import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('connections')

const AT = '2026-01-01T00:00:00.000Z'
const KEY = 'sk-test-0123456789-abcd'

test('returns a created connection without its key, named after its provider', async () => {
  const { expect } = openManagement()
  const created = await expect(201, 'POST', '/api/connections', { provider: 'openai', apiKey: KEY })
  const connection = {
    id: created.id,
    provider: 'openai',
    name: 'OpenAI',
    isActive: true,
    apiKey: '…abcd',
    createdAt: AT,
    updatedAt: AT,
  }
  assert.equal(created, connection)
  assert.equal(await expect(200, 'GET', `/api/connections/${created.id}`), connection)
  assert.equal(await expect(200, 'GET', '/api/connections'), { connections: [connection] })
})

test('accepts every field of a connection', async () => {
  const { expect } = openManagement()
  const providerSpecificData = {
    prefix: ' mine ',
    enabledModels: ['a', '', 'a', ' b '],
    baseUrl: 'https://up.example/v1/',
    format: 'anthropic-messages',
  }
  const input = { provider: 'openai', name: 'Work', isActive: false, priority: -1.5, providerSpecificData }
  const { id, createdAt, updatedAt, ...shown } = await expect(201, 'POST', '/api/connections', input)
  assert.equal(shown, input)
})

test('accepts prefix, baseUrl, format, and enabledModels at the top level or in providerSpecificData', async () => {
  const { expect } = openManagement()
  const data = { prefix: 'mine', baseUrl: 'https://up.example/v1', enabledModels: ['a'], format: 'openai-responses' }
  const created = await expect(201, 'POST', '/api/connections', { provider: 'lab', ...data })
  assert.equal(created.providerSpecificData, data)
  const both = { provider: 'lab', prefix: 'mine', providerSpecificData: { ...data, sharesPrefix: true } }
  const second = await expect(201, 'POST', '/api/connections', both)
  assert.equal(second.providerSpecificData, { ...data, sharesPrefix: true })
  const change = { prefix: 'other', enabledModels: null }
  const changed = await expect(200, 'PUT', `/api/connections/${created.id}`, change)
  const { enabledModels, ...kept } = data
  assert.equal(changed.providerSpecificData, { ...kept, prefix: 'other' }, 'the other fields are unchanged')
  assert.equal(enabledModels, ['a'])
  await expect(400, 'PUT', `/api/connections/${created.id}`, { baseUrl: null })
  const bare = await expect(201, 'POST', '/api/connections', { provider: 'openai', prefix: null })
  assert.is(bare.providerSpecificData, undefined)
  const named = await expect(200, 'PUT', `/api/connections/${bare.id}`, { prefix: 'p' })
  assert.equal(named.providerSpecificData, { prefix: 'p' })
  const cleared = await expect(200, 'PUT', `/api/connections/${bare.id}`, { prefix: null })
  assert.is(cleared.providerSpecificData, undefined)
})

test('null is treated as absent when a connection is created', async () => {
  const { expect } = openManagement()
  const input = { provider: 'openai', priority: null, apiKey: null, providerSpecificData: null }
  const created = await expect(201, 'POST', '/api/connections', input)
  assert.equal(Object.keys(created), ['id', 'provider', 'name', 'isActive', 'createdAt', 'updatedAt'])
})

test('lists connections in creation order', async () => {
  const { expect } = openManagement()
  for (const name of ['c', 'a', 'b']) await expect(201, 'POST', '/api/connections', { provider: 'openai', name })
  const names = (await expect(200, 'GET', '/api/connections')).connections.map(({ name }) => name)
  assert.equal(names, ['c', 'a', 'b'])
})

for (const [apiKey, shown] of [
  [KEY, '…abcd'],
  ['123456789012', '…9012'],
  ['12345678901', '…'],
  ['x', '…'],
] as const) {
  test(`shows only ${shown} of the key ${apiKey}`, async () => {
    const { expect } = openManagement()
    const { id } = await expect(201, 'POST', '/api/connections', { provider: 'openai', apiKey })
    assert.is((await expect(200, 'GET', `/api/connections/${id}`)).apiKey, shown)
  })
}

test('sends the complete key to the provider, without surrounding whitespace', async () => {
  const seen: Array<string | null> = []
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    seen.push(new Request(url, init).headers.get('authorization'))
    return Response.json({ data: [{ id: 'm' }] })
  }
  const { expect, send } = openManagement({ fetch })
  const providerSpecificData = { baseUrl: 'https://up.example/v1' }
  await expect(201, 'POST', '/api/connections', {
    provider: 'openai-compatible',
    apiKey: ` ${KEY}\r\n`,
    providerSpecificData,
  })
  await send('GET', '/v1/models')
  assert.equal(seen, [`Bearer ${KEY}`])
})

test("neither the storage nor the lists of connections and models contain a provider's key", async () => {
  const { expect, storage, send } = openManagement()
  const { id } = await expect(201, 'POST', '/api/connections', { provider: 'openai', apiKey: KEY })
  await expect(200, 'PUT', `/api/connections/${id}`, { name: 'b' })
  const raw = JSON.stringify([
    await storage.list(''),
    await expect(200, 'GET', '/api/connections'),
    await send('GET', '/v1/models'),
  ])
  assert.not.ok(raw.includes('0123456789'))
})

const bareKey = '"apiKey" must be the bare key: one line of ASCII characters without whitespace and without "Bearer"'
const blankKey =
  '"apiKey" must not be blank. Check that the variable it comes from is set. For none, send null or omit it'
const noAddress = '"providerSpecificData.baseUrl" must be a URL that starts with http:// or https://'
const refusals: Array<[body: Record<string, unknown>, error: string]> = [
  [{}, '"provider" is required and must not be blank'],
  [{ provider: ' ' }, '"provider" must not be blank'],
  [{ provider: 'mine', resource: 'a' }, 'Unknown field "resource". It belongs in "providerSpecificData".'],
  [{ provider: 'openai', prefix: 1 }, '"prefix" must be a string'],
  [{ provider: 'openai', enabledModels: 'a' }, '"enabledModels" must be an array of model IDs'],
  [
    { provider: 'openai', prefix: 'a', providerSpecificData: { prefix: 'b' } },
    '"prefix" and "providerSpecificData.prefix" conflict; send only one of them',
  ],
  [
    { provider: 'mine', baseURL: 'http://a' },
    'Unknown field "baseURL". Did you mean "baseUrl"? It belongs in "providerSpecificData".',
  ],
  [
    { provider: 'mine', base_url: 'http://a' },
    'Unknown field "base_url". Did you mean "baseUrl"? It belongs in "providerSpecificData".',
  ],
  [{ provider: 'openai', api_key: KEY }, 'Unknown field "api_key". Did you mean "apiKey"?'],
  [{ provider: 1 }, '"provider" must be a string'],
  [{ provider: 'openai', name: '' }, '"name" must not be blank'],
  [{ provider: 'openai', isActive: 'no' }, '"isActive" must be true or false'],
  [{ provider: 'openai', priority: '1' }, '"priority" must be a number'],
  [{ provider: 'openai', apikey: KEY }, 'Unknown field "apikey". Did you mean "apiKey"?'],
  [{ provider: 'openai', apiKey: '' }, blankKey],
  [{ provider: 'openai', apiKey: ' \n' }, blankKey],
  [{ provider: 'openai', apiKey: 'sk a' }, bareKey],
  [{ provider: 'openai', apiKey: `Bearer ${KEY}` }, bareKey],
  [{ provider: 'openai', apiKey: 'sk\nx: y' }, bareKey],
  [{ provider: 'openai', apiKey: 'sk-ä' }, bareKey],
  [{ provider: 'openai', apiKey: 'sk\u0000' }, bareKey],
  [
    { provider: 'openai', apiKey: '…abcd' },
    '"apiKey" contains "…", which replaces the hidden part of a key. Send the whole key, or omit it to keep the stored one',
  ],
  [{ provider: 'openai', apiKey: 'x'.repeat(8_193) }, '"apiKey" must not be longer than 8192 characters'],
  [{ provider: 'openai', providerSpecificData: [] }, '"providerSpecificData" must be an object'],
  [
    { provider: 'openai', providerSpecificData: { basUrl: 'x' } },
    'Unknown field "providerSpecificData.basUrl". Did you mean "baseUrl"?',
  ],
  [{ provider: 'openai', providerSpecificData: { prefix: 1 } }, '"providerSpecificData.prefix" must be a string'],
  [
    { provider: 'openai', providerSpecificData: { enabledModels: 'a' } },
    '"providerSpecificData.enabledModels" must be an array of model IDs',
  ],
  [
    { provider: 'openai', providerSpecificData: { enabledModels: ['a', 1] } },
    '"providerSpecificData.enabledModels[1]" must be a string',
  ],
  [
    { provider: 'openai', providerSpecificData: { format: 'openai' } },
    '"providerSpecificData.format" must be one of "openai-chat", "openai-responses", "anthropic-messages", "gemini", "brave", "cohere", "deepgram", "elevenlabs", "exa", "firecrawl", "jina", "mistral", "nvidia", "perplexity", "searxng", "serper", "tavily", "tei", "together", "voyage"',
  ],
  [{ provider: 'openai', providerSpecificData: { baseUrl: 'up.example/v1' } }, noAddress],
  [{ provider: 'openai', providerSpecificData: { baseUrl: 'file:///etc/passwd' } }, noAddress],
  [{ provider: 'openai', providerSpecificData: { baseUrl: 'https://' } }, noAddress],
  [
    { provider: 'openai', providerSpecificData: { baseUrl: 'https://a:b@up.example' } },
    '"providerSpecificData.baseUrl" must not contain credentials',
  ],
  [
    { provider: 'openai', providerSpecificData: { baseUrl: 'https://up.example/v1?key=1' } },
    '"providerSpecificData.baseUrl" must not have a query or a fragment',
  ],
  [
    { provider: 'openai', providerSpecificData: { baseUrl: 'https://up.example/v1#' } },
    '"providerSpecificData.baseUrl" must not have a query or a fragment',
  ],
  [
    { provider: 'openai', providerSpecificData: { baseUrl: 'https://up.example/ v1' } },
    '"providerSpecificData.baseUrl" must not contain whitespace, backslashes, or control characters',
  ],
]
for (const [body, error] of refusals) {
  test(`rejects creating the connection ${JSON.stringify(body).slice(0, 70)}: ${error.slice(0, 50)}`, async () => {
    const { expectError, expect } = openManagement()
    await expectError(400, error, ['POST', '/api/connections', body])
    assert.equal(await expect(200, 'GET', '/api/connections'), { connections: [] })
  })
}

for (const [baseUrl, path, provider] of [
  ['https://up.example/v1/chat/completions', '/chat/completions', 'openai-compatible'],
  ['https://up.example/v1/chat/completions/', '/chat/completions/', 'openai-compatible-0'],
  ['https://up.example/v1/responses', '/responses', 'openai'],
  ['https://up.example/v1/embeddings', '/embeddings', 'anthropic-compatible'],
] as const) {
  test(`rejects the base URL ${baseUrl} of ${provider}, and suggests a valid one`, async () => {
    const { expectError } = openManagement()
    const error = `"providerSpecificData.baseUrl" must not include "${path}", which the gateway appends. Use "https://up.example/v1"`
    await expectError(400, error, ['POST', '/api/connections', { provider, providerSpecificData: { baseUrl } }])
  })
}

for (const provider of ['anthropic-compatible-x', 'openai-compatible-x', 'mine', 'openai']) {
  test(`the base URL of ${provider} can end with /messages`, async () => {
    const { expect } = openManagement()
    const providerSpecificData = { baseUrl: 'https://up.example/v1/messages' }
    const created = await expect(201, 'POST', '/api/connections', { provider, providerSpecificData })
    assert.equal(created.providerSpecificData, providerSpecificData)
  })
}

test('a blank base URL is treated as not set', async () => {
  const { expect } = openManagement()
  const providerSpecificData = { baseUrl: '  ', prefix: 'p' }
  const created = await expect(201, 'POST', '/api/connections', { provider: 'openai', providerSpecificData })
  assert.equal(created.providerSpecificData, { prefix: 'p' })
})
