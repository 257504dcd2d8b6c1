import type { Kind } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { getIds, listWorld, type World } from './world.ts'

const test = suite('listing rule 4: kinds and services')

const served: Kind[] = ['llm', 'image', 'tts', 'stt', 'embedding', 'imageToText', 'webSearch', 'webFetch']

/** Returns the kind that lists a world's only model. */
async function getKind(id: string, catalogModels: Array<{ id: string; type?: Kind }> = []): Promise<Kind[]> {
  const world: World = {
    catalog: { acme: { serviceKinds: served, models: catalogModels } },
    connections: [{ provider: 'acme', providerSpecificData: { prefix: 'mine', enabledModels: [id] } }],
  }
  const found: Kind[] = []
  for (const kind of served) if ((await getIds(world, [kind])).length > 0) found.push(kind)
  return found
}

for (const [id, kind] of [
  ['text-embedding-3', 'embedding'],
  ['EMBED', 'embedding'],
  ['tts-1', 'tts'],
  ['Speech-2', 'tts'],
  ['gpt-audio', 'tts'],
  ['my-voice', 'tts'],
  ['gpt-image-1', 'image'],
  ['Imagen-4', 'image'],
  ['dall-e-3', 'image'],
  ['DALLE3', 'image'],
  ['flux-pro', 'image'],
  ['sdxl-turbo', 'image'],
  ['sd-3', 'image'],
  ['usd-report', 'image'], // contains `sd-`, as image models do
  ['stable-diffusion-3', 'image'],
  ['sd', 'llm'],
  ['dall', 'llm'],
  ['gpt-5', 'llm'],
  ['whisper-1', 'llm'],
  ['embed-voice-image', 'embedding'], // `embedding` comes before `tts`, and `tts` before `image`
  ['voice-of-flux', 'tts'],
] as const) {
  test(`the kind of ${id} is inferred as ${kind}`, async () => assert.equal(await getKind(id), [kind]))
}

test("the catalog's kind takes precedence over the kind inferred from the ID", async () => {
  assert.equal(await getKind('dall-e-3', [{ id: 'dall-e-3' }]), ['llm'])
  assert.equal(await getKind('plain', [{ id: 'plain', type: 'imageToText' }]), ['imageToText'])
  assert.equal(await getKind('plain', [{ id: 'plain', type: 'stt' }]), ['stt'])
})

test('a catalog model is found with or without a provider name in front', async () => {
  for (const name of ['mine', 'acme']) {
    assert.equal(await getKind('plain', [{ id: `${name}/plain`, type: 'image' }]), ['image'])
    assert.equal(await getKind(`${name}/plain`, [{ id: 'plain', type: 'image' }]), ['image'])
  }
  assert.equal(await getKind('plain', [{ id: 'other/plain', type: 'image' }]), ['llm'])
  const both = [
    { id: 'acme/plain', type: 'tts' as const },
    { id: 'plain', type: 'image' as const },
  ]
  assert.equal(await getKind('plain', both), ['image'], 'an exact ID takes precedence')
  const twice = both.map(({ type }) => ({ id: 'plain', type }))
  assert.equal(await getKind('plain', twice), ['tts'], 'the first of two entries wins')
})

test('a custom model with a prefix is also found in the catalog', async () => {
  const world: World = {
    catalog: { acme: { models: [{ id: 'dall-e-chat' }] } },
    connections: [{ provider: 'acme', providerSpecificData: { enabledModels: ['x'] } }],
    customModels: [{ id: 'acme/dall-e-chat', providerAlias: 'acme' }],
  }
  assert.equal(await getIds(world), ['acme/x', 'acme/acme/dall-e-chat'])
})

test("a model of an unknown type isn't listed", async () => {
  assert.equal(await getKind('film', [{ id: 'film', type: 'video' as Kind }]), []) // a catalog from a later release
})

test('the kinds of custom models and aliases are also inferred from their IDs', async () => {
  const world: World = {
    catalog: { acme: { serviceKinds: served } },
    connections: [{ provider: 'acme' }],
    customModels: [{ id: 'my-tts', providerAlias: 'acme' }],
    aliases: ['acme/flux', 'acme/chat'],
  }
  assert.equal(await getIds(world, ['llm']), ['acme/chat'])
  assert.equal(await getIds(world, ['tts']), ['acme/my-tts'])
  assert.equal(await getIds(world, ['image']), ['acme/flux'])
})

const services: World['catalog'] = {
  acme: {
    alias: 'ac',
    serviceKinds: ['tts', 'embedding', 'webSearch', 'webFetch'],
    models: [{ id: 'tts-1', type: 'tts' }],
    ttsConfig: { models: [{ id: 'alloy' }, { id: 'ac/kept' }, { id: 'tts-1' }] },
    embeddingConfig: { models: [{ id: 'vectors' }] },
    searchConfig: {},
    fetchConfig: {},
  },
}
const connected: World = { catalog: services, connections: [{ provider: 'acme' }] }

test("voices and embedding models are listed after the provider's other models, with unchanged IDs", async () => {
  assert.equal(await getIds(connected, ['tts']), ['ac/tts-1', 'ac/alloy', 'ac/ac/kept'])
  assert.equal(await getIds(connected, ['embedding']), ['ac/vectors'])
  assert.equal(await getIds(connected, ['embedding', 'tts']), ['ac/tts-1', 'ac/alloy', 'ac/ac/kept', 'ac/vectors'])
})

test('web search and web fetch each have one entry, which includes its kind', async () => {
  const shapes = async (kinds: Kind[]) =>
    (await listWorld(connected, kinds)).map(({ id, owned_by, kind }) => [id, owned_by, kind])
  assert.equal(await shapes(['webSearch']), [['ac/search', 'ac', 'webSearch']])
  assert.equal(await shapes(['webFetch']), [['ac/fetch', 'ac', 'webFetch']])
  assert.equal(await shapes(['webFetch', 'webSearch']), [
    ['ac/search', 'ac', 'webSearch'],
    ['ac/fetch', 'ac', 'webFetch'],
  ])
})

test('a provider without a service has no entry for it', async () => {
  const world: World = { catalog: { acme: { serviceKinds: served } }, connections: [{ provider: 'acme' }] }
  assert.equal(await getIds(world, served), [])
})

test('services are listed only if the provider serves their kind', async () => {
  const world: World = { ...connected, catalog: { acme: { ...services?.acme, serviceKinds: ['llm'] } } }
  assert.equal(await getIds(world, ['tts', 'embedding', 'webSearch', 'webFetch']), [])
})
