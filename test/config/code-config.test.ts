import { memoryStorage } from '../../adapters/storage/memory.ts'
import { isGatewayError } from '../../src/errors.ts'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('configuration in code')

const config = {
  connections: {
    openai: { apiKey: 'sk-openai-in-code', priority: 1 },
    mine: {
      provider: 'openai-compatible-mine',
      baseUrl: 'http://mine.test/v1',
      apiKey: 'a-longer-key-of-mine',
      prefix: 'mine',
    },
  },
  combos: { fast: ['openai/gpt-4o-mini', 'mine/m'], slow: { models: ['mine/m'], strategy: 'round-robin' } },
  aliases: { default: 'fast' },
  models: { 'mine/m': 'llm' },
  settings: { requireApiKey: false, maxAttempts: 2 },
} as const satisfies GatewayOptions

function open(options: GatewayOptions = {}) {
  const calls: Array<{ url: string; authorization: string | null }> = []
  const gateway = createGateway({
    ...config,
    storage: memoryStorage(),
    fetch: async (url: unknown, init?: RequestInit) => {
      calls.push({ url: String(url), authorization: new Headers(init?.headers).get('authorization') })
      return Response.json(chatResponse())
    },
    logger: false,
    ...options,
  })
  const chat = (model: string) =>
    gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    })
  return { gateway, api: gateway.api, calls, chat }
}

const getError = (promise: Promise<unknown>) =>
  promise.then(
    () => 'nothing',
    (error: unknown) => (isGatewayError(error) ? `${error.status} ${error.code}` : String(error)),
  )

test('a connection in code can be named by a provider alias', async () => {
  const { api } = open({ connections: { gemini: { apiKey: 'key-in-code' } }, combos: {}, aliases: {}, models: {} })
  const { connections } = await api.connections.list()
  assert.equal(
    connections.map(({ id, provider, name }) => [id, provider, name]),
    [['gemini', 'google', 'Google']],
  )
})

test('combos, aliases, and models in code work without a stored record', async () => {
  const { chat, calls } = open()
  for (const model of ['fast', 'default', 'slow', 'mine/m', 'openai/gpt-4o-mini'])
    assert.is((await chat(model)).status, 200, model)
  assert.equal(calls[0], {
    url: 'https://api.openai.com/v1/chat/completions',
    authorization: 'Bearer sk-openai-in-code',
  })
  assert.equal(calls[2], { url: 'http://mine.test/v1/chat/completions', authorization: 'Bearer a-longer-key-of-mine' })
})

test('records defined in code are listed first, and marked', async () => {
  const { api } = open()
  await api.combos.create({ name: 'stored', models: ['mine/m'] })
  const { combos } = await api.combos.list()
  assert.equal(
    combos.map(({ name, source }) => [name, source]),
    [
      ['fast', 'code'],
      ['slow', 'code'],
      ['stored', undefined],
    ],
  )
  const { connections } = await api.connections.list()
  assert.equal(
    connections.map(({ id, provider, apiKey, source }) => [id, provider, apiKey, source]),
    [
      ['openai', 'openai', '…code', 'code'],
      ['mine', 'openai-compatible-mine', '…mine', 'code'],
    ],
  )
  assert.equal((await api.aliases.list()).aliases, { default: 'fast' })
  assert.equal((await api.customModels.list()).models, [
    { type: 'llm', providerAlias: 'mine', id: 'm', source: 'code' },
  ])
})

test('the gateway info lists the settings and aliases defined in code', async () => {
  const { api } = open()
  await api.aliases.set({ alias: 'stored', model: 'mine/m' })
  await api.settings.update({ showKeyValues: false })
  assert.equal((await api.info()).definedInCode, { settings: ['requireApiKey', 'maxAttempts'], aliases: ['default'] })
})

test('a connection in code accepts a nested providerSpecificData', async () => {
  const providerSpecificData = { baseUrl: 'http://other.test/v1', prefix: 'other', enabledModels: ['m'] }
  const { api, chat, calls } = open({
    connections: { mine: { provider: 'openai-compatible-mine', providerSpecificData } },
  })
  assert.is((await chat('other/m')).status, 200)
  assert.is(calls[0]?.url, 'http://other.test/v1/chat/completions')
  assert.equal((await api.connections.get('mine')).providerSpecificData, providerSpecificData)
})

