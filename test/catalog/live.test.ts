import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Catalog } from '../../src/types.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { base, changeCatalog, findModel, openCatalog } from './world.ts'

const test = suite('catalog refresh')

const DAY = 24 * 60 * 60_000

test('a new model appears in the lists of both instances without a restart', async () => {
  const storage = memoryStorage()
  const clock = fakeClock()
  const source = async () => changeCatalog({ newest: { input: 1, output: 2 } })
  const first = await openCatalog(source, { storage, clock })
  const other = await openCatalog(source, { storage, clock })
  await first.send()
  await other.send()
  await clock.advance(20_000)
  await other.send()
  for (const { gateway } of [first, other]) {
    const list = await (await gateway.fetch('http://gateway/v1/models')).json()
    assert.ok(list.data.some(({ id }: { id: string }) => id === 'one/newest'))
  }
  assert.is(first.fetches() + other.fetches(), 1) // only one of the two instances fetches
})

test('only one of two instances fetches the source', async () => {
  const storage = memoryStorage()
  const clock = fakeClock()
  const source = async () => changeCatalog({})
  const worlds = await Promise.all([openCatalog(source, { storage, clock }), openCatalog(source, { storage, clock })])
  await Promise.all(worlds.map(({ send }) => send()))
  assert.is(
    worlds.reduce((sum, { fetches }) => sum + fetches(), 0),
    1,
  )
  await clock.advance(1.1 * DAY)
  await Promise.all(worlds.map(({ send }) => send()))
  assert.is(
    worlds.reduce((sum, { fetches }) => sum + fetches(), 0),
    2,
  )
})

test('if the instance that fetches is killed, another one fetches within a minute', async () => {
  const storage = memoryStorage()
  const clock = fakeClock()
  const killed = await openCatalog(() => new Promise(() => {}), { storage, clock: fakeClock() }) // a gateway whose clock stops, as if it were killed
  await killed.send()
  const other = await openCatalog(async () => changeCatalog({ a: { input: 11, output: 20 } }), { storage, clock })
  await other.send()
  assert.is(other.fetches(), 0)
  await clock.advance(60_000)
  await other.send()
  assert.is(other.fetches(), 1)
  assert.is((await findModel(other, 'a'))?.price?.input, 11)
})

test("if the source hasn't changed, the stored copy isn't written again", async () => {
  const etags: Array<string | undefined> = []
  const world = await openCatalog(async ({ etag }) => {
    etags.push(etag)
    return etag === '"1"' ? 'unchanged' : { ...changeCatalog({ a: { input: 11, output: 20 } }), etag: '"1"' }
  })
  await world.send()
  const listVersions = async () =>
    (await world.storage.list('catalog/')).flatMap(({ key, version }) => (key === 'catalog/lease' ? [] : [version]))
  const before = await listVersions()
  await world.clock.advance(1.1 * DAY)
  await world.send()
  assert.equal(etags, [undefined, '"1"'])
  assert.equal(await listVersions(), before)
})

test('a price that drops to 0 or disappears is held for review, and the old price still applies', async () => {
  const world = await openCatalog(async () => changeCatalog({ a: { input: 0, output: 20 }, b: null, newest: null }))
  await world.send()
  const { held } = await world.api.catalog.review()
  assert.equal(
    held.map(({ model, changes }) => [model, changes]),
    [
      ['one/a', ['input: 10 -> 0']],
      ['one/b', ['input: 10 -> unknown', 'output: 20 -> unknown']],
    ],
  )
  for (const id of ['a', 'b']) assert.equal((await findModel(world, id))?.price, { input: 10, output: 20 })
  assert.is((await findModel(world, 'newest'))?.price, undefined)
})

test('a price that changes elevenfold is held for review, and one that changes ninefold applies and is listed', async () => {
  const world = await openCatalog(async () =>
    changeCatalog({
      a: { input: 110, output: 20 },
      b: { input: 10 / 11, output: 20 },
      c: { input: 90, output: 20 },
      d: { input: 10 / 9, output: 20 },
    }),
  )
  await world.send()
  const { held, applied } = await world.api.catalog.review()
  assert.equal(
    held.map(({ model }) => model),
    ['one/a', 'one/b'],
  )
  assert.is((await findModel(world, 'c'))?.price?.input, 90)
  assert.ok(applied.includes('2026-01-02 ~ one/c: input 10 -> 90'), applied.join('\n'))
  assert.ok(applied.some((line) => line.includes('one/d')))
})

