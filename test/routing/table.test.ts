import { follow } from '../../src/routing/follow.ts'
import type { Group, GroupChoice, Inputs, Route } from '../../src/routing/group.ts'
import { groupReachOf, resolutionOfEntry } from '../../src/routing/group-reach.ts'
import { createRouteTable, type RouteTable } from '../../src/routing/route-table.ts'
import type { Select } from '../../src/routing/select.ts'
import type { ProviderRecord } from '../../src/store/store.ts'
import type { Catalog, Combo, ComboModel, Strategy } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('route table')

const at = new Date(0).toISOString()
const catalog: Catalog = { up: { models: [{ id: 'a', price: { input: 1, output: 1 } }, { id: 'b' }] }, down: {} }

const combo = (name: string, strategy: Strategy, ...models: ComboModel[]): Combo => ({
  id: name,
  name,
  models,
  strategy,
  createdAt: at,
  updatedAt: at,
})

const inputs: Inputs = {
  random: () => 0,
  turn: 0,
  label: '',
  session: '',
  pin: undefined,
  costOf: () => undefined,
  latencyOf: () => undefined,
  loadOf: () => 0,
}

interface Given {
  combos?: Combo[]
  connections?: string[]
  providers?: ProviderRecord[]
  aliases?: Record<string, string>
}

function tableOf({ combos = [], connections = ['c@up'], providers = [], aliases = {} }: Given = {}) {
  const records = connections.map((text) => {
    const [id = '', provider = ''] = text.split('@')
    return { id, provider, name: id, createdAt: at, updatedAt: at }
  })
  const map = Object.entries(aliases).map(([alias, model]) => ({ alias, model }))
  const selected: Group[] = []
  const select: Select = async (group) => {
    selected.push(group)
    return { entries: group.entries, inputs }
  }
  const table = createRouteTable(
    { combos, connections: records, providers, aliases: map, customModels: [] },
    { catalog, customModels: async () => [] },
  )
  async function ways(model: string) {
    const found: string[] = []
    for await (const route of routesOf(model, table, select)) {
      const { target, via } = route
      found.push([...wayOf(via), `${target.model}@${target.connection.id}`].join('>'))
    }
    return found.join(' ')
  }
  return { table, select, selected, ways }
}

function routesOf(model: string, table: RouteTable, select: Select): AsyncIterable<Route> | readonly Route[] {
  const meaning = table.resolutionOf(model)
  if (meaning && 'strategy' in meaning) {
    const groupReach = groupReachOf(table)
    return follow(meaning, {
      select,
      groupReach,
      resolutionOf: (entry, within) => resolutionOfEntry(table, entry, within),
    })
  }
  return meaning ?? []
}

async function allOf(routes: AsyncIterable<Route> | readonly Route[]): Promise<Route[]> {
  const all: Route[] = []
  for await (const route of routes) all.push(route)
  return all
}

const wayOf = (choice: GroupChoice | undefined): string[] =>
  choice ? [...wayOf(choice.before), choice.group.label] : []

test('the route table keeps the routes of the latest names, however many names clients invent', () => {
  const { table } = tableOf()
  for (let at = 0; at < 1_500; at++) table.resolutionOf(`up/invented-${at}`)
  assert.ok(table.resolutionOf('up/m'))
  assert.is(table.resolutionOf('up/m'), table.resolutionOf('up/m'))
})

test('each target names the groups that led to it', async () => {
  const combos = [combo('outer', 'random', 'up/a', 'inner'), combo('inner', 'weighted', 'up/b')]
  const { ways } = tableOf({ combos })
  assert.is(await ways('outer'), 'combo/outer>a@c combo/outer>combo/inner>b@c')
  assert.is(await ways('up/a'), 'a@c')
})

test('the entries of an inner combo are selected when it is reached, and not before', async () => {
  const { table, select, selected } = tableOf({
    combos: [combo('pool', 'fallback', 'up/a', 'inner'), combo('inner', 'fallback', 'up/b')],
  })
  const seen: unknown[] = []
  for await (const { target } of routesOf('pool', table, select)) seen.push([target.model, selected.length])
  assert.equal(seen, [
    ['a', 1],
    ['b', 2],
  ])
})

