import { createUniqueIds } from '../../../src/protocols/formats/canonical/ids.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('unique IDs')

test("IDs don't change unless they are already taken", () => {
  const unique = createUniqueIds(['old', 'old_2'])
  assert.equal(['old', 'new', 'new', 'old', 'new_2', 'new'].map(unique), [
    'old_3',
    'new',
    'new_2',
    'old_4',
    'new_2_2',
    'new_3',
  ])
})

test('finding unique IDs takes linear time even if a client keeps repeating one ID', () => {
  const unique = createUniqueIds()
  let last = ''
  for (let count = 0; count < 200_000; count++) last = unique('a')
  assert.is(last, 'a_200000')
})
