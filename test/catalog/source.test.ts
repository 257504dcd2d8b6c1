import { readFile } from 'node:fs/promises'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { FetchCatalog } from '../../src/features/catalog/live-types.ts'
import { createGateway } from '../../src/gateway.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { base, changeCatalog, findModel, openCatalog } from './world.ts'

const test = suite('catalog refresh sources')

const MINUTE = 60_000
const huge = () => {
  const chunk = new Uint8Array(1024 * 1024).fill(32)
  let sent = 0
  return new ReadableStream({
    pull(controller) {
      if (sent++ === 200) controller.close()
      else controller.enqueue(chunk)
    },
  })
}

const broken: Record<string, () => Promise<Response>> = {
  'is unreachable': () => Promise.reject(new TypeError('fetch failed')),
  'never responds': () => new Promise(() => {}),
  'returns a 500': async () => new Response('no', { status: 500 }),
  'returns HTML': async () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
  'returns truncated JSON': async () => new Response('{"openai":{"models":{"gpt'),
  'returns 200 MB': async () => new Response(huge()),
}

for (const [label, fetch] of Object.entries(broken))
  test(`if the source ${label}, requests still work, and the catalog doesn't change`, async () => {
    const plain = createGateway({
      ...{ storage: memoryStorage(), clock: fakeClock(), catalog: base, logger: false },
      fetch: async () => Response.json({ id: 'x' }),
    })
    assert.ok(plain.api)
    const world = await openCatalog('models.dev', { fetch })
    const response = await world.send()
    assert.is(response.status, 200)
    assert.is((await response.json()).choices.length, 1)
    await world.clock.advance(MINUTE)
    await world.settle()
    assert.is(world.fetches(), 1)
    assert.equal((await findModel(world, 'a'))?.price, { input: 10, output: 20 })
    assert.match(world.warnings.at(-1) ?? '', /^The catalog was not refreshed: The catalog source /)
    assert.ok((await world.api.catalog.review()).error)
    await world.clock.advance(MINUTE)
    await world.send()
    assert.is(world.fetches(), 1) // the next attempt is five minutes later
    await world.clock.advance(5 * MINUTE)
    await world.send()
    assert.is(world.fetches(), 2)
  })

const functions: Record<string, FetchCatalog> = {
  throws: () => {
    throw new Error('no')
  },
  'returns a string': async () => 'nonsense' as unknown as 'unchanged',
  'returns a list of providers': async () => ({ providers: [] as object }),
  'returns a wrong date': async () => ({ ...changeCatalog({}), asOf: 'today' }),
  hangs: () => new Promise(() => {}),
}

for (const [label, refresh] of Object.entries(functions))
  test(`a source function that ${label} changes nothing`, async () => {
    const world = await openCatalog(refresh)
    assert.is((await world.send()).status, 200)
    await world.clock.advance(MINUTE)
    await world.settle()
    assert.equal((await findModel(world, 'a'))?.price, { input: 10, output: 20 })
    const { current, rejected, error } = await world.api.catalog.review()
    assert.is(current, undefined)
    assert.ok(rejected ?? error)
  })

test('a refresh error explains why the source failed', async () => {
  const key = `sk-${'a1B2'.repeat(12)}`
  const failures: [() => unknown, RegExp][] = [
    [() => JSON.parse('<html>'), /^The catalog source failed: Unexpected token .* is not valid JSON$/],
    [
      () => Promise.reject(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })),
      /: fetch failed: connect ECONNREFUSED$/,
    ],
    [() => Promise.reject(Object.assign(new Error('no such file'), { code: 'ENOENT' })), /failed: no such file$/],
    [
      () => Promise.reject(new Error(`key ${key}\n${'x'.repeat(1_000)}`)),
      /^The catalog source failed: key \S+ x{1,200}$/,
    ],
    [() => Promise.reject(undefined), /^The catalog source failed\.$/],
  ]
  for (const [refresh, message] of failures) {
    const world = await openCatalog(async () => refresh() as never)
    const error = await world.api.catalog.refresh().catch((error) => error)
    assert.is(error.code, 'UPSTREAM_FAILED')
    assert.match(error.message, message)
    assert.not.match(error.message, new RegExp(key))
  }
})

