import { describeVerdict } from '../../src/features/dashboard/page/pages/guard-verdicts.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite("guards' verdicts on the dashboard")

test('a verdict is shown with its category, and says so if it was only watched', () => {
  assert.is(describeVerdict({ verdict: 'refuse' }, 'word'), 'rejected (word)')
  assert.is(describeVerdict({ verdict: 'refuse', isWatched: true }, 'secret'), 'rejected (secret), not enforced')
  assert.is(describeVerdict({ verdict: 'pass', isWatched: true }), 'passed')
  assert.is(describeVerdict({ verdict: 'failed-open' }), 'failed, passed')
})
