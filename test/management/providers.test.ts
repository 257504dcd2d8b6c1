import { defaultCatalog } from '../../src/providers/catalog.ts'
import { assert, suite } from '../support/suite.ts'
import { openDoor } from './door.ts'

const test = suite('providers')

async function providersOf(options: Parameters<typeof openDoor>[0] = {}) {
  const body: object = await openDoor(options).expect(200, 'GET', '/api/providers')
  assert.ok('providers' in body && Array.isArray(body.providers))
  const providers: Array<Record<string, unknown>> = body.providers
  return providers
}

test('the catalog is shown with what its definitions leave out', async () => {
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
  assert.equal(await providersOf({ catalog }), [
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

test('every provider of the built-in catalog is shown and can be connected to', async () => {
  const providers = await providersOf()
  assert.equal(
    providers.map(({ id }) => id),
    Object.keys(defaultCatalog),
  )
  const { expect } = openDoor()
  for (const { id, name } of providers) {
    assert.is((await expect(201, 'POST', '/api/connections', { provider: id })).name, name)
  }
})

test('a compatible provider is shown with the format of its kind', async () => {
  const { call, expect } = openDoor()
  for (const [provider, format] of [
    ['anthropic-compatible-lab', 'anthropic-messages'],
    ['openai-compatible-lab', 'openai-chat'],
  ]) {
    await call('POST', '/api/connections', { provider, providerSpecificData: { baseUrl: 'http://lab.test/v1' } })
    const shown: object = await expect(200, 'PUT', `/api/providers/${provider}`, { strategy: 'random' })
    assert.ok('format' in shown && shown.format === format, provider)
  }
})

test('the catalog is read only', async () => {
  const { call } = openDoor()
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    assert.is((await call(method, '/api/providers', method === 'DELETE' ? undefined : {})).status, 405)
  }
})