test('a copy that lacks a third of the models is rejected, unless it is accepted', async () => {
  const world = await openCatalog(async () => changeCatalog({ a: 'gone', b: 'gone', c: { input: 11, output: 20 } }))
  await world.send()
  const { rejected, current } = await world.api.catalog.review()
  assert.is(rejected, '2 of 6 known models are missing.')
  assert.is(current, undefined)
  assert.is((await findModel(world, 'c'))?.price?.input, 10)
  await world.api.catalog.accept()
  assert.is((await findModel(world, 'c'))?.price?.input, 11)
  assert.is((await findModel(world, 'a'))?.retired, true)
})

test('a model that disappears from the source remains callable, and is marked as retired', async () => {
  const world = await openCatalog(async () => changeCatalog({ a: 'gone' }))
  await world.send()
  assert.equal(await findModel(world, 'a'), { id: 'a', price: { input: 10, output: 20 }, retired: true })
  assert.is((await world.send('a')).status, 200)
})

test('accepting a change applies it on all instances', async () => {
  const storage = memoryStorage()
  const clock = fakeClock()
  const source = async () => changeCatalog({ a: { input: 0, output: 20 }, b: { input: 0, output: 20 } })
  const first = await openCatalog(source, { storage, clock })
  const other = await openCatalog(source, { storage, clock })
  await first.send()
  const { held } = await first.api.catalog.accept({ models: ['one/a'] })
  assert.equal(
    held.map(({ model }) => model),
    ['one/b'],
  )
  await clock.advance(20_000)
  await other.send()
  for (const world of [first, other]) assert.is((await findModel(world, 'a'))?.price?.input, 0)
})

test('the accept option applies only the suspicious changes that it allows', async () => {
  const world = await openCatalog(
    async () => changeCatalog({ a: { input: 0, output: 20 }, b: { input: 0, output: 20 } }),
    {
      accept: ({ model }) => model === 'one/a',
    },
  )
  await world.send()
  assert.equal([(await findModel(world, 'a'))?.price?.input, (await findModel(world, 'b'))?.price?.input], [0, 10])
})

test("a rollback restores the previous copy, and the next refresh doesn't undo it", async () => {
  let price = 11
  const world = await openCatalog(async () => changeCatalog({ a: { input: price, output: 20 } }))
  await world.send()
  const first = (await world.api.catalog.review()).current
  price = 12
  await world.api.catalog.refresh()
  assert.is((await findModel(world, 'a'))?.price?.input, 12)
  const { current } = await world.api.catalog.rollback()
  assert.is(current?.sha256, first?.sha256)
  assert.is((await findModel(world, 'a'))?.price?.input, 11)
  await world.api.catalog.refresh()
  assert.is((await findModel(world, 'a'))?.price?.input, 11)
  price = 13
  await world.api.catalog.refresh()
  assert.is((await findModel(world, 'a'))?.price?.input, 13)
})

test('a damaged copy is reported, and replaced by the previous one or else the built-in catalog', async () => {
  let price = 11
  const storage = memoryStorage()
  const world = await openCatalog(async () => changeCatalog({ a: { input: price, output: 20 } }), { storage })
  await world.send()
  price = 12
  await world.api.catalog.refresh()
  const { current, previous } = await world.api.catalog.review()
  const damage = (sha256 = '') => storage.set(`catalog/data/${sha256.slice(0, 32)}/0000`, '{"one":[')
  const full = (await storage.get(`catalog/data/${current?.sha256.slice(0, 32)}/0000`))?.value ?? ''
  await damage(current?.sha256)
  const never = () => new Promise<never>(() => {})
  const second = await openCatalog(never, { storage })
  await second.send()
  assert.is((await findModel(second, 'a'))?.price?.input, 11)
  assert.match(second.warnings[0] ?? '', /catalog copy of 2026-01-02 is damaged/)
  await second.clock.advance(20_000)
  await second.send()
  assert.is(second.warnings.length, 1)
  await storage.set(`catalog/data/${current?.sha256.slice(0, 32)}/0000`, full)
  await second.clock.advance(20_000)
  assert.is((await second.api.catalog.review()).current?.sha256, current?.sha256) // the copy was only incomplete
  await damage(current?.sha256)
  await damage(previous?.sha256)
  const third = await openCatalog(never, { storage })
  await third.send()
  assert.is((await findModel(third, 'a'))?.price?.input, 10)
})

