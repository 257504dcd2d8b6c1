import { getNumberBounds } from '../../src/features/dashboard/page/number-bounds.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('number fields on the dashboard')

test("a number field uses its shape's bounds, and allows fractions unless it's an integer", () => {
  assert.equal(getNumberBounds({ type: 'number', min: 0, max: 100 }), { min: 0, max: 100, step: 'any' })
  assert.equal(getNumberBounds({ type: 'number', min: 1, isInteger: true }), { min: 1, max: undefined, step: 1 })
  assert.equal(getNumberBounds({ type: 'number', above: 0 }), { min: 0, max: undefined, step: 'any' })
})
