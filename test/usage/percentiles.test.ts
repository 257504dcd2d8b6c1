import { memoryStorage } from '../../adapters/storage/memory.ts'
import { Histogram } from '../../src/features/usage/histogram.ts'
import { getShard, getTotalsKey } from '../../src/features/usage/layout.ts'
import { createUsageOperations } from '../../src/features/usage/operations/usage-operations.ts'
import { decodeTotals } from '../../src/features/usage/totals.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getRequest, noAccounts, noNames, openInstance } from './support/instances.ts'

const test = suite('duration percentiles')

const HOUR = 3_600_000
const now = Date.parse('2026-01-20T12:30:00Z')

/** Returns the nearest-rank percentile. */
const exactly = (times: readonly number[], share: number) =>
  times.toSorted((time, other) => time - other)[Math.ceil(times.length * share) - 1] ?? 0

/** Returns durations from 1 ms to an hour, evenly distributed on a log scale. Every run returns the same ones. */
const getTimes = (count: number) =>
  Array.from({ length: count }, (_, index) => Math.round(HOUR ** Math.abs(Math.sin(index * 12.9898))))

function getHistogram(times: readonly number[]): Histogram {
  const all = new Histogram()
  for (const time of times) all.merge(Histogram.fromTime(time))
  return all
}

const assertNear = (found: number, exact: number, label: string) =>
  assert.ok(Math.abs(found - exact) <= exact * 0.073 + 0.5, `${label}: ${found} instead of ${exact}`)

for (const count of [1, 2, 19, 20, 101, 5_000])
  test(`percentiles of ${count} duration${count === 1 ? '' : 's'} are within 7.3% of the exact values`, () => {
    const times = getTimes(count)
    const histogram = getHistogram(times)
    for (const item of [histogram, new Histogram(histogram.text)]) {
      const { p50, p95, p99 } = item.getPercentiles()
      assertNear(p50, exactly(times, 0.5), 'p50')
      assertNear(p95, exactly(times, 0.95), 'p95')
      assertNear(p99, exactly(times, 0.99), 'p99')
    }
  })

test('a histogram of any durations takes only a few characters', () => {
  for (const [times, most] of [
    [[250], 2],
    [[0, 10 * HOUR], 6],
    [getTimes(10_000), 350],
  ] as const) {
    const { text } = getHistogram(times)
    assert.ok(text.length <= most, text)
    const twice = new Histogram(text)
    twice.merge(new Histogram(text))
    assert.is(twice.text, getHistogram([...times, ...times]).text)
  }
})

test('durations over an hour count as an hour, and durations under a millisecond as zero', () => {
  assertNear(Histogram.fromTime(50 * HOUR).getPercentiles().p99, HOUR, 'p99')
  assert.equal(Histogram.fromTime(0.2).getPercentiles(), { p50: 0, p95: 0, p99: 0 })
  assert.equal(new Histogram().getPercentiles(), { p50: 0, p95: 0, p99: 0 })
})

test('percentiles cover all hours and instances, folded or in memory', async () => {
  const clock = fakeClock(now)
  const storage = memoryStorage({ clock })
  const times = getTimes(600)
  const instances = [openInstance(storage, clock), openInstance(storage, clock), openInstance(storage, clock)]
  for (const [index, durationMs] of times.entries())
    instances[index % 3]?.storeRequest(
      getRequest(now - (index % 20) * HOUR, { durationMs, firstByteMs: durationMs / 2, keyId: `k${index % 7}` }),
    )
  await instances[0]?.close()
  await instances[1]?.close()
  const { totals, rows } = await createUsageOperations({
    usage: instances[2],
    clock,
    store: noNames,
    accounts: noAccounts,
  }).summary({
    by: 'key',
  })
  const { p50 = 0, p95 = 0, p99 = 0 } = totals.durationMs ?? {}
  assertNear(p50, exactly(times, 0.5), 'p50')
  assertNear(p95, exactly(times, 0.95), 'p95')
  assertNear(p99, exactly(times, 0.99), 'p99')
  assertNear(totals.firstByteMs?.p95 ?? 0, exactly(times, 0.95) / 2, 'first byte')
  assert.is(rows.length, 7)
  for (const { keyId, durationMs } of rows) {
    const some = times.filter((_, index) => `k${index % 7}` === keyId)
    assertNear(durationMs?.p50 ?? 0, exactly(some, 0.5), keyId ?? '')
  }
})

