import { formatRelativeTime } from '../../src/features/dashboard/page/page-format.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('relative times on the dashboard')
const NOW = Date.parse('2026-11-20T18:20:00Z')
const MINUTE = 60_000

test('a time that rounds up to an hour or a day is shown in that unit', () => {
  const english = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })
  assert.is(formatRelativeTime(NOW - 29 * MINUTE, NOW), english.format(-29, 'minute'))
  assert.is(formatRelativeTime(NOW - 59.6 * MINUTE, NOW), english.format(-1, 'hour'))
  assert.is(formatRelativeTime(NOW + 23.7 * 60 * MINUTE, NOW), english.format(1, 'day'))
  assert.is(formatRelativeTime(NOW, NOW), english.format(0, 'second'))
})
