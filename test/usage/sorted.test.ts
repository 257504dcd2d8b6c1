import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileStorage } from '../../adapters/storage/file.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createUsageOperations, type RequestsQuery } from '../../src/features/usage/operations/usage-operations.ts'
import type { StoredRequest } from '../../src/features/usage/request-record.ts'
import type { Storage } from '../../src/types.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getRequest, noAccounts, noNames, openInstance } from './support/instances.ts'

const test = suite('requests sorted by duration and cost')

const NOW = Date.parse('2026-01-20T12:30:00Z')

/** Creates requests over two days, with repeated durations and costs, and some without a cost. */
function requests(): StoredRequest[] {
  return Array.from({ length: 60 }, (_, index) => {
    const durationMs = [900, 40.4, 40.2, 7_000, 12][index % 5] ?? 0
    const request = getRequest(NOW - index * 2_400_000, {
      input: [5, 5, 80, 1, 0][index % 5] ?? 0,
      durationMs,
      keyId: `k${index % 7}`,
    })
    return index % 6 === 0 ? unpriced(request) : request
  })
}

function unpriced({ costUsd: _, costSource: _source, ...request }: StoredRequest): StoredRequest {
  return { ...request, attempts: request.attempts.map(({ costUsd: _cost, ...attempt }) => attempt) }
}

const stores: Record<string, (clock: FakeClock, folder: string) => Storage> = {
  memory: (clock) => memoryStorage({ clock }),
  'non-atomic': (clock) => ({ ...memoryStorage({ clock }), atomic: false }),
  file: (_, folder) => fileStorage(join(folder, 'data.json')),
}

/** Returns all pages of a query, in order. */
async function getPages(
  api: { requests(query: RequestsQuery): Promise<{ requests: StoredRequest[]; before?: string }> },
  query: RequestsQuery,
): Promise<StoredRequest[]> {
  const all: StoredRequest[] = []
  for (let before: string | undefined; ; ) {
    const page = await api.requests({ ...query, limit: 7, ...(before !== undefined && { before }) })
    all.push(...page.requests)
    if (page.before === undefined) return all
    assert.is(page.requests.length, 7, 'every page but the last is full')
    before = page.before
  }
}

for (const [store, open] of Object.entries(stores))
  for (const isFolded of [true, false])
    test(`pages sort all requests by duration and cost, not only the loaded ones (${store} storage, ${isFolded ? 'folded' : 'not folded'})`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'sorted-'))
      const clock = fakeClock(NOW)
      const usage = openInstance(open(clock, folder), clock)
      const given = requests()
      for (const request of given) usage.storeRequest(request)
      if (isFolded) await usage.close()
      const api = createUsageOperations({ usage, clock, store: noNames, accounts: noAccounts })

      const values = {
        duration: ({ durationMs }: StoredRequest) => Math.round(durationMs),
        cost: ({ costUsd }: StoredRequest) => costUsd,
        time: ({ time }: StoredRequest) => Date.parse(time),
      }
      for (const sort of ['duration', 'cost', 'time'] as const)
        for (const order of ['desc', 'asc'] as const) {
          const found = await getPages(api, { sort, order })
          assert.is(
            new Set(found.map(({ id }) => id)).size,
            given.length,
            `each request appears once by ${sort} ${order}`,
          )
          const known = found.map(values[sort]).filter((value) => value !== undefined)
          const expected = [...known].sort((value, other) => (order === 'asc' ? value - other : other - value))
          assert.equal(known, expected, `${sort} ${order}`)
          const firstUnknown = found.findIndex((request) => values[sort](request) === undefined)
          if (sort === 'cost') assert.is(firstUnknown, known.length, 'requests with an unknown cost come last')
        }

      const one = await getPages(api, { sort: 'cost', keyId: 'k3', from: '2026-01-20' })
      assert.ok(one.length > 0 && one.every(({ keyId, time }) => keyId === 'k3' && time >= '2026-01-20'))
      if (!isFolded) await usage.close()
      await rm(folder, { recursive: true })
    })

test('a cursor from one sort order is rejected in another', async () => {
  const clock = fakeClock(NOW)
  const usage = openInstance(memoryStorage({ clock }), clock)
  for (const request of requests()) usage.storeRequest(request)
  const api = createUsageOperations({ usage, clock, store: noNames, accounts: noAccounts })
  const getCode = (query: RequestsQuery) =>
    api.requests(query).then(
      () => 'done',
      ({ code, message }) => `${code} ${message}`,
    )
  const sorted = await api.requests({ sort: 'cost', limit: 1 })
  const plain = await api.requests({ limit: 1 })
  assert.match(await getCode({ before: sorted.before ?? '' }), /^INVALID_REQUEST .*a different "sort"/)
  assert.match(await getCode({ sort: 'cost', before: plain.before ?? '' }), /^INVALID_REQUEST .*a different "sort"/)
  assert.match(await getCode({ sort: 'cost', before: 'x' }), /^INVALID_REQUEST .*"before" value of a previous page/)
  assert.match(await getCode({ sort: 'price' as 'cost' }), /^INVALID_REQUEST .*"sort" must be one of/)
  await usage.close()
})
