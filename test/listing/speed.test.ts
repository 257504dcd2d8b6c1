import type { CatalogProvider } from '../../src/types.ts'
import { busyMs } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'
import { getListing, type World } from './world.ts'

const test = suite('listing many models')

const range = (length: number) => Array.from({ length }, (_, index) => index)
const noNetwork = () => Promise.reject(new TypeError('fetch failed'))

/** Creates a world with `size` connections, catalog models, custom models, aliases, and combos. `read` is called whenever one of them is read. */
function getWorld(size: number, read: () => void = () => {}): World {
  const countReads = <T extends object>(record: T): T =>
    new Proxy(record, {
      get(target, name, receiver) {
        read()
        return Reflect.get(target, name, receiver)
      },
    })
  const models = range(size).map((index) => countReads({ id: `big/model-${index}` }))
  const small = (index: number): [string, CatalogProvider] => [
    `provider-${index}`,
    countReads({ alias: `p${index}`, models: [{ id: 'only' }] }),
  ]
  return {
    catalog: { big: { models }, ...Object.fromEntries(range(size).map(small)) },
    connections: [{ provider: 'big' }, ...range(size).map((index) => ({ provider: `provider-${index}` }))],
    customModels: range(size).map((index) => countReads({ id: `custom-${index}`, providerAlias: `p${index % 100}` })),
    aliases: range(size).map((index) => `p${index}/aliased`),
    combos: range(size).map((index) => ({ name: `combo-${index}` })),
  }
}

test('listing reads each record only a few times, regardless of how many there are', async () => {
  const size = 5_000
  let reads = 0
  const listing = getListing(getWorld(size, () => reads++))
  reads = 0
  const entries = await listing.list(['llm'], noNetwork)
  assert.is(entries.length, 5 * size)
  assert.ok(reads < 40 * size, `${reads} reads of ${3 * size} records`)
})

test('listing 25,000 models stays within the time limit', async () => {
  const listing = getListing(getWorld(5_000))
  const before = busyMs()
  await listing.list(['llm'], noNetwork)
  const tookMs = busyMs() - before
  assert.ok(tookMs < 2_000, `took ${tookMs.toFixed()} ms`) // about 60 ms on an idle machine
})

test('an alias with a million slashes is processed in linear time', async () => {
  const world = { ...getWorld(100), aliases: ['/'.repeat(1_000_000), `p1${'/'.repeat(1_000_000)}`] }
  const before = busyMs()
  await getListing(world).list(['llm'], noNetwork)
  assert.ok(busyMs() - before < 5_000)
})
