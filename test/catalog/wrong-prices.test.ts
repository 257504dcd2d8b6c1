import type { Price } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { base, changeCatalog, findModel, openCatalog } from './world.ts'

const test = suite('catalog sources with wrong prices')

test('a price of 0 that is new counts as unknown, not as free', async () => {
  const [first, second] = [
    { ...base.one?.models?.[0], id: 'a', price: undefined as never },
    { id: 'b', price: { input: 10, output: 20 } },
  ]
  const { price: _, ...unpriced } = first
  const known = { one: { ...base.one, models: [unpriced, second] } }
  const world = await openCatalog(
    async () => ({
      providers: {
        one: [
          { id: 'a', price: { input: 0, output: 0 } },
          { id: 'b', price: { input: 10, output: 20, cacheRead: 0, serviceTiers: { priority: { input: 0 } } } },
          { id: 'newest', price: { input: 0, output: 5 } },
        ],
      },
      asOf: '2026-01-02',
    }),
    { base: known },
  )
  await world.send()
  assert.is((await findModel(world, 'a'))?.price, undefined)
  assert.equal((await findModel(world, 'b'))?.price, { input: 10, output: 20 })
  assert.is((await findModel(world, 'newest'))?.price, undefined)
})

test('a price of a model that was already free stays 0', async () => {
  const known = { one: { ...base.one, models: [{ id: 'a', price: { input: 0, output: 0 } }] } }
  const world = await openCatalog(
    async () => ({ providers: { one: [{ id: 'a', price: { input: 0, output: 0 } }] }, asOf: '2026-01-02' }),
    { base: known },
  )
  await world.send()
  assert.equal((await findModel(world, 'a'))?.price, { input: 0, output: 0 })
})

const highPrices: Record<string, Price> = {
  'a tier': { input: 10, output: 20, tiers: [{ above: 1, input: 900 }] },
  'a service tier': { input: 10, output: 20, serviceTiers: { priority: { input: 900, output: 900 } } },
  'cache writes': { input: 10, output: 20, cacheWrite: 900 },
}
for (const [label, price] of Object.entries(highPrices))
  test(`a new price for ${label} that is more than ten times the regular price is held`, async () => {
    const world = await openCatalog(async () => changeCatalog({ a: price }))
    await world.send()
    assert.equal((await findModel(world, 'a'))?.price, { input: 10, output: 20 })
    const { held } = await world.api.catalog.review()
    assert.equal(
      held.map(({ model }) => model),
      ['one/a'],
    )
    await world.api.catalog.accept()
    assert.equal((await findModel(world, 'a'))?.price, price)
  })

test("a model with invalid data keeps its old data, and isn't retired", async () => {
  const world = await openCatalog(async () => changeCatalog({ a: { input: 5_000, output: 20 } }))
  await world.send()
  assert.equal(await findModel(world, 'a'), { id: 'a', price: { input: 10, output: 20 } })
  assert.ok((await world.api.catalog.review()).current)
})

test('a model with a price per unit above $1,000 is ignored', async () => {
  const world = await openCatalog(async () => changeCatalog({ newest: { image: 1e9 } }))
  await world.send()
  assert.is(await findModel(world, 'newest'), undefined)
})

test('a copy with a date in the future is rejected', async () => {
  const world = await openCatalog(async () => ({
    ...changeCatalog({ a: { input: 11, output: 20 } }),
    asOf: '9999-12-31',
  }))
  await world.send()
  const { current, error } = await world.api.catalog.review()
  assert.is(current, undefined)
  assert.match(`${error}`, /future/)
})

