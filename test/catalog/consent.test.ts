import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Price } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { base, changeCatalog, findModel, openCatalog } from './world.ts'

const test = suite('consent to a rejected catalog copy')

test("consent to a rejected copy doesn't apply to a later copy from the source", async () => {
  let gone: Record<string, Price | 'gone'> = { a: 'gone', b: 'gone' }
  const world = await openCatalog(async () => changeCatalog(gone))
  await world.send()
  assert.is((await world.api.catalog.review()).rejected, '2 of 6 known models are missing.')
  gone = { a: 'gone', b: 'gone', c: 'gone', d: { input: 0, output: 0 } }
  const single = await world.api.catalog.accept({ models: ['one/d'] }).catch((error) => error)
  assert.match(`${single.message}`, /rejected the whole copy/)
  const error = await world.api.catalog.accept().catch((error) => error)
  assert.match(`${error.message}`, /changed/)
  assert.is((await findModel(world, 'd'))?.price?.input, 10)
  const { rejected, held } = await world.api.catalog.review()
  assert.is(rejected, '3 of 6 known models are missing.')
  assert.equal(
    held.map(({ changes }) => changes),
    [['input: 10 -> 0', 'output: 20 -> 0']],
  )
  await world.api.catalog.accept()
  assert.is((await findModel(world, 'c'))?.retired, true)
})

test('a copy with too many suspicious prices to review one by one is rejected', async () => {
  const price = { input: 10, output: 20 }
  const ids = Array.from({ length: 2_000 }, (_, index) => `a-model-whose-name-is-long-enough-to-matter-${index}`)
  const many = { one: { ...base.one, models: ids.map((id) => ({ id, price })) } }
  const stored = memoryStorage()
  const storage = {
    ...stored,
    largestValueBytes: 65_536,
    async set(key: string, value: string, options?: object) {
      if (value.length > 65_536) throw new Error(`${key} is too large`)
      return stored.set(key, value, options)
    },
  }
  const world = await openCatalog(
    async () => ({
      providers: { one: ids.map((id, index) => ({ id, price: index % 5 < 2 ? { input: 200, output: 400 } : price })) },
      asOf: '2026-01-02',
    }),
    { base: many, storage },
  )
  await world.send()
  const { rejected, error } = await world.api.catalog.review()
  assert.is(error, undefined)
  assert.match(`${rejected}`, /800 of 2000 prices are suspicious/)
})

for (const ignored of [false, true])
  test(`accepting a rejected copy fails after the source returned to ${ignored ? 'a copy that was rolled back' : 'the copy in use'}`, async () => {
    let models: Record<string, Price | 'gone'> = { a: { input: 11, output: 20 } }
    const etags: Array<string | undefined> = []
    const world = await openCatalog(async ({ etag }) => {
      etags.push(etag)
      return { ...changeCatalog(models), etag: '"1"' }
    })
    await world.send()
    const first = models
    if (ignored) {
      models = { a: { input: 12, output: 20 } }
      await world.api.catalog.refresh()
      await world.api.catalog.rollback()
    }
    const returned = ignored ? models : first
    models = { a: 'gone', b: 'gone' }
    assert.is((await world.api.catalog.refresh()).rejected, '2 of 6 known models are missing.')
    models = returned
    const error = await world.api.catalog.accept().catch((error) => error)
    assert.match(`${error.message}`, /no longer has/)
    const { rejected, current } = await world.api.catalog.review()
    assert.is(rejected, undefined)
    assert.ok(current)
    assert.is((await findModel(world, 'a'))?.price?.input, 11)
    await world.api.catalog.refresh()
    assert.is(etags.at(-1), '"1"')
  })

test('a refresh forgets a rejected copy that the source no longer has, and keeps the held changes', async () => {
  const held: Record<string, Price | 'gone'> = { a: { input: 0, output: 20 } }
  let models = held
  const world = await openCatalog(async () => changeCatalog(models))
  await world.send()
  const list = async () => {
    const { rejected, held } = await world.api.catalog.review()
    return [rejected !== undefined, ...held.map(({ model, changes }) => `${model} ${changes}`)]
  }
  assert.equal(await list(), [false, 'one/a input: 10 -> 0'])
  models = { a: 'gone', b: 'gone', c: { input: 10, output: 0 } }
  await world.api.catalog.refresh()
  assert.equal(await list(), [true, 'one/c output: 20 -> 0'])
  models = held
  await world.api.catalog.refresh()
  assert.equal(await list(), [false, 'one/a input: 10 -> 0'])
  await world.api.catalog.accept({ models: ['one/a'] })
  assert.is((await findModel(world, 'a'))?.price?.input, 0)
})
