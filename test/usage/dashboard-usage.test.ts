import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createUsageOperations, type UsageQuery } from '../../src/features/usage/operations/usage-operations.ts'
import type { StoredRequest } from '../../src/features/usage/request-record.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getRequest, noAccounts, openInstance } from './support/instances.ts'

const test = suite('dashboard usage in a single call')

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const now = Date.parse('2026-01-20T12:30:00Z')

const store = {
  keys: {
    all: async () => [
      { id: 'k1', name: 'first', key: 'sbx_secret' },
      { id: 'unused', name: 'unused' },
    ],
  },
  groups: { all: async () => [{ id: 'g1', name: 'customers' }] },
}

/** Opens the usage operations on a store whose requests are already folded. */
async function openWith(requests: readonly StoredRequest[], days?: { requests: number; totals: number }) {
  const clock = fakeClock(now)
  const usage = openInstance(memoryStorage({ clock }), clock, days)
  for (const request of requests) usage.storeRequest(request)
  await usage.close()
  return createUsageOperations({ usage, clock, store, accounts: noAccounts })
}

for (const [label, query] of [
  ['the last 24 hours', {}],
  ['a filter', { keyId: 'k2' }],
  ['full days', { from: '2026-01-19', to: '2026-01-20' }],
  ['an unfinished day', { from: '2026-01-20', to: '2026-01-21' }],
  ['part of an hour', { from: '2026-01-20T12:20:00Z', to: '2026-01-20T12:29:00Z' }],
  ['ten days', { from: '2026-01-10T07:15:00Z' }],
] as const satisfies Array<[string, UsageQuery]>)
  test(`the preceding period has the same length and filter (${label})`, async () => {
    const requests = Array.from({ length: 900 }, (_, index) =>
      getRequest(now - index * 37 * MINUTE, { keyId: `k${index % 3}`, durationMs: 100 }),
    )
    const api = await openWith(requests)
    const { from, totals, before } = await api.summary({ ...query, compare: 'before' })
    const end = 'to' in query ? Math.min(Date.parse(query.to), now) : now
    const beginning = Date.parse(from)
    const count = (first: number, last: number) =>
      requests.filter(({ time, keyId }) => {
        const timestamp = Date.parse(time)
        return timestamp >= first && timestamp < last && (!('keyId' in query) || keyId === query.keyId)
      }).length
    assert.is(Date.parse(before?.to ?? ''), beginning)
    assert.is(Date.parse(before?.from ?? ''), beginning - (end - beginning))
    assert.is(before?.totals.requests, count(beginning - (end - beginning), beginning))
    assert.is(totals.requests, count(beginning, 'to' in query && Date.parse(query.to) < now ? end : now + 1))
    assert.is('before' in (await api.summary(query)), false)
  })

test('a preceding period past retention is omitted, and a partly retained one starts at the first retained hour', async () => {
  const api = await openWith([getRequest(now)], { requests: 1, totals: 3 })
  assert.is((await api.summary({ from: '2026-01-10', compare: 'before' })).before, undefined)
  const { before } = await api.summary({ from: '2026-01-18T12:30:00Z', compare: 'before' })
  assert.equal([before?.from, before?.to], ['2026-01-17T12:00:00.000Z', '2026-01-18T12:00:00.000Z'])
})

/** In each of the last three hours, key `k<n>` has n requests. */
const many = Array.from({ length: 14 }, (_, key) =>
  Array.from({ length: (key + 1) * 3 }, (_, index) =>
    getRequest(now - (index % 3) * HOUR, { keyId: `k${key + 1}`, input: 100 - key, durationMs: 10 * (key + 1) }),
  ),
).flat()