test('built-in data takes precedence if it is newer than the stored copy', async () => {
  const storage = memoryStorage()
  const world = await openCatalog(async () => changeCatalog({ a: { input: 11, output: 20 } }), { storage })
  await world.send()
  const newer = { one: { ...base.one, asOf: '2026-01-03' } }
  const updated = await openCatalog(() => new Promise(() => {}), { storage, base: newer })
  await updated.send()
  assert.is((await findModel(updated, 'a'))?.price?.input, 10)
})

test("a connection's price overrides a refreshed one", async () => {
  const world = await openCatalog(async () => changeCatalog({ a: { input: 11, output: 20 } }))
  const [connection] = (await world.api.connections.list()).connections
  await world.api.connections.update(connection?.id ?? '', { prices: { a: { input: 1, output: 1 } } })
  await world.send()
  await world.send('a')
  await world.send('b')
  const { requests } = await world.api.usage.requests({})
  const sources = new Map(requests.map(({ target, attempts }) => [target?.model, attempts[0]?.price]))
  assert.is(sources.get('a')?.by, 'connection')
  assert.equal(sources.get('b'), { by: 'live', of: 'one/b', asOf: '2026-01-02' })
})

test('a request uses the price at its start, even if the price changes during the request', async () => {
  let release = () => {}
  const world = await openCatalog(async () => changeCatalog({}))
  const answered = new Promise<void>((resolve) => {
    release = resolve
  })
  const { createGateway } = await import('../../src/gateway.ts')
  const costs: Array<Array<number | undefined>> = []
  const models = (input: number) => [{ id: 'a', price: { input, output: 20, cacheRead: 1 } }]
  const gateway = createGateway({
    ...{ storage: world.storage, clock: world.clock, logger: false, usage: false },
    catalog: {
      base: { one: { ...base.one, models: models(10) } },
      refresh: async () => ({ providers: { one: models(20) }, asOf: '2026-01-02' }),
    },
    hooks: { onRequest: ({ costUsd, promptCache }) => void costs.push([costUsd, promptCache?.savedUsd]) },
    async fetch() {
      await answered
      return Response.json({
        ...{ id: 'x', object: 'chat.completion', created: 1, model: 'a' },
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
        usage: {
          ...{ prompt_tokens: 2_000_000, completion_tokens: 0, total_tokens: 2_000_000 },
          prompt_tokens_details: { cached_tokens: 1_000_000 },
        },
      })
    },
  })
  await gateway.api.settings.update({ promptCaching: 'auto' })
  const send = () =>
    gateway.fetch(
      new Request('http://gateway/v1/chat/completions', { method: 'POST', body: '{"model":"one/a","messages":[]}' }),
    )
  const pending = send()
  await world.settle()
  await gateway.api.catalog.refresh()
  release()
  await (await pending).text()
  await (await send()).text()
  assert.equal(costs, [
    [11, 9],
    [21, 19],
  ])
})

test('a copy with prices per token instead of per million tokens changes nothing', async () => {
  const wrong = Object.fromEntries('abcdef'.split('').map((id) => [id, { input: 0.00001, output: 0.00002 }]))
  const world = await openCatalog(async () => changeCatalog({ ...wrong, newest: { input: 0.00001, output: 0.00002 } }))
  await world.send()
  const { rejected, current } = await world.api.catalog.review()
  assert.is(rejected, '6 of 6 prices are suspicious.')
  assert.is(current, undefined)
  assert.is(await findModel(world, 'newest'), undefined)
})

test('prices above $1,000, unknown fields, and unknown providers are ignored', async () => {
  const { providers } = changeCatalog({ a: { input: 2_000, output: 20 }, newest: { input: 1, output: 2 } })
  const [first, ...others] = Object.values(providers)[0]
  const world = await openCatalog(async () => ({
    providers: { one: [first, ...others.map((model: object) => ({ ...model, script: 'x' }))], unknown: [{ id: 'x' }] },
    asOf: '2026-01-02',
  }))
  await world.send()
  assert.equal((await findModel(world, 'a'))?.price, { input: 10, output: 20 })
  assert.equal(await findModel(world, 'newest'), { id: 'newest', price: { input: 1, output: 2 } })
  assert.equal(
    (await world.api.providers.list()).providers.map(({ id }) => id),
    ['one'],
  )
})