test('changes to records defined in code get a 409, and nothing is stored', async () => {
  const storage = memoryStorage()
  const { api, chat } = open({ storage })
  const taken = '409 DEFINED_IN_CODE'
  assert.is(await getError(api.combos.update('fast', { strategy: 'random' })), taken)
  assert.is(await getError(api.combos.update('fast', { name: 'renamed' })), taken)
  assert.is(await getError(api.combos.delete('fast')), taken)
  assert.is(await getError(api.combos.put({ name: 'fast', models: ['mine/m'] })), taken)
  assert.is(await getError(api.connections.update('mine', { isActive: false })), taken)
  assert.is(
    await getError(api.connections.put({ id: 'mine', provider: 'openai-compatible-mine', apiKey: 'other-key' })),
    taken,
  )
  assert.is(await getError(api.connections.delete('mine')), taken)
  assert.is(await getError(api.aliases.set({ alias: 'default', model: 'slow' })), taken)
  assert.is(await getError(api.aliases.delete('default')), taken)
  assert.is(await getError(api.customModels.delete('mine', 'm')), taken)
  assert.is(await getError(api.settings.update({ maxAttempts: 5 })), taken)
  assert.is(await getError(api.combos.create({ name: 'fast', models: ['mine/m'] })), '400 NAME_TAKEN')
  assert.is((await chat('fast')).status, 200)
  const stored = JSON.stringify(await storage.list(''))
  for (const text of ['sk-openai-in-code', 'a-longer-key-of-mine', 'fast', 'mine.test'])
    assert.not(stored.includes(text), text)
})

test('discovering the models of a connection in code fails without calling the server', async () => {
  const { api, calls } = open()
  assert.is(await getError(api.connections.discover('mine')), '409 DEFINED_IN_CODE')
  assert.is(await getError(api.connections.update('mine', { discover: true })), '409 DEFINED_IN_CODE')
  assert.equal(calls, [])
})

test('over HTTP, a change to a record defined in code gets a 409 that explains where to change it', async () => {
  const { gateway } = open({ management: { token: 'a-token-of-at-least-32-characters' } })
  const response = await gateway.fetch('http://gateway/api/combos/fast', {
    method: 'DELETE',
    headers: { authorization: 'Bearer a-token-of-at-least-32-characters' },
  })
  assert.is(response.status, 409)
  assert.match(((await response.json()) as { error: string }).error, /defined in code.*gateway's options/)
})

test('settings defined in code apply, and other settings can still be changed', async () => {
  const { api } = open()
  assert.is((await api.settings.get()).maxAttempts, 2)
  const after = await api.settings.update({ cloudUrl: 'https://cloud.test', maxAttempts: 2 })
  assert.equal([after.maxAttempts, after.cloudUrl, after.requireApiKey], [2, 'https://cloud.test', false])
  assert.is((await api.settings.get()).maxAttempts, 2)
})

test('a record in code overrides a stored one until it is removed from the code', async () => {
  const storage = memoryStorage()
  const plain = createGateway({ storage, logger: false })
  await plain.api.combos.create({ name: 'fast', models: ['other/model'] })
  await plain.api.settings.update({ maxAttempts: 7 })
  const { api } = open({ storage })
  assert.equal((await api.combos.list()).combos.map(({ name, models }) => [name, models[0]]).sort(), [
    ['fast', 'openai/gpt-4o-mini'],
    ['slow', 'mine/m'],
  ])
  assert.is((await api.settings.get()).maxAttempts, 2)
  const again = createGateway({ storage, logger: false })
  assert.equal(
    (await again.api.combos.list()).combos.map(({ models }) => models),
    [['other/model']],
  )
  assert.is((await again.api.settings.get()).maxAttempts, 7)
})

test('if no storage is configured, keys, limits, and usage stay in memory, and the gateway warns once', async () => {
  const warnings: string[] = []
  const { api, fetch } = createGateway({
    ...config,
    fetch: async () => Response.json(chatResponse()),
    logger: { warn: (text) => void warnings.push(text), error: () => {} },
  })
  assert.is(warnings.length, 1)
  assert.match(warnings[0] ?? '', /^No storage was given.*limits.*instances do not share.*pass "storage"/)
  const { key } = await api.keys.create({ name: 'one', limits: { requests: { day: 1 } } })
  const chat = () =>
    fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'mine/m', messages: [{ role: 'user', content: 'Hi' }] }),
    })
  assert.equal([(await chat()).status, (await chat()).status], [200, 429])
  assert.is((await api.usage.requests({})).requests.length, 2)
  assert.is(warnings.length, 1)
})

