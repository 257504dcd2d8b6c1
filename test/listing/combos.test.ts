import type { Kind } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { getIds, listWorld, type World } from './world.ts'

const test = suite('listing rules 2 and 5: combos and duplicate IDs')

const kinds: Kind[] = ['llm', 'image', 'tts', 'stt', 'embedding', 'imageToText', 'webSearch', 'webFetch']
const combos: World['combos'] = [{ name: 'plain' }, ...kinds.map((kind) => ({ name: `for-${kind}`, kind }))]

for (const kind of kinds) {
  test(`the kind ${kind} lists its combos${kind === 'llm' ? ', and combos without a kind' : ''}`, async () => {
    const expected = kind === 'llm' ? ['plain', 'for-llm'] : [`for-${kind}`]
    assert.equal(await getIds({ combos }, [kind]), expected)
  })
}

test('combos of several kinds keep their creation order', async () => {
  assert.equal(await getIds({ combos }, ['webFetch', 'llm', 'image']), [
    'plain',
    'for-llm',
    'for-image',
    'for-webFetch',
  ])
  assert.equal(await getIds({ combos }, []), [])
})

test('combos are owned by `combo`, and only combos of web kinds include their kind', async () => {
  const shapes = (await listWorld({ combos }, kinds)).map(({ id, owned_by, kind }) => [id, owned_by, kind])
  assert.equal(shapes, [
    ['plain', 'combo', undefined],
    ['for-llm', 'combo', undefined],
    ['for-image', 'combo', undefined],
    ['for-tts', 'combo', undefined],
    ['for-stt', 'combo', undefined],
    ['for-embedding', 'combo', undefined],
    ['for-imageToText', 'combo', undefined],
    ['for-webSearch', 'combo', 'webSearch'],
    ['for-webFetch', 'combo', 'webFetch'],
  ])
  const [plain] = await listWorld({ combos }, ['llm'])
  assert.equal(Object.keys(plain ?? {}), ['id', 'object', 'created', 'owned_by'])
})

test('combos come before models, with and without connections', async () => {
  const world: World = { combos: [{ name: 'team' }], catalog: { acme: { models: [{ id: 'one' }] } } }
  assert.equal(await getIds(world), ['team', 'acme/one'])
  assert.equal(await getIds({ ...world, connections: [{ provider: 'acme' }] }), ['team', 'acme/one'])
})

test('if several entries have the same ID, only the first is listed', async () => {
  const world: World = {
    combos: [{ name: 'acme/one' }],
    catalog: {
      acme: { models: [{ id: 'one' }, { id: 'two' }, { id: 'two' }] },
      other: { alias: 'acme', models: [{ id: 'two' }, { id: 'three' }] },
    },
  }
  const owners = (await listWorld(world, ['llm'])).map(({ id, owned_by }) => `${id} of ${owned_by}`)
  assert.equal(owners, ['acme/one of combo', 'acme/two of acme', 'acme/three of acme'])
})
