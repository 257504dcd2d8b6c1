import { createRotation } from '../../src/routing/rotation.ts'
import { createRouteTable, type RouteTarget } from '../../src/routing/table.ts'
import type { Catalog, Combo, ComboModel, Strategy } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('strategies in the route table')

const at = new Date(0).toISOString()
const catalog: Catalog = { up: { models: [{ id: 'a', price: { input: 1, output: 1 } }, { id: 'b' }] } }

const combo = (name: string, strategy: Strategy, ...models: ComboModel[]): Combo => ({
  id: name,
  name,
  models,
  strategy,
  createdAt: at,
  updatedAt: at,
})

/** A table whose chance is the given numbers, one after the other. */
function tableOf(combos: Combo[], chance: number[] = []) {
  const connections = [{ id: 'c', provider: 'up', name: 'up', createdAt: at, updatedAt: at }]
  const left = [...chance]
  const random = () => {
    const next = left.shift()
    if (next === undefined) throw new Error('more chance was taken than there is')
    return next
  }
  const table = createRouteTable(
    { connections, combos, aliases: [] },
    { catalog, rotation: createRotation(), random, customModels: () => [] },
  )
  return { ...table, left, models: (name: string) => namesOf(table.resolve(name)) }
}

const namesOf = (targets: Iterable<RouteTarget> = []) => Array.from(targets, ({ model }) => model).join('')

test('weighted and random follow the chance they are given', () => {
  const entries = [{ model: 'up/a', weight: 1 }, { model: 'up/b', weight: 3 }, 'up/c']
  const weighted = combo('pool', 'weighted', ...entries)
  assert.is(tableOf([weighted], [0.1, 0.1, 0]).models('pool'), 'abc')
  assert.is(tableOf([weighted], [0.3, 0.4, 0]).models('pool'), 'bac')
  assert.is(tableOf([weighted], [0.9, 0.3, 0]).models('pool'), 'cba')
  const random = combo('pool', 'random', ...entries)
  assert.is(tableOf([random], [0, 0, 0]).models('pool'), 'abc')
  assert.is(tableOf([random], [0.7, 0.5, 0]).models('pool'), 'cba')
})

test('what stands in a combo is worked out when it is reached, and no sooner', () => {
  const inner = combo('inner', 'random', 'up/b', 'up/c')
  for (const outer of ['fallback', 'least-cost', 'round-robin'] as const) {
    const { resolve, left } = tableOf([combo('pool', outer, 'up/a', 'inner'), inner], [0.9, 0])
    const targets = resolve('pool')?.[Symbol.iterator]()
    assert.is(targets?.next().value?.model, 'a')
    assert.is(left.length, 2, outer)
    assert.is(targets?.next().value?.model, 'c')
    assert.is(left.length, 0, outer)
  }
})

test('a plain model name takes no chance and keeps its targets', () => {
  const { resolve } = tableOf([combo('pool', 'random', 'up/a')])
  assert.is(resolve('up/a'), resolve('up/a'))
  assert.ok(Array.isArray(resolve('up/a')))
})

test('a strategy of a later version counts as fallback', () => {
  const later = combo('pool', 'later' as Strategy, 'up/b', 'up/a') // as another process may have stored it
  assert.is(tableOf([later]).models('pool'), 'ba')
})

test('circles and depths of least-cost combos end', () => {
  const circle = [combo('x', 'least-cost', 'y', 'up/b'), combo('y', 'least-cost', 'x', 'up/a')]
  for (const { name } of circle) assert.equal([...tableOf(circle).models(name)].sort(), ['a', 'b'])
  const deep = Array.from({ length: 900 }, (_, depth) =>
    combo(`c${depth}`, 'least-cost', depth < 899 ? `c${depth + 1}` : 'up/a'),
  )
  assert.is(tableOf(deep).models('c0'), 'a')
})

test('a hundred least-cost combos of a hundred, nine deep, are looked at once each', () => {
  const inner = (depth: number) => Array.from({ length: 100 }, (_, nth) => `level${depth + 1}-${nth}`)
  const level = (depth: number) =>
    Array.from({ length: 100 }, (_, nth) => combo(`level${depth}-${nth}`, 'least-cost', ...inner(depth)))
  const { models } = tableOf(Array.from({ length: 9 }, (_, depth) => level(depth)).flat())
  const start = performance.now()
  assert.is(models('level0-0'), '')
  assert.ok(performance.now() - start < 1_000)
})
