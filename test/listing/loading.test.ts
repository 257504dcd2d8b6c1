import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getIds, getListing, listWorld, type World } from './world.ts'

const test = suite('listing rule 1: loading')

const world: World = {
  catalog: { acme: { models: [{ id: 'one' }] } },
  connections: [{ provider: 'acme' }],
  combos: [{ name: 'team' }],
  customModels: [{ id: 'mine', providerAlias: 'acme' }],
  aliases: ['acme/aliased'],
}
const noNetwork = () => Promise.reject(new TypeError('fetch failed'))
const broken = {
  all: () => Promise.reject(new Error('disk on fire')),
}

test('connections, combos, custom models, and aliases are all listed', async () => {
  assert.equal(await getIds(world), ['team', 'acme/one', 'acme/mine', 'acme/aliased'])
})

for (const [collection, left] of [
  ['connections', ['team', 'acme/one', 'acme/mine']], // the static path, which has no aliases
  ['combos', ['acme/one', 'acme/mine', 'acme/aliased']],
  ['customModels', ['team', 'acme/one', 'acme/aliased']],
  ['aliases', ['team', 'acme/one', 'acme/mine']],
] as const) {
  test(`if ${collection} can't be loaded, the list omits them, and onError gets the failure`, async () => {
    const recorded: unknown[] = []
    const store = { [collection]: broken }
    assert.equal(await getIds(world, ['llm'], { store, onError: (error) => recorded.push(error) }), left)
    assert.equal(recorded.map(String), ['Error: disk on fire'])
  })
}

test('the list is empty if nothing can be loaded', async () => {
  const store = { connections: broken, combos: broken, customModels: broken, aliases: broken }
  assert.equal(await getIds({}, ['llm'], { store }), [])
})

test("a loading failure isn't cached, so the next listing tries again", async () => {
  let attempts = 0
  const flaky = {
    all: async () => {
      attempts++
      if (attempts === 1) throw new Error('disk on fire')
      return []
    },
  }
  const recorded: unknown[] = []
  const listing = getListing(world, { store: { combos: flaky }, onError: (error) => recorded.push(error) })
  await listing.list(['llm'], noNetwork)
  await listing.list(['llm'], noNetwork)
  assert.is(attempts, 2)
  assert.is(recorded.length, 1)
})

test('inactive connections are dropped, and only `false` means inactive', async () => {
  const isActive = (value: unknown) => ({ provider: 'acme', isActive: value as boolean }) // stored records may contain anything
  assert.equal(await getIds({ ...world, combos: [], connections: [isActive(false)] }), ['acme/one', 'acme/mine'])
  for (const value of [true, undefined, null, 0]) {
    assert.equal(await getIds({ ...world, combos: [], connections: [isActive(value)] }), [
      'acme/one',
      'acme/mine',
      'acme/aliased',
    ])
  }
})

test('each entry has its four fields, and all entries have the same created time', async () => {
  const clock = fakeClock(1_700_000_000_999)
  const entry = (id: string, owned_by: string) => ({ id, object: 'model', created: 1_700_000_000, owned_by })
  assert.equal(await listWorld(world, ['llm'], { clock }), [
    entry('team', 'combo'),
    entry('acme/one', 'acme'),
    entry('acme/mine', 'acme'),
    entry('acme/aliased', 'acme'),
  ])
})