test('rows are limited by cost, requests, or tokens, and the remaining rows are combined into one', async () => {
  const api = await openWith(many)
  const summarize = async (query: UsageQuery) =>
    (await api.summary(query)).rows.map(({ keyId, others, requests }) => [keyId ?? others, requests])
  assert.equal(await summarize({ top: 2, order: 'requests' }), [
    ['k14', 42],
    ['k13', 39],
    [12, 234],
  ])
  assert.equal((await summarize({ top: 14 })).length, 14)
  const createSpent = (input: number, costUsd: number) => {
    const { attempts } = getRequest(now, { input })
    return { attempts: attempts.map((attempt) => ({ ...attempt, costUsd })) }
  }
  const some = await openWith([
    getRequest(now, { keyId: 'costly', ...createSpent(5, 1) }),
    getRequest(now, { keyId: 'long', ...createSpent(900, 0.1) }),
    ...Array.from({ length: 3 }, () => getRequest(now, { keyId: 'often', ...createSpent(1, 0) })),
  ])
  const first = async (query: UsageQuery) => (await some.summary({ top: 1, ...query })).rows[0]?.keyId
  assert.equal(
    [await first({}), await first({ order: 'requests' }), await first({ order: 'tokens' })],
    ['costly', 'often', 'long'],
  )
})

test('the combined row has the totals and percentiles of the rows it replaces', async () => {
  const api = await openWith(many)
  const { rows, totals } = await api.summary({ top: 13, order: 'requests' })
  const alone = (await api.summary({ keyId: 'k1' })).totals
  const { others, ...sums } = rows.at(-1) ?? {}
  assert.is(others, 1)
  assert.equal(sums, alone)
  assert.is(
    rows.reduce((sum, { requests }) => sum + requests, 0),
    totals.requests,
  )
})

for (const series of ['hour', 'day'] as const)
  test(`a series contains the first ten rows by ${series}, and combines the others`, async () => {
    const api = await openWith(many)
    const response = await api.summary({ series, order: 'requests', names: true })
    const hours = series === 'hour' ? 3 : 1
    const parts = response.series ?? []
    assert.is(parts.length, 11 * hours)
    for (let hour = 0; hour < hours; hour++) {
      const some = parts.slice(hour * 11, hour * 11 + 11)
      assert.is(new Set(some.map((row) => row[series])).size, 1)
      const [others] = some.filter((row) => row.others !== undefined)
      assert.equal([others?.others, others?.requests], [4, ((1 + 2 + 3 + 4) * 3) / hours])
      assert.equal(
        some.flatMap(({ keyId, requests }) => (keyId ? [[keyId, requests]] : [])),
        Array.from({ length: 10 }, (_, index) => [`k${14 - index}`, ((14 - index) * 3) / hours]),
      )
    }
    assert.equal(response.rows, (await api.summary({ order: 'requests' })).rows)
    assert.equal(response.names, { k1: 'first' })
  })

test("a summary names only keys and groups, and exposes no key's value", async () => {
  const api = await openWith([getRequest(now, { groupId: 'g1' }), getRequest(now, { keyId: 'deleted' })])
  assert.equal((await api.summary({ by: 'key,group', names: true })).names, { k1: 'first', g1: 'customers' })
  assert.equal((await api.summary({ by: 'model', names: true })).names, {})
  assert.is((await api.summary({ by: 'key' })).names, undefined)
  const filtered = await api.summary({ by: 'model', keyId: 'k1', groupId: 'g1', names: true })
  assert.equal(filtered.names, { k1: 'first', g1: 'customers' })
})

test('an invalid dashboard parameter is rejected with an error that names it', async () => {
  const api = await openWith([])
  for (const [query, message] of [
    [{ compare: 'after' }, '"compare" must be one of "before"'],
    [{ order: 'age' }, '"order" must be one of "cost", "requests", "tokens"'],
    [{ top: 0 }, '"top" must be a whole number from 1 to 1000'],
    [{ series: 'month' }, '"series" must be one of "hour", "day"'],
    [{ series: 'hour', by: 'key,day' }, '"by" must not contain hour, day, or month when "series" is given'],
    [{ top: 5, by: 'month' }, '"by" must not contain hour, day, or month when "top" is given'],
    [{ series: 'hour', from: '2025-06-01' }, '"from" must be at most 32 days before "to" when "series" is "hour"'],
    [{ names: 'yes' }, '"names" must be true or false'],
  ] as const)
    assert.ok(
      String(await api.summary(query).catch((error) => error.message)).startsWith(message),
      `${JSON.stringify(query)}: ${await api.summary(query).catch(String)}`,
    )
})