test("a limit that changes more than tenfold is held, and the model's other changes apply", async () => {
  const price = { input: 10, output: 20 }
  const known = { contextWindow: 200_000, maxOutputTokens: 8_192, price }
  const after = [
    { id: 'a', ...known, maxOutputTokens: 128_000, price: { input: 11, output: 20 } },
    { id: 'b', ...known, contextWindow: 10_000, price: { input: 0, output: 20 } },
    { id: 'c', ...known, maxOutputTokens: 100_000 },
  ]
  const world = await openCatalog(async () => ({ providers: { one: after }, asOf: '2026-01-02' }), {
    base: { one: { ...base.one, models: ['a', 'b', 'c'].map((id) => ({ id, ...known })) } },
    accept: ({ model, maxOutputTokens = 0 }) => model === 'one/c' && maxOutputTokens > 0,
  })
  await world.send()
  assert.match(`${world.warnings}`, /Suspicious changes on hold: 2\./)
  assert.equal(await findModel(world, 'a'), { ...after[0], maxOutputTokens: 8_192 })
  assert.equal(await findModel(world, 'b'), { id: 'b', ...known, asOf: '2026-01-01' })
  assert.equal(await findModel(world, 'c'), after[2])
  const { held, applied } = await world.api.catalog.review()
  assert.equal(held, [
    {
      ...{ model: 'one/a', changes: ['maxOutputTokens: 8192 -> 128000'] },
      ...{ price: { input: 11, output: 20 }, maxOutputTokens: 128_000 },
    },
    {
      ...{ model: 'one/b', changes: ['input: 10 -> 0', 'contextWindow: 200000 -> 10000'] },
      ...{ price: { input: 0, output: 20 }, contextWindow: 10_000 },
    },
  ])
  assert.ok(applied.includes('2026-01-02 ~ one/a: input 10 -> 11'), applied.join('\n'))
  assert.equal((await world.api.catalog.accept()).held, [])
  for (const model of after) assert.equal(await findModel(world, model.id), model)
})

test('accepting a rejected copy also applies its suspicious limits', async () => {
  const known = { maxOutputTokens: 8_192, price: { input: 10, output: 20 } }
  const after = { id: 'a', ...known, maxOutputTokens: 128_000 }
  const world = await openCatalog(async () => ({ providers: { one: [after] }, asOf: '2026-01-02' }), {
    base: { one: { ...base.one, models: ['a', 'b', 'c'].map((id) => ({ id, ...known })) } },
  })
  await world.send()
  assert.match(`${(await world.api.catalog.review()).rejected}`, /missing/)
  await world.api.catalog.accept()
  assert.equal(await findModel(world, 'a'), after)
})

test('a copy with more suspicious limits than anyone can review is rejected', async () => {
  const ids = Array.from({ length: 400 }, (_, index) => `a-model-whose-name-is-long-enough-to-matter-${index}`)
  const price = { input: 10, output: 20 }
  const world = await openCatalog(
    async () => ({ providers: { one: ids.map((id) => ({ id, price, contextWindow: 200 })) }, asOf: '2026-01-02' }),
    { base: { one: { ...base.one, models: ids.map((id) => ({ id, price, contextWindow: 200_000 })) } } },
  )
  await world.send()
  assert.is((await world.api.catalog.review()).rejected, '400 of 400 models have suspicious prices or limits.')
})

test('a model keeps its kind and limits if the source changes them implausibly', async () => {
  const details = { contextWindow: 200_000, maxOutputTokens: 64_000, price: { input: 10, output: 20 } }
  const known = { one: { ...base.one, models: ['a', 'b', 'c'].map((id) => ({ id, ...details })) } }
  const world = await openCatalog(
    async () => ({
      providers: {
        one: [
          { id: 'a', ...details, contextWindow: 8, maxOutputTokens: 4 },
          { id: 'b', ...details, type: 'embedding' },
          { id: 'c', ...details, contextWindow: 400_000 },
        ],
      },
      asOf: '2026-01-02',
    }),
    { base: { one: { ...known.one, serviceKinds: ['llm', 'embedding'] } } },
  )
  await world.send()
  assert.equal(await findModel(world, 'a'), { id: 'a', ...details })
  assert.equal(await findModel(world, 'b'), { id: 'b', ...details })
  assert.equal(await findModel(world, 'c'), { id: 'c', ...details, contextWindow: 400_000 })
})

test('models whose IDs are too long or contain control characters are ignored', async () => {
  const long = 'x'.repeat(1_000_000)
  const world = await openCatalog(async () =>
    changeCatalog({ [long]: { input: 1 }, 'a\nb': { input: 1 }, 'a b': { input: 1 }, 'n-1': { input: 1 } }),
  )
  await world.send()
  const { models = [] } = await world.api.providers.get('one')
  assert.equal(
    models.map(({ id }) => id),
    ['n-1', 'a', 'b', 'c', 'd', 'e', 'f'],
  )
})