test('accepting changes fails, and accepts nothing, if one of the models has no pending change', async () => {
  const world = await openCatalog(async () => changeCatalog({ a: { input: 0, output: 20 } }))
  await world.send()
  for (const models of [['one/nothing'], ['one/a', 'one/nothing'], ['__proto__']]) {
    const error = await world.api.catalog.accept({ models }).catch((error: Error & { status?: number }) => error)
    assert.match(`${'message' in error && error.message}`, /No change waits for "(?:one\/nothing|__proto__)"/)
    assert.is('status' in error && error.status, 400)
  }
  assert.is((await world.api.catalog.review()).held.length, 1)
})

test('the catalog state can be read while the source hangs', async () => {
  const world = await openCatalog(() => new Promise(() => {}))
  const refreshed = world.api.catalog.refresh().catch((error: Error) => error)
  await new Promise((resolve) => setTimeout(resolve, 20))
  const reviewed = world.api.catalog.review()
  await new Promise((resolve) => setTimeout(resolve, 20))
  await world.clock.advance(1_000)
  assert.is((await reviewed).isLive, true)
  await world.clock.advance(60_000)
  assert.match(`${await refreshed}`, 'did not respond within a minute')
})

test('a source that returns invalid data is reported', async () => {
  const { providers } = changeCatalog({})
  const cyclic: Record<string, unknown> = {}
  cyclic.one = cyclic
  for (const fetched of [
    { providers: cyclic },
    { providers: { one: 1n } },
    { providers, asOf: '2026-99-99' },
    { providers, source: 5 },
    { providers, etag: {} },
  ]) {
    const world = await openCatalog(async () => fetched as ReturnType<typeof changeCatalog>)
    const error = await world.api.catalog.refresh().catch((error: Error & { code?: string }) => error)
    assert.is('code' in error && error.code, 'UPSTREAM_FAILED')
    assert.is((await world.api.catalog.review()).current, undefined)
  }
})

test('the health response contains the date of the current prices', async () => {
  const world = await openCatalog(async () => changeCatalog({ a: { input: 11, output: 20 } }))
  const show = async () => (await world.api.health.list()).catalog
  assert.equal(await show(), { asOf: '2026-01-01', isLive: false })
  await world.send()
  assert.equal(await show(), { asOf: '2026-01-02', isLive: true })
})

test('a copy with less than half of the data is rejected entirely, even if it contains all models', async () => {
  const details = { contextWindow: 1_000_000, maxOutputTokens: 100_000, price: { input: 10, output: 20 } }
  const detailed: Catalog = { one: { ...base.one, models: ['a', 'b', 'c'].map((id) => ({ id, ...details })) } }
  const poor = { one: ['a', 'b', 'c'].map((id) => ({ id, price: details.price })) }
  const world = await openCatalog(async () => ({ providers: poor, asOf: '2026-01-02' }), { base: detailed })
  await world.send()
  const { current, rejected } = await world.api.catalog.review()
  assert.equal([current, rejected], [undefined, 'The source has less than half of the data in use.'])
  assert.is((await findModel(world, 'a'))?.contextWindow, 1_000_000)
})

test('a provider that disappears from the source keeps its refreshed models and prices', async () => {
  const two = {
    name: 'Two',
    baseUrl: 'http://two.test/v1',
    asOf: '2026-01-01',
    models: [{ id: 'x', price: { input: 1 } }],
  }
  let lacksTwo = false
  const world = await openCatalog(
    async () => {
      const { providers, ...others } = changeCatalog({})
      return { ...others, providers: lacksTwo ? providers : { ...providers, two: [{ id: 'x', price: { input: 2 } }] } }
    },
    { base: { ...base, two } },
  )
  await world.send()
  lacksTwo = true
  await world.api.catalog.refresh()
  const { models } = await world.api.providers.get('two')
  assert.equal(models, [{ id: 'x', price: { input: 2 }, retired: true }])
})

test('a refresh that a wrong clock scheduled far in the future is due after one period', async () => {
  const storage = memoryStorage()
  const clock = fakeClock()
  const world = await openCatalog(async () => changeCatalog({}), { storage, clock, every: '1d' })
  await storage.set('catalog/lease', JSON.stringify({ nextAt: clock.now() + 30 * DAY, failures: 0 }))
  await world.send()
  await clock.advance(1.1 * DAY)
  await world.send()
  assert.is(world.fetches(), 1)
})
