import {
  formatWindowEnd,
  getWindowEnd,
  getWindowStart,
  getWindowStarts,
  toMinute,
  WINDOWS,
} from '../../src/features/limits/ledger/windows.ts'
import type { LimitWindow } from '../../src/types/limits.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('limit windows')

const minute = (text: string) => toMinute(Date.parse(text))
const text = (at: number | undefined) => (at === undefined ? undefined : new Date(at * 60_000).toISOString())
const getWindow = (window: LimitWindow, at: string) => [
  text(getWindowStart(window, minute(at))),
  text(getWindowEnd(window, minute(at))),
]

test('each window is the UTC calendar unit that contains the given time', () => {
  const at = '2026-03-18T13:45:59.999Z' // a Wednesday
  assert.equal(getWindow('minute', at), ['2026-03-18T13:45:00.000Z', '2026-03-18T13:46:00.000Z'])
  assert.equal(getWindow('hour', at), ['2026-03-18T13:00:00.000Z', '2026-03-18T14:00:00.000Z'])
  assert.equal(getWindow('day', at), ['2026-03-18T00:00:00.000Z', '2026-03-19T00:00:00.000Z'])
  assert.equal(getWindow('week', at), ['2026-03-16T00:00:00.000Z', '2026-03-23T00:00:00.000Z'])
  assert.equal(getWindow('month', at), ['2026-03-01T00:00:00.000Z', '2026-04-01T00:00:00.000Z'])
  assert.equal(getWindow('total', at), ['1970-01-01T00:00:00.000Z', undefined])
})

test('a week starts on Monday at midnight', () => {
  assert.is(getWindow('week', '2026-03-22T23:59:59.999Z')[0], '2026-03-16T00:00:00.000Z')
  assert.is(getWindow('week', '2026-03-23T00:00:00.000Z')[0], '2026-03-23T00:00:00.000Z')
  assert.is(getWindow('week', '2027-01-01T12:00:00.000Z')[0], '2026-12-28T00:00:00.000Z')
})

test('each month has its actual length, including in leap years', () => {
  assert.equal(getWindow('month', '2028-02-29T10:00:00Z'), ['2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'])
  assert.equal(getWindow('month', '2026-12-31T23:59:59Z'), ['2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'])
})

test('consecutive windows have no gaps or overlaps', () => {
  for (const window of WINDOWS) {
    let timestamp = minute('2023-12-30T22:58:00Z')
    for (let count = 0; count < 500; count++) {
      const end = getWindowEnd(window, timestamp)
      if (end === undefined) break
      assert.is(getWindowStart(window, end), end)
      assert.is(getWindowStart(window, end - 1), getWindowStart(window, timestamp))
      assert.is(getWindowEnd(window, end - 1), end)
      timestamp = end
    }
  }
})

test('computing all window starts together gives the same result as computing each one', () => {
  for (const at of ['2026-03-18T13:45:00Z', '2026-03-18T13:46:00Z', '2020-02-29T00:00:00Z'])
    assert.equal(
      getWindowStarts(minute(at)),
      WINDOWS.map((window) => getWindowStart(window, minute(at))),
    )
})

test('window ends are in ISO 8601, and the total window has no end', () => {
  assert.is(formatWindowEnd('day', minute('2026-03-18T13:45:00Z')), '2026-03-19T00:00:00.000Z')
  assert.is(formatWindowEnd('month', minute('2026-03-18T13:45:00Z')), '2026-04-01T00:00:00.000Z')
  assert.is(formatWindowEnd('total', minute('2026-03-18T13:45:00Z')), null)
})