const problems: Array<[GatewayOptions, RegExp]> = [
  ...[{ resolve: () => 'k' }, { resolve: () => 'k', shared: false }, { shared: true }, Promise.resolve('k')].map(
    (apiKey): [GatewayOptions, RegExp] => [
      { connections: { openai: { apiKey: apiKey as never } } },
      /^connections\.openai\.apiKey must be a string, a function, or \{ resolve, shared: true \}\.$/,
    ],
  ),
  [{ connections: { openai: { apiKey: '"sk-1"' } } }, /^connections\.openai\.apiKey is in quotes/],
  [{ aliases: { '': 'x/y' } }, /^aliases must not contain the name ""/],
  [{ aliases: { ' a': 'x/y' } }, /^aliases must not contain the name " a"/],
  [
    { combos: { fast: { models: ['x/y'], on: ['schema', 'schema'] } } },
    /^combos\.fast\.on must not contain duplicates/,
  ],
  [
    { combos: { pictures: { kind: 'image', models: ['x/y', { model: 'x/z', params: { seed: 1 } }] } } },
    /^combos\.pictures\.models\[1\]\.params is only for chat combos/,
  ],
  [
    { combos: { a: ['b', 'x/y'], b: ['z/w', 'a'] } },
    /^combos\.a\.models\[0\] must not lead back to the combo itself \(a → b → a\)\. Remove it or use another model\.$/,
  ],
  [
    { connections: { opnai: { apiKey: 'k' } } },
    /^connections\.opnai: Unknown provider "opnai"\. Did you mean "openai"\? For any other provider, set "baseUrl"\.$/,
  ],
  [
    { connections: { openai: { apiKey: undefined as never } } },
    /^connections\.openai\.apiKey is undefined\. .*variable is set/,
  ],
  [
    { connections: { openai: { apiKey: 'two words' } } },
    /^connections\.openai\.apiKey must be the bare key: one line of ASCII/,
  ],
  [{ connections: { openai: { apikey: 'k' } as never } }, /^connections\.openai\.apikey is not a known field/],
  [{ connections: { x: { baseUrl: 'mine.test' } } }, /^connections\.x\.baseUrl must be a URL/],
  [{ connections: { openai: 'sk' as never } }, /^connections\.openai must be an object/],
  [{ connections: [] as never }, /^connections must be an object by ID or name/],
  [{ combos: { fast: [7 as never] } }, /^combos\.fast\.models\[0\] must be a string/],
  [{ combos: { 'a b': ['x/y'] } }, /^combos\.a b must be named/],
  [
    { combos: { fast: { models: ['x/y'], strategy: 'fastest' as never } } },
    /^combos\.fast\.strategy must be one of "fallback"/,
  ],
  [
    { combos: { fast: { models: ['x/y'], strategy: ['fallback'] as never } } },
    /^combos\.fast\.strategy must be one of/,
  ],
  [{ combos: { fast: { models: ['x/y'], name: 'slow' } as never } }, /^combos\.fast\.name is not a known field/],
  [{ connections: null as never }, /^connections must be an object by ID or name/],
  [{ connections: { 'a/b': { provider: 'openai' } } }, /^connections\.a\/b must be named with letters/],
  [
    { connections: { x: { baseUrl: 'https://me:a-password@mine.test/v1' } } },
    /^connections\.x\.baseUrl must not contain credentials\.$/,
  ],
  [{ models: { m: 'llm' } }, /^models\.m must be named <provider>\/<model ID>/],
  [{ aliases: { a: 7 as never } }, /^aliases\.a must be a string/],
  [{ settings: { maxAttempts: 0 } }, /^settings\.maxAttempts must be a whole number from 1 to 100\.$/],
  [{ settings: { requireApiKeys: true } as never }, /^settings\.requireApiKeys is not a known field/],
  [{ combos: { a: ['x/y', 'b'], b: ['a'] } }, /^combos\.a\.models\[1\] must not lead back to the combo itself/],
  [{ aliases: { a: 'b', b: 'a' } }, /^aliases\.a must not lead back to the alias itself/],
  [
    { aliases: { a: 'c' }, combos: { c: [{ model: 'a' }] } },
    /^combos\.c\.models\[0\] must not lead back to the combo itself/,
  ],
  [
    { connections: { x: { baseUrl: 'http://mine.test/v1/chat/completions' } } },
    /^connections\.x\.baseUrl must not include "\/chat\/completions", which the gateway appends/,
  ],
  [
    { combos: { fast: { models: ['x/y'], health: { cooldownMs: 9, maxCooldownMs: 5 } } } },
    /^combos\.fast\.health must not have a "cooldownMs" above its "maxCooldownMs"\.$/,
  ],
  [
    { settings: { health: { cooldownMs: 400_000 } } },
    /^settings\.health\.cooldownMs must not be above "health\.maxCooldownMs": 400000, 300000\.$/,
  ],
  [{ settings: { cloudUrl: 'cloud.test' } }, /^settings\.cloudUrl must be a URL that starts with http/],
  [
    { settings: { cloudEnabled: true } as never },
    /^settings\.cloudEnabled can only be changed by POST \/api\/sync\/cloud/,
  ],
  [{ connections: { openai: { region: 'us-east-1' } as never } }, /^connections\.openai\.region is not a known field/],
  [
    {
      connections: {
        'openai-compatible-a': { baseUrl: 'http://a.test/v1', prefix: 'lab' },
        'openai-compatible-b': { baseUrl: 'http://b.test/v1', prefix: 'lab' },
      },
    },
    /^connections\.openai-compatible-a shares "lab" with "openai-compatible-b"\. Change .*"sharesPrefix"/,
  ],
  [
    { connections: { x: { baseUrl: 'http://a.test/v1', prefix: 'openai' } } },
    /^connections\.x shares "openai" with "openai"/,
  ],
  [
    { combos: { fast: [{ model: 'x/y', when: { tool: true } as never }] } },
    /^combos\.fast\.models\[0\]\.when\.tool is not a known field\. Did you mean "tools"\?$/,
  ],
  [{ aliases: new Map([['a', 'x/y']]) as never }, /^aliases must be an object by ID or name/],
  [{ settings: new Map() as never }, /^settings must be an object/],
  [{ aliases: { a: ' x/y' } }, /^aliases\.a must not start or end with whitespace/],
]