test('a rejected request has no duration, and a request without a response has no time to first byte', async () => {
  const clock = fakeClock(now)
  const usage = openInstance(memoryStorage({ clock }), clock)
  const api = createUsageOperations({ usage, clock, store: noNames, accounts: noAccounts })
  usage.storeRequest(getRequest(now, { end: 'refused', durationMs: 0 }))
  const { totals } = await api.summary()
  assert.equal([totals.requests, totals.durationMs, totals.firstByteMs], [1, undefined, undefined])
  usage.storeRequest(getRequest(now, { end: 'failed', durationMs: 1_000 }))
  const after = (await api.summary()).totals
  assert.ok(after.durationMs)
  assert.is(after.firstByteMs, undefined)
})

const shard = getShard({ keyId: 'k1' })
const hour = getTotalsKey('hour', shard, now)
/** A row from before histograms existed: string indexes, counts, tokens, and nano-dollars. */
const formerRow = [1, 0, 2, 3, 4, 5, 0, 3, 1, 0, 0, 30, 6, 0, 0, 0, 30]
const formerTotals = {
  through: { former: 7 },
  leftOut: 0,
  texts: ['k1', 'one/m', 'one', 'm', 'c1'],
  rows: [formerRow],
}

test('totals written by an earlier release can be read and extended, and only later requests have percentiles', async () => {
  const clock = fakeClock(now)
  const storage = memoryStorage({ clock })
  await storage.set(hour, JSON.stringify(formerTotals))
  const usage = openInstance(storage, clock)
  const api = createUsageOperations({ usage, clock, store: noNames, accounts: noAccounts })
  const before = (await api.summary()).totals
  assert.equal([before.requests, before.tokens.input, before.costUsd], [3, 30, 30e-9])
  assert.not.ok('durationMs' in before || 'firstByteMs' in before)
  usage.storeRequest(getRequest(now, { durationMs: 2_000, firstByteMs: 1_000 }))
  await usage.close()
  const { rows } = await api.summary({ by: 'key,model,target' })
  assert.equal([rows.length, rows[0]?.requests, rows[0]?.tokens.input], [1, 4, 31])
  assertNear(rows[0]?.durationMs?.p50 ?? 0, 2_000, 'duration')
  assertNear(rows[0]?.firstByteMs?.p50 ?? 0, 1_000, 'first byte')
})

/** Returns the fields of a row that earlier releases read: the first 17, and the units. */
const readBefore = ([...row]: unknown[]) => [row.slice(0, 17), Object.entries(row[17] ?? {})]

test('earlier releases can read stored totals with and without units', async () => {
  const clock = fakeClock(now)
  const storage = memoryStorage({ clock })
  const usage = openInstance(storage, clock)
  for (const [index, units] of [undefined, { search: 2 }].entries()) {
    const request = getRequest(now, { user: `u${index}`, firstByteMs: 3 })
    usage.storeRequest({
      ...request,
      attempts: request.attempts.map((attempt) => ({ ...attempt, ...(units && { units }) })),
    })
  }
  await usage.close()
  const { value = '' } = (await storage.get(hour)) ?? {}
  const stored = JSON.parse(value)
  assert.equal(Object.keys(stored), ['through', 'leftOut', 'texts', 'rows'])
  assert.equal(stored.rows.map(readBefore), [
    [[1, 0, 2, 3, 4, 5, 6, 1, 0, 0, 0, 1, 2, 0, 0, 0, 1], []],
    [[1, 0, 2, 3, 4, 5, 7, 1, 0, 0, 0, 1, 2, 0, 0, 0, 1], [['search', 2]]],
  ])
  assert.is(decodeTotals(value)?.encode(1e6), value)
})