test('a plain model name is resolved without groups, and its targets are cached', async () => {
  const { table, select, selected } = tableOf()
  const [first] = await allOf(routesOf('up/a', table, select))
  assert.is(first?.target.model, 'a')
  assert.is((await allOf(routesOf('up/a', table, select)))[0], first)
  assert.equal(selected, [])
})

test('a cycle of combos ends, and so do deeply nested combos', async () => {
  const circle = [combo('x', 'fallback', 'y', 'up/b'), combo('y', 'least-cost', 'x', 'up/a')]
  for (const { name } of circle) assert.match(await tableOf({ combos: circle }).ways(name), /a@c.*b@c|b@c.*a@c/)
  const deep = Array.from({ length: 900 }, (_, depth) =>
    combo(`c${depth}`, 'least-cost', depth < 899 ? `c${depth + 1}` : 'up/a'),
  )
  assert.match(await tableOf({ combos: deep }).ways('c0'), /a@c$/)
})

test('the connections of a provider are a group when the provider has a strategy, and more than one connection', async () => {
  const providers: ProviderRecord[] = [{ provider: 'up', strategy: 'round-robin' }]
  const many = tableOf({ connections: ['c@up', 'd@up', 'e@down'], providers })
  assert.is(await many.ways('up/a'), 'provider/up>a@c provider/up>a@d')
  assert.is(await many.ways('down/x'), 'x@e')
  assert.is(await tableOf({ providers }).ways('up/a'), 'a@c')
  const byPriority = tableOf({ connections: ['c@up', 'd@up'], providers: [{ provider: 'up', strategy: 'fallback' }] })
  assert.is(await byPriority.ways('up/a'), 'a@c a@d')
})

test('the connection strategy of a combo goes before that of the provider', async () => {
  const connections = ['c@up', 'd@up', 'e@down', 'f@down']
  const providers: ProviderRecord[] = [{ provider: 'up', strategy: 'random' }]
  const own = { ...combo('own', 'fallback', 'short', 'down/x'), connectionStrategy: 'sticky' as const }
  const plain = combo('plain', 'fallback', 'up/a', 'down/x')
  const byPriority = { ...combo('first', 'fallback', 'up/a'), connectionStrategy: 'fallback' as const }
  const { ways, selected } = tableOf({
    connections,
    providers,
    combos: [own, plain, byPriority],
    aliases: { short: 'up/a' },
  })
  assert.is(
    await ways('own'),
    'combo/own>combo/own/up>a@c combo/own>combo/own/up>a@d combo/own>combo/own/down>x@e combo/own>combo/own/down>x@f',
  )
  assert.equal(
    selected.map(({ strategy }) => strategy),
    ['fallback', 'sticky', 'sticky'],
  )
  assert.is(
    await ways('plain'),
    'combo/plain>provider/up>a@c combo/plain>provider/up>a@d combo/plain>x@e combo/plain>x@f',
  )
  assert.is(await ways('first'), 'combo/first>a@c combo/first>a@d')
})

test('forty least-cost combos of forty, four deep, are priced once each', async () => {
  const inner = (depth: number) => Array.from({ length: 40 }, (_, nth) => `level${depth + 1}-${nth}`)
  const level = (depth: number) =>
    Array.from({ length: 40 }, (_, nth) => combo(`level${depth}-${nth}`, 'least-cost', ...inner(depth)))
  const combos = Array.from({ length: 4 }, (_, depth) => level(depth)).flat()
  const { table } = tableOf({ combos })
  const priced: Select = async ({ entries }, { costOf, reach }) => {
    for (const entry of entries) assert.is(costOf(entry), undefined)
    for (const entry of entries) for (const _ of reach(entry)) assert.unreachable('there is no target')
    return { entries, inputs }
  }
  assert.equal(await allOf(routesOf('level0-0', table, priced)), []) // or it would take hours
})