test('a record that contains itself is rejected, with its path', () => {
  const combo: Record<string, unknown> = { models: ['x/y'] }
  combo.health = combo
  assert.throws(
    () => createGateway({ combos: { fast: combo as never }, logger: false }),
    /^combos\.fast must not contain itself\.$/,
  )
})

for (const [options, message] of problems)
  test(`createGateway rejects an invalid configuration: ${message.source.slice(1, 50)}`, () => {
    assert.throws(
      () => createGateway({ storage: memoryStorage(), logger: false, ...options }),
      (error: Error) => {
        assert.instance(error, TypeError)
        assert.match(error.message, message)
        return true
      },
    )
  })

test("undefined entries are skipped, and the cloud proxy's URL is trimmed", async () => {
  const { api } = open({
    connections: { openai: undefined, anthropic: { apiKey: 'key-of-anthropic' } },
    combos: { none: undefined },
    aliases: { none: undefined },
    models: { 'mine/m': undefined },
    settings: { cloudUrl: 'https://cloud.test/v1/' },
  })
  assert.equal(
    (await api.connections.list()).connections.map(({ id }) => id),
    ['anthropic'],
  )
  assert.equal((await api.combos.list()).combos, [])
  assert.is((await api.settings.get()).cloudUrl, 'https://cloud.test')
})

test('an alias in code may have the same name as its model', async () => {
  const { chat } = open({ aliases: { 'openai/gpt-4o-mini': 'openai/gpt-4o-mini' } })
  assert.is((await chat('openai/gpt-4o-mini')).status, 200)
})

test('an update that repeats settings defined in code keeps the stored settings', async () => {
  const storage = memoryStorage()
  const plain = createGateway({ storage, logger: false })
  await plain.api.settings.update({ maxAttempts: 7, health: { minCalls: 9 } })
  const { api } = open({ storage, settings: { maxAttempts: 2, health: { cooldownMs: 1_000 } } })
  const { cloudEnabled: _, ...shown } = await api.settings.get()
  await api.settings.update({ ...shown, cloudUrl: 'https://cloud.test' })
  assert.is(await getError(api.settings.update({ health: { minCalls: 3 } })), '409 DEFINED_IN_CODE')
  const after = await createGateway({ storage, logger: false }).api.settings.get()
  assert.equal([after.maxAttempts, after.health.minCalls, after.cloudUrl], [7, 9, 'https://cloud.test'])
})
