import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { assert } from '../support/suite.ts'
import { writeSqlite } from './import-samples.ts'
import { fresh, importSuite, run, startImported, writeImported } from './imported.ts'

const test = importSuite('importing from 9router')

const account = (provider: string, extra: object = {}) => ({
  provider,
  authType: 'apikey',
  name: provider,
  apiKey: `sk-canary-${provider}`,
  ...extra,
})
const node = (id: string, prefix: string, baseUrl: string, type = 'openai-compatible') => ({
  id,
  type,
  name: id,
  prefix,
  baseUrl,
})

async function importNineRouter(folder: string, data: object, names: readonly string[]) {
  const path = await writeImported(folder, '.json', JSON.stringify(data))
  const env = Object.fromEntries(
    names.flatMap((name) =>
      ['', '_2', '_3'].map((end) => [`${name}_API_KEY${end}`, `${name.toLowerCase()}-key-1234567`]),
    ),
  )
  const found = await startImported(folder, ['9router', path], env)
  assert.not.match(found.output + found.file, /canary/)
  const { combos } = await found.api.combos.list()
  return { ...found, combos: Object.fromEntries(combos.map((combo) => [combo.name, combo])) }
}

test('calls the same plan- and country-specific URLs as 9router', async ({ folder }) => {
  const { chat, output } = await importNineRouter(
    folder,
    {
      providerConnections: ['glm', 'ollama', 'alicode', 'kimi', 'hyperbolic', 'openai', 'cloudflare-ai'].map(
        (provider) => account(provider, { providerSpecificData: { accountId: 'a1' } }),
      ),
      combos: [],
    },
    ['ZAI', 'OLLAMA', 'ALICODE', 'MOONSHOT', 'HYPERBOLIC', 'OPENAI', 'CLOUDFLARE_AI'],
  )
  const urls: string[] = []
  for (const prefix of ['zai', 'ollama-server', 'alicode', 'moonshot', 'hyperbolic', 'openai', 'cloudflare-ai'])
    urls.push((await chat(`${prefix}/m`)).asked[0]?.url ?? '')
  assert.equal(urls, [
    'https://api.z.ai/api/anthropic/v1/messages',
    'https://ollama.com/v1/chat/completions',
    'https://coding.dashscope.aliyuncs.com/v1/chat/completions',
    'https://api.moonshot.cn/v1/chat/completions',
    'https://api.hyperbolic.xyz/v1/chat/completions',
    'https://api.openai.com/v1/chat/completions',
    'https://api.cloudflare.com/client/v4/accounts/a1/ai/v1/chat/completions',
  ])
  assert.match(output, /kimi \(kimi\) -> Older versions of 9router call https:\/\/api\.kimi\.com\/coding\/v1/)
  assert.match(output, /glm \(glm\) -> connection zai at https:\/\/api\.z\.ai\/api\/anthropic\/v1, as in 9router/)
})

test('gives servers with the same prefix distinct prefixes', async ({ folder }) => {
  const { chat, combos, warnings } = await importNineRouter(
    folder,
    {
      providerConnections: [
        account('n1', { apiKey: 'sk-canary-1' }),
        account('n1', { apiKey: 'sk-canary-2', priority: 2 }),
        account('n2'),
        account('n3'),
        account('ollama-local', { providerSpecificData: { baseUrl: 'http://box:11434' } }),
      ],
      providerNodes: [
        node('n1', 'lab', 'http://one.test/v1'),
        node('n2', 'lab', 'http://two.test/v1'),
        node('n3', 'groq', 'http://three.test/v1', 'anthropic-compatible'),
      ],
      combos: [{ name: 'all', models: ['lab/a', 'groq/b', 'ollama-local/c'] }],
    },
    ['LAB', 'GROQ', 'OLLAMA'],
  )
  assert.equal(warnings, [])
  assert.equal(combos.all?.models, ['lab/a', 'groq-server/b', 'ollama-local/c'])
  const url = async (name: string) => (await chat(name)).asked[0]?.url
  assert.is(await url('lab/a'), 'http://one.test/v1/chat/completions')
  assert.is(await url('lab-3/a'), 'http://two.test/v1/chat/completions')
  assert.is(await url('groq-server/b'), 'http://three.test/v1/messages')
  assert.is(await url('ollama-local/c'), 'http://box:11434/v1/chat/completions')
})

