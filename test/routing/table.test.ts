import { createCodeLayer } from '../../src/records/code-records.ts'
import type { ProviderRecord } from '../../src/records/store.ts'
import { walkRoutes } from '../../src/request/routing/follow.ts'
import type { Group, GroupChoice, Route, StrategyInputs } from '../../src/request/routing/group.ts'
import { getEntryLookup, resolveEntry } from '../../src/request/routing/group-reach.ts'
import { createRouteTable, type RouteTable } from '../../src/request/routing/route-table.ts'
import type { Select } from '../../src/request/routing/select.ts'
import type { Catalog, Combo, ComboModel, Strategy } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the route table')

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

const inputs: StrategyInputs = {
  random: () => 0,
  turnIndex: 0,
  label: '',
  session: '',
  pinnedEntryName: undefined,
  getCost: () => undefined,
  getLatency: () => undefined,
  getLoad: () => 0,
}

interface Input {
  combos?: Combo[]
  connections?: string[]
  providers?: ProviderRecord[]
  aliases?: Record<string, string>
}

function getTable({ combos = [], connections = ['c@up'], providers = [], aliases = {} }: Input = {}) {
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
    { catalog, loadCustomModels: async () => [], code: createCodeLayer().records },
  )
  async function ways(model: string) {
    const found: string[] = []
    for await (const route of getRoutes(model, table, select)) {
      const { target, via } = route
      found.push([...wayOf(via), `${target.model}@${target.connection.id}`].join('>'))
    }
    return found.join(' ')
  }
  return { table, select, selected, ways }
}

function getRoutes(model: string, table: RouteTable, select: Select): AsyncIterable<Route> | readonly Route[] {
  const meaning = table.resolveModel(model)
  if (meaning && 'strategy' in meaning) {
    const entryLookup = getEntryLookup(table)
    return walkRoutes(meaning, {
      select,
      entryLookup,
      resolveEntry: (entry, within) => resolveEntry(table, entry, within),
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
  choice ? [...wayOf(choice.parent), choice.group.label] : []

test('the route table caches only a limited number of model names, even if clients invent many', () => {
  const { table } = getTable()
  for (let index = 0; index < 1_500; index++) table.resolveModel(`up/invented-${index}`)
  assert.ok(table.resolveModel('up/m'))
  assert.is(table.resolveModel('up/m'), table.resolveModel('up/m'))
})

test('concurrent pulls return different routes, even while a combo is still selecting its entries', async () => {
  const { table, select } = getTable({
    combos: [combo('outer', 'fallback', 'up/a', 'inner'), combo('inner', 'fallback', 'up/b', 'up/c')],
  })
  const choices: Array<() => void> = []
  const slowly: Select = async (...input) => {
    await new Promise<void>((resolve) => void choices.push(resolve))
    return select(...input)
  }
  const meaning = table.resolveModel('outer')
  if (!meaning || !('strategy' in meaning)) throw new Error('outer is not a combo')
  const routes = walkRoutes(meaning, {
    select: slowly,
    entryLookup: getEntryLookup(table),
    resolveEntry: (entry, within) => resolveEntry(table, entry, within),
  })
  const first = routes.next()
  choices.shift()?.()
  const pulled = [await first, routes.next(), routes.next(), routes.next()]
  choices.shift()?.()
  const found = (await Promise.all(pulled)).map(({ value }) => value?.target.model)
  assert.equal(found, ['a', 'b', 'c', undefined])
})

test('each route lists the groups that led to its target', async () => {
  const combos = [combo('outer', 'random', 'up/a', 'inner'), combo('inner', 'weighted', 'up/b')]
  const { ways } = getTable({ combos })
  assert.is(await ways('outer'), 'combo/outer>a@c combo/outer>combo/inner>b@c')
  assert.is(await ways('up/a'), 'a@c')
})

test("an inner combo's entries are only selected when the combo is reached", async () => {
  const { table, select, selected } = getTable({
    combos: [combo('pool', 'fallback', 'up/a', 'inner'), combo('inner', 'fallback', 'up/b')],
  })
  const seen: unknown[] = []
  for await (const { target } of getRoutes('pool', table, select)) seen.push([target.model, selected.length])
  assert.equal(seen, [
    ['a', 1],
    ['b', 2],
  ])
})

test('a plain model name is resolved without groups, and its targets are cached', async () => {
  const { table, select, selected } = getTable()
  const [first] = await allOf(getRoutes('up/a', table, select))
  assert.is(first?.target.model, 'a')
  assert.is((await allOf(getRoutes('up/a', table, select)))[0], first)
  assert.equal(selected, [])
})

test('resolving combos terminates, even for cycles and deep nesting', async () => {
  const circle = [combo('x', 'fallback', 'y', 'up/b'), combo('y', 'least-cost', 'x', 'up/a')]
  for (const { name } of circle) assert.match(await getTable({ combos: circle }).ways(name), /a@c.*b@c|b@c.*a@c/)
  const deep = Array.from({ length: 900 }, (_, depth) =>
    combo(`c${depth}`, 'least-cost', depth < 899 ? `c${depth + 1}` : 'up/a'),
  )
  assert.match(await getTable({ combos: deep }).ways('c0'), /a@c$/)
})

test("a provider's connections are a group if the provider has a strategy and more than one connection", async () => {
  const providers: ProviderRecord[] = [{ provider: 'up', strategy: 'round-robin' }]
  const many = getTable({ connections: ['c@up', 'd@up', 'e@down'], providers })
  assert.is(await many.ways('up/a'), 'provider/up>a@c provider/up>a@d')
  assert.is(await many.ways('down/x'), 'x@e')
  assert.is(await getTable({ providers }).ways('up/a'), 'a@c')
  const byPriority = getTable({ connections: ['c@up', 'd@up'], providers: [{ provider: 'up', strategy: 'fallback' }] })
  assert.is(await byPriority.ways('up/a'), 'a@c a@d')
})

test("a combo's connection strategy overrides the provider's", async () => {
  const connections = ['c@up', 'd@up', 'e@down', 'f@down']
  const providers: ProviderRecord[] = [{ provider: 'up', strategy: 'random' }]
  const own = { ...combo('own', 'fallback', 'short', 'down/x'), connectionStrategy: 'sticky' as const }
  const plain = combo('plain', 'fallback', 'up/a', 'down/x')
  const byPriority = { ...combo('first', 'fallback', 'up/a'), connectionStrategy: 'fallback' as const }
  const { ways, selected } = getTable({
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

test('four levels of forty nested least-cost combos with forty entries are priced once each', async () => {
  const inner = (depth: number) => Array.from({ length: 40 }, (_, index) => `level${depth + 1}-${index}`)
  const level = (depth: number) =>
    Array.from({ length: 40 }, (_, index) => combo(`level${depth}-${index}`, 'least-cost', ...inner(depth)))
  const combos = Array.from({ length: 4 }, (_, depth) => level(depth)).flat()
  const { table } = getTable({ combos })
  const selectByPrice: Select = async ({ entries }, { getCost, listTargets }) => {
    for (const entry of entries) assert.is(getCost(entry), undefined)
    for (const entry of entries) for (const _ of listTargets(entry)) assert.unreachable('there is no target')
    return { entries, inputs }
  }
  assert.equal(await allOf(getRoutes('level0-0', table, selectByPrice)), []) // without caching, this would take hours
})
