import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createUsageOperations, type UsageOperations } from '../../src/features/usage/operations/usage-operations.ts'
import type { StoredRequest } from '../../src/features/usage/request-record.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getRequest, noAccounts, noNames, openInstance } from './support/instances.ts'

const test = suite('reading usage')

const HOUR = 3_600_000
const at = (text: string) => Date.parse(text)

/** Opens an instance with these requests, folded or in memory, and returns the operations that read them. */
async function openWith(
  requests: readonly StoredRequest[],
  { isFolded = true, now = '2026-01-20T12:30:00Z' }: { isFolded?: boolean; now?: string } = {},
) {
  const clock = fakeClock(at(now))
  const storage = memoryStorage({ clock })
  const usage = openInstance(storage, clock)
  for (const request of requests) usage.storeRequest(request)
  if (isFolded) await usage.close()
  const api = createUsageOperations({ usage, clock, store: noNames, accounts: noAccounts })
  return { clock, storage, usage, api }
}

const getError = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: Error & { code?: string }) => `${error.code} ${error.message}`,
  )

for (const isFolded of [true, false]) {
  const location = isFolded ? 'folded' : 'in memory'

  test(`hours, days, and months are in UTC (${location})`, async () => {
    const times = [
      '2025-12-31T23:59:59.999Z',
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:59:59.999Z',
      '2026-01-01T01:00:00Z',
    ]
    const { api } = await openWith(
      times.map((time) => getRequest(at(time))),
      { isFolded, now: '2026-01-01T12:00:00Z' },
    )
    const getCounts = async (by: string, from = '2025-12-01') =>
      (await api.summary({ from, by })).rows.map((row) => [row.hour ?? row.day ?? row.month, row.requests])
    assert.equal(await getCounts('hour'), [
      ['2025-12-31T23:00:00.000Z', 1],
      ['2026-01-01T00:00:00.000Z', 2],
      ['2026-01-01T01:00:00.000Z', 1],
    ])
    assert.equal(await getCounts('day'), [
      ['2025-12-31', 1],
      ['2026-01-01', 3],
    ])
    assert.equal(await getCounts('month'), [
      ['2025-12', 1],
      ['2026-01', 3],
    ])
    assert.equal(await getCounts('day', '2026-01-01'), [['2026-01-01', 3]])
    assert.equal(await getCounts('day', '2026-01-01T01:00:00+01:00'), [['2026-01-01', 3]])
  })

  test(`totals of partial hours are exact to the millisecond, and "to" is exclusive (${location})`, async () => {
    const first = at('2026-01-19T10:15:00Z')
    const { api } = await openWith(
      Array.from({ length: 50 }, (_, index) => getRequest(first + index * 600_000)),
      { isFolded },
    )
    for (const [from, to] of [
      ['2026-01-19T10:15:00Z', '2026-01-19T10:15:00.001Z'],
      ['2026-01-19T10:15:00.001Z', '2026-01-19T10:25:00Z'],
      ['2026-01-19T10:20:00Z', '2026-01-19T10:50:00Z'],
      ['2026-01-19T10:20:00Z', '2026-01-19T13:07:00Z'],
      ['2026-01-19T11:00:00Z', '2026-01-19T12:00:00Z'],
      ['2026-01-19', '2026-01-20'],
      ['2026-01-18T05:05:05Z', '2026-01-20T04:00:00Z'],
    ] as const) {
      const { totals } = await api.summary({ from, to })
      const { requests } = await api.requests({ from, to, limit: 1_000 })
      const expected = Array.from({ length: 50 }, (_, index) => first + index * 600_000).filter(
        (time) => time >= at(from) && time < at(to),
      )
      assert.is(totals.requests, expected.length, `${from} ${to}`)
      assert.equal(
        requests.map(({ time }) => at(time)),
        expected.reverse(),
      )
    }
  })

  test(`a target filter counts the tokens of attempts at that target, and requests that it responded to (${location})`, async () => {
    const target = { provider: 'two', model: 'n', connectionId: 'c2' }
    const tokens = { input: 7, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
    const failing = { ...target, outcome: 'server', status: 500, startMs: 0, durationMs: 1, tokens, costUsd: 7e-9 }
    const fallen = getRequest(at('2026-01-20T10:00:00Z'))
    const both = { ...fallen, attempts: [failing, ...fallen.attempts] }
    const other = getRequest(at('2026-01-20T10:05:00Z'), { keyId: 'k2', user: 'u', groupId: 'g', model: 'alias' })
    const { api } = await openWith([both, other], { isFolded })
    const rows = (await api.summary({ by: ['target'] })).rows.map((row) => [
      row.target?.provider,
      row.requests,
      row.tokens.input,
      row.costUsd,
    ])
    assert.equal(rows, [
      ['two', 0, 7, 7e-9],
      ['one', 2, 2, 2e-9],
    ])
    const getTotals = async (query: object) => {
      const { requests, tokens } = (await api.summary(query)).totals
      return [requests, tokens.input, (await api.requests(query)).requests.length]
    }
    assert.equal(await getTotals({ provider: 'two' }), [0, 7, 1])
    assert.equal(await getTotals({ target: 'one/m' }), [2, 2, 2])
    assert.equal(await getTotals({ connectionId: 'c2' }), [0, 7, 1])
    assert.equal(await getTotals({ keyId: 'k1' }), [1, 8, 1])
    assert.equal(await getTotals({ keyId: 'k2', user: 'u', groupId: 'g', model: 'alias' }), [1, 1, 1])
    assert.equal(await getTotals({ user: '' }), [1, 8, 1])
    assert.equal(await getTotals({ keyId: '' }), [0, 0, 0])
    assert.equal(await getTotals({ target: 'one/n' }), [0, 0, 0])
  })
}

test('pages return each request once, newest first, even while new ones arrive', async () => {
  const now = at('2026-01-20T12:30:00Z')
  const old = Array.from({ length: 730 }, (_, index) =>
    getRequest(now - (index % 37) * 7 * 60_000 - index, {
      keyId: `k${index % 11}`,
      status: index % 10 === 0 ? 429 : 200,
    }),
  )
  const { api, usage, clock } = await openWith(old)
  const expected = old
    .map(({ id }) => id)
    .sort()
    .reverse()
  for (const limit of [1, 7, 100, 1_000]) {
    const found: string[] = []
    let pages = 0
    for (let before: string | undefined; ; ) {
      const page: Awaited<ReturnType<UsageOperations['requests']>> = await api.requests({
        limit,
        to: '2026-01-20T12:30:00.001Z',
        ...(before && { before }),
      })
      found.push(...page.requests.map(({ id }) => id))
      assert.ok(page.requests.length <= limit)
      if (page.before === undefined || (limit === 1 && ++pages > 50)) break
      before = page.before
      await clock.advance(1_100)
      usage.storeRequest(getRequest(clock.now(), { keyId: 'k1' }))
    }
    assert.equal(found, expected.slice(0, found.length))
    if (limit > 1) assert.is(found.length, old.length)
  }
  const { requests } = await api.requests({ keyId: 'k3', status: 429, limit: 1_000 })
  assert.equal(
    requests.map(({ id }) => id),
    old
      .filter(({ keyId, status }) => keyId === 'k3' && status === 429)
      .map(({ id }) => id)
      .sort()
      .reverse(),
  )
})

test('a request can be found by its ID, regardless of where it is stored', async () => {
  const now = at('2026-01-20T12:30:00Z')
  const all = Array.from({ length: 300 }, (_, index) =>
    getRequest(now - index * 13 * 60_000, { keyId: `k${index % 5}` }),
  )
  const { api } = await openWith(all)
  for (const request of [all[0], all[151], all[299]])
    assert.equal((await api.request(request?.id ?? '')).request, request)
  for (const id of ['x', '', crypto.randomUUID(), all[0]?.id.slice(0, 13) ?? '', `${all[0]?.id}0`])
    assert.is(await getError(api.request(id)), 'NOT_FOUND Request not found')
})

test('usage past retention is hidden and removed from the storage', async () => {
  const clock = fakeClock(at('2026-01-01T00:30:00Z'))
  const storage = memoryStorage({ clock })
  const days = { requests: 2, totals: 10 }
  const usage = openInstance(storage, clock, days)
  const api = createUsageOperations({ usage, clock, store: noNames, accounts: noAccounts })
  const request = getRequest(clock.now())
  usage.storeRequest(request)
  await usage.close()
  const listSeen = async () => [
    (await api.requests()).requests.length,
    (await api.summary({ from: '2025-12-31' })).totals.requests,
    (await storage.list('usage/requests/')).length,
    (await storage.list('usage/')).length,
  ]
  assert.equal(await listSeen(), [1, 1, 1, 3])
  await clock.advance(47 * HOUR)
  assert.equal(await listSeen(), [1, 1, 1, 3])
  await clock.advance(2 * HOUR)
  assert.equal(await listSeen(), [0, 1, 0, 2])
  assert.is(await getError(api.request(request.id)), 'NOT_FOUND Request not found')
  await clock.advance(9 * 24 * HOUR)
  assert.equal(await listSeen(), [0, 0, 0, 0])
})

test('a shorter retention immediately hides older usage', async () => {
  const clock = fakeClock(at('2026-01-10T00:30:00Z'))
  const storage = memoryStorage({ clock })
  const usage = openInstance(storage, clock)
  usage.storeRequest(getRequest(clock.now() - 5 * 24 * HOUR))
  await usage.close()
  const later = openInstance(storage, clock, { requests: 3, totals: 100 })
  const api = createUsageOperations({ usage: later, clock, store: noNames, accounts: noAccounts })
  assert.equal((await api.requests()).requests, [])
  assert.is((await api.summary({ from: '2026-01-01' })).totals.requests, 1)
})

test('an invalid usage query parameter is rejected with an error that names it', async () => {
  const { api } = await openWith([])
  for (const [query, message] of [
    [{ from: 'yesterday' }, '"from" must be an ISO 8601 time with a time zone'],
    [{ from: '2026-01-01T10:00:00' }, '"from" must be an ISO 8601 time'],
    [{ to: '2026-13-01' }, '"to" must be an ISO 8601 time'],
    [{ from: '2026-01-02', to: '2026-01-02' }, '"to" must be after "from"'],
    [
      { by: 'week' },
      '"by" must be a comma-separated list of key, group, account, model, target, user, hour, day, month',
    ],
    [{ by: '' }, '"by" must be a comma-separated list'],
    [{ by: [] }, '"by" must be a comma-separated list'],
    [{ by: 'hour', from: '2025-06-01' }, '"from" must be at most 32 days before "to"'],
    [{ target: 'one' }, '"target" must be "<provider>/<model>"'],
    [{ keyid: 'x' }, 'Unknown field "keyid". Did you mean "keyId"?'],
    [{ status: 200 }, 'Unknown field "status"'],
  ] as const)
    assert.ok(
      (await getError(api.summary(query))).startsWith(`INVALID_REQUEST ${message}`),
      `${JSON.stringify(query)}: ${await getError(api.summary(query))}`,
    )
  for (const [query, message] of [
    [{ limit: 0 }, '"limit" must be a whole number from 1 to 1000'],
    [{ limit: 1_001 }, '"limit" must be'],
    [{ limit: '5' }, '"limit" must be'],
    [{ before: 'x' }, '"before" must be the "before" value of a previous page'],
    [{ end: 'done' }, '"end" must be one of "complete"'],
    [{ status: 'x' }, '"status" must be'],
    [{ by: 'key' }, 'Unknown field "by"'],
  ] as const)
    assert.ok(
      (await getError(api.requests(query))).startsWith(`INVALID_REQUEST ${message}`),
      `${JSON.stringify(query)}: ${await getError(api.requests(query))}`,
    )
})

test("rows that don't fit into a stored value lose only their end users, and the response reports this", async () => {
  const clock = fakeClock(at('2026-01-20T12:30:00Z'))
  const storage = { ...memoryStorage({ clock }), largestValueBytes: 10_000 }
  const usage = openInstance(storage, clock)
  for (let index = 0; index < 400; index++)
    usage.storeRequest(getRequest(clock.now(), { user: `user-${index}`, input: index }))
  await usage.close()
  const api = createUsageOperations({ usage, clock, store: noNames, accounts: noAccounts })
  const { rows, totals, warnings = [] } = await api.summary({ by: 'key,user' })
  assert.match(warnings[0] ?? '', /not broken down by account, end user/)
  assert.ok(rows.length < 400)
  assert.equal([totals.requests, totals.tokens.input], [400, (399 * 400) / 2])
  assert.is((await api.requests({ user: 'user-7' })).requests.length, 1)
})