test('resolves aliases, unprefixed model names, and combos to the same models as 9router', async ({ folder }) => {
  const { output, combos, chat, api } = await importNineRouter(
    folder,
    {
      providerConnections: [account('openai'), account('anthropic')],
      combos: [
        { name: 'my best', models: ['gpt-4o', { provider: 'anthropic', model: 'claude-x' }, 'later', 'lost'] },
        { name: 'later', models: ['my best', 'quick'] },
        { name: 'constructor', models: ['openai/a'] },
        { name: 'vectors', kind: 'embedding', models: ['openai/v1', 'openai/v2', 'openai/v1'] },
      ],
      modelAliases: {
        quick: { provider: 'openai', model: 'gpt-4o-mini' },
        lost: 'gone/x',
        constructor: 'openai/b',
        '': 'openai/b',
      },
      pricing: { openai: { 'gpt-4o': { input: 1, output: -2 } } },
      settings: { rtkEnabled: true, tunnelUrl: '', providerStrategies: {}, oidcClientSecret: 'sk-canary' },
      apiKeys: [{ name: 'a', key: 'sk-canary' }],
    },
    ['OPENAI', 'ANTHROPIC'],
  )
  assert.equal(combos['my-best']?.models, ['openai/gpt-4o', 'anthropic/claude-x', 'later'])
  assert.equal(combos.vectors?.models, ['openai/v1', 'openai/v1'])
  assert.is((await chat('my best')).asked[0]?.model, 'gpt-4o')
  assert.is((await chat('quick')).asked[0]?.model, 'gpt-4o-mini')
  assert.is((await chat('constructor')).asked[0]?.model, 'a')
  const { connections } = await api.connections.list()
  assert.equal(connections[0]?.prices, { 'gpt-4o': { input: 1 } })
  for (const line of [
    'combo my-best: lost -> Has no imported connection.',
    'modelAliases.constructor -> A combo has the same name',
    'modelAliases. -> An alias must have 1 to 200 characters',
    'settings.requireApiKey -> Not set',
    'settings.rtkEnabled -> ',
    'settings.oidcClientSecret -> ',
  ])
    assert.ok(output.includes(line), line)
  assert.not.match(output, /tunnelUrl|providerStrategies/)
})

test('reports invalid connections, prices, and models, and still produces a valid file', async ({ folder }) => {
  const { output, api } = await importNineRouter(
    folder,
    {
      providerConnections: [
        account('azure', { providerSpecificData: { apiVersion: 'none of that' } }),
        account('azure', { providerSpecificData: { azureEndpoint: 'https://a.openai.azure.com', apiVersion: 'a/b' } }),
        account('openai'),
      ],
      pricing: {
        openai: { 'gpt-4o': {}, 'gpt-5': { reasoning: 3, input: -1, output: '' }, 'o3-mini': { cached: 'free' } },
        azure: 5,
      },
      customModels: [{ providerAlias: 'openai', id: '' }],
    },
    ['AZURE', 'OPENAI'],
  )
  assert.match(output, /azure \(azure\) -> Has no azureEndpoint/)
  assert.match(output, /azure \(azure\): apiVersion -> Has an invalid value/)
  assert.match(output, /customModels: openai\/ -> Has no imported connection/)
  assert.not.match(output, /prices of connection/)
  const noPrice = 'Not a valid price. Use a number of at least 0, in USD per million tokens.'
  for (const line of [
    'pricing.openai: gpt-4o -> Has no prices.',
    `pricing.openai: gpt-5.input -> ${noPrice}`,
    'pricing.openai: gpt-5.reasoning -> Signalbox counts reasoning tokens as output, at the output price.',
    `pricing.openai: o3-mini.cached -> ${noPrice}`,
    'pricing.azure -> Has no prices.',
  ])
    assert.ok(output.includes(line), `${line}\n${output}`)
  const { connections } = await api.connections.list()
  assert.equal(
    connections.map(({ id, prices }) => [id, prices]),
    [
      ['azure', undefined],
      ['openai', undefined],
    ],
  )
})

