import {
  describeState,
  describeVerdict,
  listUsedGuards,
} from '../../src/features/dashboard/page/pages/guard-verdicts.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('guard verdicts on the dashboard')

test('a guard verdict shows its category, and whether its guard only watches', () => {
  assert.is(describeVerdict({ verdict: 'refuse' }, 'word'), 'rejected (word)')
  assert.is(describeVerdict({ verdict: 'refuse', isWatched: true }, 'secret'), 'rejected (secret), not enforced')
  assert.is(describeVerdict({ verdict: 'pass', isWatched: true }), 'passed')
  assert.is(describeVerdict({ verdict: 'failed-open' }), 'failed, passed')
})

test("an unused guard isn't shown as enforced", () => {
  const used = listUsedGuards([{ guards: ['a'] }, {}, { guards: ['b'] }])
  assert.equal(describeState({ name: 'a' }, used), { kind: 'good', label: 'Enforced' })
  assert.equal(describeState({ name: 'b', mode: 'watch' }, used), { kind: 'warn', label: 'Watching' })
  assert.equal(describeState({ name: 'c' }, used), { kind: 'off', label: 'Not used' })
  assert.equal(describeState({ name: 'c', mode: 'watch' }, used), { kind: 'off', label: 'Not used' })
})
