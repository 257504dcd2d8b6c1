import type { CatalogProvider } from '../../src/types.ts'
import { busyMs } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'
import { listingOf, type World } from './world.ts'

const test = suite('the listing of many models')

const range = (length: number) => Array.from({ length }, (_, at) => at)
const noNetwork = () => Promise.reject(new TypeError('fetch failed'))

/**
 * Creates a world with `size` catalog models, connections, custom models, aliases, and combos each. `read` is called on each access to one of them.
 */
function worldOf(size: number, read: () => void = () => {}): World {
  const watched = <T extends object>(record: T): T =>
    new Proxy(record, {
      get(target, name, receiver) {
        read()
        return Reflect.get(target, name, receiver)
      },
    })
  const models = range(size).map((at) => watched({ id: `big/model-${at}` }))
  const small = (at: number): [string, CatalogProvider] => [
    `provider-${at}`,
    watched({ alias: `p${at}`, models: [{ id: 'only' }] }),
  ]
  return {
    catalog: { big: { models }, ...Object.fromEntries(range(size).map(small)) },
    connections: [{ provider: 'big' }, ...range(size).map((at) => ({ provider: `provider-${at}` }))],
    customModels: range(size).map((at) => watched({ id: `custom-${at}`, providerAlias: `p${at % 100}` })),
    aliases: range(size).map((at) => `p${at}/aliased`),
    combos: range(size).map((at) => ({ name: `combo-${at}` })),
  }
}

test('the listing reads each record only a few times, regardless of how many there are', async () => {
  const size = 5_000
  let reads = 0
  const listing = listingOf(worldOf(size, () => reads++))
  reads = 0
  const entries = await listing.list(['llm'], noNetwork)
  assert.is(entries.length, 5 * size)
  assert.ok(reads < 40 * size, `${reads} reads of ${3 * size} records`)
})

test('listing 25,000 models stays within the time limit', async () => {
  const listing = listingOf(worldOf(5_000))
  const before = busyMs()
  await listing.list(['llm'], noNetwork)
  const tookMs = busyMs() - before
  assert.ok(tookMs < 2_000, `took ${tookMs.toFixed()} ms`) // about 60 ms on an idle machine
})

test('an alias with a million slashes takes linear time', async () => {
  const world = { ...worldOf(100), aliases: ['/'.repeat(1_000_000), `p1${'/'.repeat(1_000_000)}`] }
  const before = busyMs()
  await listingOf(world).list(['llm'], noNetwork)
  assert.ok(busyMs() - before < 5_000)
})