test('rejects an encrypted database, and suggests exporting it', async ({ folder }) => {
  const path = fresh(folder, '')
  await mkdir(join(path, 'db'), { recursive: true })
  writeSqlite(join(path, 'db/data.sqlite'))
  const database = new DatabaseSync(join(path, 'db/data.sqlite'))
  database.exec(`UPDATE providerConnections SET data = 'enc1:00:11:22' WHERE id = 'a'`)
  database.close()
  const { code, out, err } = await run('9router', path)
  assert.equal([code, out], [1, ''])
  assert.match(err, /Cannot read .* as 9router data\. Use "Export" in the settings/)
})

test("keeps a key's expiry, and reports its other restrictions", async ({ folder }) => {
  const { api, output } = await importNineRouter(
    folder,
    {
      providerConnections: [account('openai')],
      combos: [],
      apiKeys: [
        { id: '1', key: 'sk-canary-1', name: 'laptop', isActive: true, machineId: 'm', createdAt: '2026-01-01' },
        { id: '2', key: 'sk-canary-2', name: 'ci', isActive: 1, expiresAt: '2026-01-31T00:00:00+01:00', groupId: 'g' },
        { id: '3', key: 'sk-canary-3', name: 'odd', expiresAt: 'soon', dailyTokenLimit: 1_000, allowedModels: ['m'] },
      ],
      disabledModels: { openai: ['gpt-5'] },
      apiKeyLimits: [{ apiKeyId: '1', metricType: 'tokens', limitValue: 5 }],
    },
    ['OPENAI'],
  )
  assert.equal(
    (await api.keys.list()).keys.map(({ name, expiresAt }) => [name, expiresAt]),
    [
      ['laptop', undefined],
      ['ci', '2026-01-30T23:00:00.000Z'],
      ['odd', undefined],
    ],
  )
  assert.match(output, /apiKeys: ci -> key ci, with a new value, until 2026-01-30T23:00:00\.000Z/)
  for (const location of [
    'apiKeys: ci.groupId',
    'apiKeys: odd.expiresAt',
    'apiKeys: odd.dailyTokenLimit',
    'apiKeys: odd.allowedModels',
    'disabledModels',
    'apiKeyLimits',
    'models without a provider',
  ])
    assert.ok(output.includes(`  ${location} -> `), location)
  assert.not.match(output, /laptop\./)
})

test('reports connection, server, and combo fields without an equivalent', async ({ folder }) => {
  const proxy = { connectionProxyEnabled: true, connectionProxyUrl: 'http://u:canary@proxy.test:3128' }
  const { output, file } = await importNineRouter(
    folder,
    {
      providerConnections: [
        account('openai', {
          defaultModel: 'gpt-4o',
          testStatus: 'active',
          lastError: 'canary',
          providerSpecificData: { ...proxy, enabledModels: ['gpt-4o'], extraHeaders: { 'x-key': 'canary' } },
        }),
      ],
      providerNodes: [node('n1', 'lab', 'http://one.test/v1')],
      combos: [{ id: '1', name: 'best', models: ['openai/gpt-4o'], timeout: 5, createdAt: '2026-01-01' }],
    },
    ['OPENAI'],
  )
  assert.not.match(output + file, /canary/)
  for (const line of [
    'openai (openai).defaultModel -> Clients set the model',
    "openai (openai).connectionProxyUrl -> Connections can't have a proxy.",
    'openai (openai).enabledModels -> Set "enabledModels" on the connection.',
    'openai (openai).extraHeaders -> Has no equivalent.',
    'combo best.timeout -> Has no equivalent.',
    '-> No connection uses this server.',
  ])
    assert.ok(output.includes(line), `${line}\n${output}`)
  assert.not.match(output, /testStatus|lastError|createdAt/)
})
