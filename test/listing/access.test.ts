import type { Catalog, KeyPut } from '../../src/types.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('models that a key may use')

const catalog: Catalog = {
  openai: {
    alias: 'oa',
    baseUrl: 'http://one.test/v1',
    serviceKinds: ['llm', 'image'],
    models: [{ id: 'gpt-5' }, { id: 'gpt-5-mini' }, { id: 'vendor/odd' }, { id: 'draw', type: 'image' }],
  },
  claude: { baseUrl: 'http://claude.test/v1', format: 'anthropic-messages', models: [{ id: 'c' }] },
}

const everything = ['pool', 'outer', 'loop', 'empty', 'work/gpt-5', 'work/gpt-5-mini', 'work/vendor/odd', 'claude/c']

async function world(
  key: Omit<KeyPut, 'name' | 'id' | 'key'>,
  group?: { models?: string[]; kinds?: KeyPut['kinds'] & {} },
) {
  const opened = await openWorld({
    catalog,
    connections: [{ provider: 'openai', providerSpecificData: { prefix: 'work' } }, 'claude'],
    combos: { pool: ['oa/gpt-5', 'quick'], outer: ['pool', 'loop'], loop: ['loop-alias'], empty: [] },
    aliases: { quick: 'quicker', quicker: 'claude/c', 'openai/gpt-5-mini': 'claude/c' },
  })
  const { api } = opened
  await api.aliases.set({ alias: 'loop-alias', model: 'pool' })
  if (group) await api.groups.put({ id: 'g', name: 'g', ...group })
  const { key: created } = await api.keys.put({ id: 'k', name: 'k', ...key, ...(group && { group: 'g' }) })
  const get = (path: string, headers = {}) =>
    opened.gateway.fetch(
      new Request(`http://gateway.test${path}`, { headers: { 'x-api-key': created.key, ...headers } }),
    )
  const getIds = async (path = '/v1/models') => {
    const { data }: { data: { id: string }[] } = await (await get(path)).json()
    return data.map(({ id }) => id)
  }
  return { ...opened, get, ids: getIds }
}

/** The allowed models of a key and its group, and the expected model list. */
const cases: [models: string[] | undefined, group: string[] | undefined, listed: string[]][] = [
  [undefined, undefined, everything],
  [['*'], undefined, everything],
  [['*'], ['*'], everything],
  [['nothing'], undefined, []],
  [['pool'], undefined, ['pool']],
  [['quick'], undefined, []],
  [['loop'], undefined, ['loop']],
  // Each provider has three names, any of which can refer to its models.
  [['openai/gpt-5'], undefined, ['pool', 'outer', 'loop', 'work/gpt-5']],
  [['oa/gpt-5'], undefined, ['pool', 'outer', 'loop', 'work/gpt-5']],
  [['work/gpt-5'], undefined, ['pool', 'outer', 'loop', 'work/gpt-5']],
  [['openai/*'], undefined, ['pool', 'outer', 'loop', 'work/gpt-5', 'work/gpt-5-mini', 'work/vendor/odd']],
  [['*/gpt-5'], undefined, ['pool', 'outer', 'loop', 'work/gpt-5']],
  [['work/vendor/*'], undefined, ['work/vendor/odd']],
  [['claude/c'], undefined, ['pool', 'outer', 'loop', 'claude/c']],
  [['gpt-5', 'WORK/GPT-5', 'Pool', 'work', 'work/', '/gpt-5'], undefined, []],
  // A model must be allowed by both the key and the group.
  [['claude/*'], ['openai/*'], []],
  [undefined, ['claude/*'], ['pool', 'outer', 'loop', 'claude/c']],
  [['pool', 'claude/c'], ['oa/*'], ['pool']],
  [['pool'], ['outer'], []],
  [
    ['pool', 'outer'],
    ['pool', 'claude/c'],
    ['pool', 'outer'],
  ],
]

for (const [models, group, listed] of cases)
  test(`a key lists only its allowed models (key: ${JSON.stringify(models)}, group: ${JSON.stringify(group)})`, async () => {
    const { ids, get } = await world(models ? { models } : {}, group && { models: group })
    assert.equal((await ids()).sort(), [...listed].sort())
    for (const id of everything) {
      const found = await get(`/v1/models/${id}`)
      assert.is(found.status, listed.includes(id) ? 200 : 404, id)
      if (found.status === 404) assert.match(await found.text(), /does not exist/)
    }
  })

test("a key lists and retrieves only its allowed models in other clients' formats", async () => {
  const { get } = await world({ models: ['claude/*'] })
  const anthropic = await (await get('/v1/models', { 'anthropic-version': '2023-06-01' })).json()
  assert.equal(anthropic.data.map(({ id }: { id: string }) => id).sort(), ['claude/c', 'loop', 'outer', 'pool'])
  const google = await (await get('/v1beta/models')).json()
  assert.equal(google.models.map(({ name }: { name: string }) => name).sort(), [
    'models/claude/c',
    'models/loop',
    'models/outer',
    'models/pool',
  ])
  assert.is((await get('/v1beta/models/claude/c')).status, 200)
  assert.is((await get('/v1beta/models/work/gpt-5')).status, 404)
  assert.not.match(await (await get('/v1/models/work/gpt-6')).text(), /gpt-5/)
})

test('a key restricted to some kinds only finds models of those kinds', async () => {
  const all = await world({})
  assert.equal(await all.ids('/v1/models/image'), ['work/draw'])
  const { ids, get } = await world({ kinds: ['llm'] })
  assert.equal([await ids('/v1/models/image'), (await ids()).length], [[], everything.length])
  assert.is((await get('/v1/models/work/draw')).status, 404)
  const images = await world({ kinds: ['image', 'llm'] }, { kinds: ['image', 'tts'] })
  assert.equal([await images.ids('/v1/models/image'), await images.ids()], [['work/draw'], []])
  assert.equal((await images.api.models.published()).data.length, everything.length)
})
