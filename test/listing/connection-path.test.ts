import type { Catalog, ProviderSpecificData } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { getIds, listWorld, type World } from './world.ts'

const test = suite('listing rule 4: with connections')

const catalog: World['catalog'] = {
  acme: { alias: 'ac', catalogAlias: 'filed', models: [{ id: 'one' }, { id: 'two' }] },
  zeta: { models: [{ id: 'z' }] },
}
const acme = (providerSpecificData: ProviderSpecificData = {}) => ({ provider: 'acme', providerSpecificData })
const enabled = (...enabledModels: unknown[]) => acme({ enabledModels: enabledModels as string[] }) // stored records may contain anything

test('only providers with an active connection are listed', async () => {
  assert.equal(await getIds({ catalog, connections: [{ provider: 'zeta' }] }), ['zeta/z'])
  assert.equal(await getIds({ catalog, connections: [{ provider: 'zeta' }, { provider: 'acme', isActive: false }] }), [
    'zeta/z',
  ])
})

test('providers are sorted by the priority, and then the age, of their first connection', async () => {
  const createdOn = (day: number) => ({ createdAt: `2026-01-0${day}T00:00:00Z` })
  const order = (...connections: NonNullable<World['connections']>) => getIds({ catalog, connections })
  assert.equal(await order({ provider: 'zeta' }, acme()), ['zeta/z', 'ac/one', 'ac/two'])
  assert.equal(await order({ provider: 'zeta', ...createdOn(2) }, { ...acme(), ...createdOn(1) }), [
    'ac/one',
    'ac/two',
    'zeta/z',
  ])
  assert.equal(await order({ provider: 'zeta', ...createdOn(1) }, { ...acme(), priority: 9, ...createdOn(2) }), [
    'ac/one',
    'ac/two',
    'zeta/z',
  ])
  assert.equal(await order({ provider: 'zeta', priority: 2 }, { ...acme(), priority: 1 }), [
    'ac/one',
    'ac/two',
    'zeta/z',
  ])
})

test("a provider's first active connection determines its models", async () => {
  const connections = [
    { ...acme({ prefix: 'inactive' }), isActive: false, priority: 0 },
    { ...acme({ prefix: 'second' }), priority: 2 },
    { ...acme({ prefix: 'first', enabledModels: ['mine'] }), priority: 1 },
  ]
  assert.equal(await getIds({ catalog, connections }), ['first/mine'])
})

test('a provider without any of the requested kinds is skipped', async () => {
  const services: World['catalog'] = {
    silent: { models: [{ id: 'picture', type: 'image' }] },
    painter: { serviceKinds: ['image'], models: [{ id: 'picture', type: 'image' }, { id: 'chat' }] },
  }
  const connections = [{ provider: 'silent' }, { provider: 'painter' }, { provider: 'not-in-the-catalog' }]
  assert.equal(await getIds({ catalog: services, connections }, ['image']), ['painter/picture'])
  assert.equal(await getIds({ catalog: services, connections }, ['llm']), [])
})

for (const [label, connection, alias] of [
  ['the prefix', acme({ prefix: 'mine' }), 'mine'],
  ['the prefix, trimmed', acme({ prefix: '  mine ' }), 'mine'],
  ['the configured alias if the prefix is empty', acme({ prefix: '' }), 'ac'],
  ['the configured alias if the prefix is blank', acme({ prefix: '   ' }), 'ac'],
  ['the configured alias if there is no prefix', acme(), 'ac'],
] as const) {
  test(`the output alias is ${label}`, async () => {
    const entries = await listWorld({ catalog, connections: [connection] }, ['llm'])
    assert.equal(
      entries.map(({ id, owned_by }) => [id, owned_by]),
      [
        [`${alias}/one`, alias],
        [`${alias}/two`, alias],
      ],
    )
  })
}

test('a blank catalog alias is treated as missing', async () => {
  for (const blank of ['', '  ']) {
    const models = [{ id: 'one' }]
    const world = { connections: [{ provider: 'acme' }] }
    const listIds = (definition: object) => getIds({ ...world, catalog: { acme: { models, ...definition } } })
    assert.equal(await listIds({ alias: blank }), ['acme/one'])
    assert.equal(await listIds({ alias: blank, catalogAlias: 'filed' }), ['filed/one'])
    assert.equal(await listIds({ alias: 'ac', catalogAlias: blank }), ['ac/one'])
    assert.equal(await getIds({ catalog: { acme: { models, alias: blank } } }), ['acme/one'])
  }
})

test('the output alias defaults to the catalog alias, trimmed, and then to the provider ID', async () => {
  const connections = [{ provider: 'acme' }]
  assert.equal(await getIds({ catalog: { acme: { catalogAlias: 'filed', models: [{ id: 'one' }] } }, connections }), [
    'filed/one',
  ])
  assert.equal(await getIds({ catalog: { acme: { models: [{ id: 'one' }] } }, connections }), ['acme/one'])
  assert.equal(await getIds({ catalog: { acme: { alias: ' ac ', models: [{ id: 'one' }] } }, connections }), ['ac/one'])
})

test("enabled models replace the catalog's models; blank values, non-strings, and duplicates are dropped", async () => {
  const odd = enabled('b', '', 'a', '  ', null, 'b', 7, ' padded ', ['c'])
  assert.equal(await getIds({ catalog, connections: [odd] }), ['ac/b', 'ac/a', 'ac/ padded '])
})