test('without the refresh option, nothing is fetched, and `catalog.refresh` fails', async () => {
  const urls: string[] = []
  const gateway = createGateway({
    ...{ storage: memoryStorage(), clock: fakeClock(), catalog: base, logger: false },
    async fetch(url) {
      urls.push(url)
      return new Response('', { status: 500 })
    },
  })
  await (await gateway.fetch('http://gateway/v1/models')).text()
  assert.equal(urls, [])
  assert.equal(await gateway.api.catalog.review(), { isLive: false, held: [], applied: [] })
  const error = await gateway.api.catalog.refresh().catch((error) => error)
  assert.is(error.code, 'INVALID_REQUEST')
  assert.match(error.message, /^This gateway does not refresh its catalog\. Set "catalog"/)
})

test('models.dev provides new models with price tiers, and gets its ETag back', async () => {
  const model = (id: string, input: number) => ({
    ...{ id, release_date: '2026-10-01', tool_call: true, modalities: { input: ['text'], output: ['text'] } },
    ...{ limit: { context: 1_000, output: 100 }, cost: { input, output: 30, tiers: [tier] } },
  })
  const tier = { tier: { type: 'context', size: 200_000 }, input: 8, output: 40 }
  const known = defaultCatalog.deepseek?.models ?? []
  const models = Object.fromEntries([
    ['newest', model('newest', 3)],
    ...known.map(({ id, price }) => [
      id,
      { ...model(id, price?.input ?? 0), cost: { ...price, cache_read: price?.cacheRead } },
    ]),
  ])
  const sent: Array<string | null> = []
  const world = await openCatalog('models.dev', {
    base: { deepseek: { ...defaultCatalog.deepseek, asOf: '2026-01-01' } },
    async fetch(_url: string, init?: RequestInit) {
      sent.push(new Headers(init?.headers).get('if-none-match'))
      return sent.length > 1
        ? new Response(null, { status: 304 })
        : Response.json({ deepseek: { models }, evil: { models } }, { headers: { etag: '"x"' } })
    },
  })
  await world.send()
  await world.api.catalog.refresh()
  assert.equal(sent, [null, '"x"'])
  const { models: list = [], isLive } = await world.api.providers.get('deepseek')
  assert.is(isLive, true)
  assert.equal(list.find(({ id }) => id === 'newest')?.price, {
    ...{ input: 3, output: 30 },
    tiers: [{ above: 200_000, input: 8, output: 40 }],
  })
  const { current } = await world.api.catalog.review()
  assert.equal([current?.source, current?.etag], ['https://models.dev/api.json', '"x"'])
})

test('a copy is split into values small enough for Deno KV and Workers KV', async () => {
  const stored = memoryStorage()
  const sizes: number[] = []
  const storage = {
    ...stored,
    largestValueBytes: 65_536,
    async set(key: string, value: string, options?: object) {
      sizes.push(new TextEncoder().encode(value).length)
      if (new TextEncoder().encode(value).length > 65_536) throw new Error('too large')
      return stored.set(key, value, options)
    },
  }
  const many = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, index) => [`model-ü-${index}`, { input: 1, output: 2 }]),
  )
  const world = await openCatalog(async () => changeCatalog(many), { storage })
  await world.send()
  await world.api.catalog.review()
  assert.ok(sizes.length > 4)
  const other = await openCatalog(() => new Promise(() => {}), { storage })
  await other.send()
  assert.is((await findModel(other, 'model-ü-4999'))?.price?.input, 1)
})

test("gateways share the refreshed catalog through storage that isn't atomic", async () => {
  const storage = { ...memoryStorage(), atomic: false, keepsUsage: false as const }
  const { watch: _, ...unwatched } = storage
  const world = await openCatalog(async () => changeCatalog({ a: { input: 11, output: 20 } }), { storage: unwatched })
  await world.send()
  const other = await openCatalog(() => new Promise(() => {}), { storage: unwatched })
  await other.send()
  assert.is((await findModel(other, 'a'))?.price?.input, 11)
})

test('the notices contain the models.dev license', async () => {
  const notices = await readFile(new URL('../../NOTICES.md', import.meta.url), 'utf8')
  assert.match(notices, /## models\.dev[\s\S]*MIT License[\s\S]*Copyright \(c\) 2025 models\.dev/)
})

test('invalid options for catalog refresh are rejected', () => {
  const create = (catalog: object) => () =>
    createGateway({ storage: memoryStorage(), logger: false, catalog: catalog as never })
  assert.throws(create({ refresh: 'models' }), /catalog\.refresh must be "models\.dev" or a function/)
  assert.throws(create({ refresh: 'models.dev', every: 'daily' }), /catalog\.every must be a period such as/)
  assert.throws(create({ refresh: 'models.dev', base: { x: 1 } }), /catalog\.x must be an object/)
  assert.throws(create({ refresh: 'models.dev', evry: '1d' }), /catalog\.evry is not an option/)
})
