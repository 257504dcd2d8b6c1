import type { Kind } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { getIds, listWorld, type World } from './world.ts'

const test = suite('listing rule 3: without connections')

const all: Kind[] = ['llm', 'image', 'tts', 'stt', 'embedding', 'imageToText']

test("without connections, the list contains the catalog in order, under the providers' aliases", async () => {
  const catalog: World['catalog'] = {
    plain: { models: [{ id: 'a' }] },
    configured: { alias: 'cfg', models: [{ id: 'b' }] },
    filed: { alias: 'cfg2', catalogAlias: 'filed-as', models: [{ id: 'c' }] },
  }
  const entries = await listWorld({ catalog }, ['llm'])
  assert.equal(
    entries.map(({ id, owned_by }) => [id, owned_by]),
    [
      ['plain/a', 'plain'],
      ['cfg/b', 'cfg'],
      ['filed-as/c', 'filed-as'],
    ],
  )
})

test('a provider without any of the requested kinds is skipped, regardless of its models', async () => {
  const models = [{ id: 'chat' }, { id: 'picture', type: 'image' as const }]
  const catalog: World['catalog'] = {
    silent: { models },
    painter: { serviceKinds: ['image'], models },
    both: { serviceKinds: ['llm', 'image'], models },
    none: { serviceKinds: [], models },
  }
  assert.equal(await getIds({ catalog }, ['llm']), ['silent/chat', 'both/chat'])
  assert.equal(await getIds({ catalog }, ['image']), ['painter/picture', 'both/picture'])
  assert.equal(await getIds({ catalog }, ['tts']), [])
})

test('a model without a type is an llm, and other models are listed under their kind', async () => {
  const types: Kind[] = ['image', 'tts', 'stt', 'embedding', 'imageToText']
  const models = [
    { id: 'untyped' },
    { id: 'typed-llm', type: 'llm' as const },
    ...types.map((type) => ({ id: `an-${type}`, type })),
  ]
  const catalog: World['catalog'] = { acme: { serviceKinds: all, models } }
  assert.equal(await getIds({ catalog }, ['llm']), ['acme/untyped', 'acme/typed-llm'])
  for (const type of types) assert.equal(await getIds({ catalog }, [type]), [`acme/an-${type}`])
})

test("without connections, kinds aren't inferred and services aren't listed", async () => {
  const catalog: World['catalog'] = {
    acme: {
      serviceKinds: ['llm', 'tts', 'embedding', 'webSearch', 'webFetch'],
      models: [{ id: 'dall-e-3' }],
      ttsConfig: { models: [{ id: 'alloy' }] },
      embeddingConfig: { models: [{ id: 'embed' }] },
      searchConfig: {},
      fetchConfig: {},
    },
  }
  assert.equal(await getIds({ catalog }, ['llm', 'image', 'tts', 'embedding', 'webSearch', 'webFetch']), [
    'acme/dall-e-3',
  ])
})

test('custom models follow all providers, in creation order', async () => {
  const world: World = {
    catalog: { acme: { models: [{ id: 'one' }] }, zeta: { models: [{ id: 'two' }] } },
    customModels: [
      { id: 'mine', providerAlias: 'zeta' },
      { id: 'also/mine', providerAlias: 'unheard-of' },
    ],
    aliases: ['acme/aliased'],
  }
  assert.equal(await getIds(world), ['acme/one', 'zeta/two', 'zeta/mine', 'unheard-of/also/mine'])
  assert.equal((await listWorld(world, ['llm'])).at(-1)?.owned_by, 'unheard-of')
  assert.equal(await getIds(world, ['image', 'tts']), [], 'custom models are only listed under llm')
})

test("custom models without an alias or ID, or of a type other than llm, aren't listed", async () => {
  const odd = [
    { id: '  padded ', providerAlias: 'acme' },
    { id: '', providerAlias: 'acme' },
    { id: '   ', providerAlias: 'acme' },
    { id: 'homeless', providerAlias: '' },
    { id: 'typed', providerAlias: 'acme', type: 'llm' },
    { id: 'picture', providerAlias: 'acme', type: 'image' },
    { id: 'unknown', providerAlias: 'acme', type: 'video' },
    { providerAlias: 'acme' },
    { id: 'homeless' },
  ] as World['customModels'] & object // stored records may contain anything
  assert.equal(await getIds({ customModels: odd }), ['acme/padded', 'acme/typed'])
  assert.equal(await getIds({ customModels: odd }, ['image']), [])
})