test("enabled models don't replace the catalog's models if they are empty or not a list", async () => {
  for (const value of [[], undefined, null, 'one', { 0: 'one' }]) {
    const connection = acme({ enabledModels: value as string[] }) // stored records may contain anything
    assert.equal(await getIds({ catalog, connections: [connection] }), ['ac/one', 'ac/two'])
  }
})

test('if all enabled models are blank, the list is empty', async () => {
  assert.equal(await getIds({ catalog, connections: [enabled('', '  ', null)] }), [])
})

test('base IDs drop one leading provider name', async () => {
  const connection = acme({
    prefix: 'mine',
    enabledModels: ['mine/a', 'filed/b', 'acme/c', 'ac/d', 'mine/mine/e', 'mine/acme/f', 'minea/g', 'x/mine/h'],
  })
  assert.equal(await getIds({ catalog, connections: [connection] }), [
    'mine/a',
    'mine/b',
    'mine/c',
    'mine/ac/d', // the configured alias only serves as the output alias
    'mine/mine/e',
    'mine/acme/f',
    'mine/minea/g',
    'mine/x/mine/h',
  ])
})

test('catalog IDs also drop one leading provider name, and duplicates are listed once', async () => {
  const named: World['catalog'] = { acme: { models: [{ id: 'acme/one' }, { id: 'one' }, { id: 'two' }] } }
  assert.equal(await getIds({ catalog: named, connections: [acme()] }), ['acme/one', 'acme/two'])
})

test('an ID that consists only of a provider name is dropped', async () => {
  assert.equal(await getIds({ catalog, connections: [enabled('ac/', 'acme/', 'filed/  ', 'acme')] }), ['ac/acme'])
  assert.equal(await getIds({ catalog: {}, connections: [enabled('acme/')], aliases: ['acme/'] }), [])
})

test("custom models match any of the provider's three names, keep their prefix, and must be llm", async () => {
  const customModels = [
    { id: 'by-id', providerAlias: 'acme' },
    { id: 'by-output', providerAlias: 'mine' },
    { id: 'by-catalog', providerAlias: 'filed' },
    { id: 'by-configured', providerAlias: 'ac' }, // not one of the three names if there is a prefix
    { id: 'elsewhere', providerAlias: 'zeta' },
    { id: 'mine/kept', providerAlias: 'mine' },
    { id: ' padded ', providerAlias: 'mine' },
    { id: '  ', providerAlias: 'mine' },
    { id: 'typed', providerAlias: 'mine', type: 'llm' as const },
    { id: 'picture', providerAlias: 'mine', type: 'image' as const },
  ]
  assert.equal(
    await getIds({ catalog, connections: [acme({ prefix: 'mine', enabledModels: ['base'] })], customModels }),
    ['mine/base', 'mine/by-id', 'mine/by-output', 'mine/by-catalog', 'mine/mine/kept', 'mine/padded', 'mine/typed'],
  )
})

test("alias targets are matched by any of the provider's three names, which is dropped", async () => {
  const aliases = [
    'acme/by-id',
    'zeta/other',
    'mine/by-output',
    'filed/by-catalog',
    'ac/by-configured',
    'acme/acme/nested',
    'acme',
    'team',
  ]
  assert.equal(await getIds({ catalog, connections: [acme({ prefix: 'mine', enabledModels: ['base'] })], aliases }), [
    'mine/base',
    'mine/by-id',
    'mine/by-output',
    'mine/by-catalog',
    'mine/acme/nested',
  ])
})

test('a provider name may contain slashes', async () => {
  const connections = [{ provider: 'acme', providerSpecificData: { prefix: 'team/a', enabledModels: ['team/a/one'] } }]
  assert.equal(await getIds({ connections, aliases: ['team/a/two', 'team/b/three', 'team/a'] }), [
    'team/a/one',
    'team/a/two',
  ])
})

test('base IDs come first, then custom models, then aliases, without duplicates', async () => {
  const world: World = {
    catalog,
    connections: [acme()],
    customModels: [
      { id: 'custom', providerAlias: 'acme' },
      { id: 'two', providerAlias: 'acme' },
    ],
    aliases: ['ac/custom', 'ac/aliased', 'ac/one'],
  }
  assert.equal(await getIds(world), ['ac/one', 'ac/two', 'ac/custom', 'ac/aliased'])
})

test('a model that two providers list under the same prefix is listed once', async () => {
  const connections = ['zeta', 'acme'].map((provider) => ({
    provider,
    providerSpecificData: { prefix: 'all', enabledModels: ['same', provider] },
  }))
  assert.equal(await getIds({ catalog, connections }), ['all/same', 'all/zeta', 'all/acme'])
})

test('inherited property names, such as constructor, are ordinary provider names', async () => {
  const odd: Catalog = JSON.parse(
    '{"__proto__":{"models":[{"id":"constructor"}]},"constructor":{"models":[{"id":"__proto__"}]}}',
  )
  const connections = ['__proto__', 'constructor', 'toString'].map((provider) => ({ provider }))
  const customModels = [{ id: 'valueOf', providerAlias: '__proto__' }]
  const aliases = ['constructor/hasOwnProperty', 'toString/x']
  const expected = [
    '__proto__/constructor',
    '__proto__/valueOf',
    'constructor/__proto__',
    'constructor/hasOwnProperty',
    'toString/x',
  ]
  assert.equal(await getIds({ catalog: odd, connections, customModels, aliases }), expected)
  assert.equal(await getIds({ catalog: {}, connections: [{ provider: 'constructor' }] }), [])
})
