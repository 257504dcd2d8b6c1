import type { Provider } from '../../src/admin/providers.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'
import { connectionStrategies, listNames } from './strategy-names.ts'

const test = suite('providers')

async function listProviders(options: Parameters<typeof openManagement>[0] = {}) {
  const body: object = await openManagement(options).expect(200, 'GET', '/api/providers')
  assert.ok('providers' in body && Array.isArray(body.providers))
  const providers: Array<Record<string, unknown>> = body.providers
  return providers
}

test("lists the catalog's providers, including the defaults that their definitions omit", async () => {
  const catalog = {
    full: {
      alias: 'f',
      catalogAlias: 'fc',
      name: 'Full',
      docsUrl: 'https://full.example/docs',
      baseUrl: 'https://full.example/v1',
      format: 'anthropic-messages' as const,
      serviceKinds: ['llm' as const, 'tts' as const],
      models: [{ id: 'm', contextWindow: 1_000 }],
      ttsConfig: { models: [{ id: 't' }] },
    },
    bare: {},
    half: { alias: 'h' },
  }
  assert.equal(await listProviders({ catalog }), [
    { id: 'full', ...catalog.full },
    {
      id: 'bare',
      name: 'bare',
      alias: 'bare',
      catalogAlias: 'bare',
      format: 'openai-chat',
      serviceKinds: ['llm'],
      models: [],
    },
    {
      id: 'half',
      name: 'half',
      alias: 'h',
      catalogAlias: 'h',
      format: 'openai-chat',
      serviceKinds: ['llm'],
      models: [],
    },
  ])
})

/** Fields that cloud providers need to build a URL. */
const ofClouds: Record<string, object> = {
  azure: { resource: 'mine' },
  bedrock: { region: 'us-east-1' },
  vertex: { project: 'mine' },
}

test('shows every built-in provider, and each one can be connected', async () => {
  const providers = await listProviders()
  assert.equal(
    providers.map(({ id }) => id),
    Object.keys(defaultCatalog),
  )
  const { expect } = openManagement()
  for (const { id, name } of providers) {
    const settings = ofClouds[String(id)]
    const input = { provider: id, ...(settings && { providerSpecificData: settings }) }
    assert.is((await expect(201, 'POST', '/api/connections', input)).name, name)
  }
})

test('shows a compatible provider with the format it is named after', async () => {
  const { call, expect } = openManagement()
  for (const [provider, format] of [
    ['anthropic-compatible-lab', 'anthropic-messages'],
    ['openai-compatible-lab', 'openai-chat'],
  ]) {
    await call('POST', '/api/connections', { provider, providerSpecificData: { baseUrl: 'http://lab.test/v1' } })
    const shown: object = await expect(200, 'PUT', `/api/providers/${provider}`, { strategy: 'random' })
    assert.ok('format' in shown && shown.format === format, provider)
  }
})

test("stores, shows, and replaces a provider's connection strategy", async () => {
  const { expect } = openManagement({ catalog: { one: { name: 'One' }, two: {} } })
  const set = async (id: string, body: object) => pick(await expect(200, 'PUT', `/api/providers/${id}`, body))
  const pick = ({ id, name, strategy, stickyLimit }: Pick<Provider, 'id' | 'name' | 'strategy' | 'stickyLimit'>) => ({
    id,
    name,
    strategy,
    stickyLimit,
  })
  const both = { strategy: 'round-robin' as const, stickyLimit: 4 }
  assert.equal(await set('one', both), { id: 'one', name: 'One', ...both })
  const listProviders = async () => (await expect(200, 'GET', '/api/providers')).providers.map(pick)
  const untouched = { id: 'two', name: 'two', strategy: undefined, stickyLimit: undefined }
  assert.equal(await listProviders(), [{ id: 'one', name: 'One', ...both }, untouched])
  const after = { id: 'one', name: 'One', strategy: 'sticky', stickyLimit: undefined }
  assert.equal(await set('one', { strategy: 'sticky' }), after)
  assert.equal(await listProviders(), [after, untouched])
})

test('a connected provider outside the catalog can have a strategy, and is listed once it does', async () => {
  const { expect, expectError } = openManagement({ catalog: {} })
  const put = ['PUT', '/api/providers/mine', { strategy: 'random' }] as const
  await expectError(404, 'Provider not found', [...put])
  const connection = { provider: 'mine', providerSpecificData: { baseUrl: 'http://mine.test/v1' } }
  await expect(201, 'POST', '/api/connections', connection)
  assert.equal((await expect(200, 'GET', '/api/providers')).providers, [])
  await expect(200, ...put)
  assert.is((await expect(200, 'GET', '/api/providers')).providers[0]?.strategy, 'random')
})

test('a single provider looks the same as in the list', async () => {
  const { expect, expectError } = openManagement({ catalog: { one: { name: 'One', models: [{ id: 'm' }] } } })
  await expect(200, 'PUT', '/api/providers/one', { strategy: 'random' })
  const [first] = (await expect(200, 'GET', '/api/providers')).providers
  assert.equal(await expect(200, 'GET', '/api/providers/one'), first)
  const lab = await expect(200, 'GET', '/api/providers/openai-compatible-lab')
  assert.equal([lab.id, lab.name], ['openai-compatible-lab', 'openai-compatible-lab'])
  await expectError(404, 'Provider not found', ['GET', '/api/providers/mine'])
})

const CHOICE = `"strategy" must be one of ${listNames(connectionStrategies)}`
for (const [body, error] of [
  [{}, CHOICE.replace('must', 'is required and must')],
  [{ strategy: 'weigted' }, CHOICE],
  [
    { strategy: 'conditional' },
    '"strategy" cannot be "conditional" because connections have no conditions. Set "when" on combo entries, and choose another strategy here',
  ],
  [{ strategy: null }, CHOICE],
  [{ strategy: 'sticky', stickyLimit: 0 }, '"stickyLimit" must be a whole number from 1 to 1000'],
  [{ strategy: 'sticky', stickyLimit: null }, '"stickyLimit" must be a whole number from 1 to 1000'],
  [{ strategy: 'random', weight: 2 }, 'Unknown field "weight". Known: "strategy", "stickyLimit".'],
  [{ strategy: 'random', when: {} }, 'Unknown field "when". Known: "strategy", "stickyLimit".'],
] as const) {
  test(`rejects the provider settings ${JSON.stringify(body)}: ${error}`, () =>
    openManagement({ catalog: { one: {} } }).expectError(400, error, ['PUT', '/api/providers/one', body]))
}

test('the catalog is read-only', async () => {
  const { call } = openManagement()
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    assert.is((await call(method, '/api/providers', method === 'DELETE' ? undefined : {})).status, 405)
  }
})
