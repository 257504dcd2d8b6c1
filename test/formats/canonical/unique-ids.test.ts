import { createUniqueIds } from '../../../src/formats/canonical/unique-ids.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('unique ids')

test('stay as they are but for those that are taken', () => {
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

test('are found in linear time, as a client may repeat one id as often as a body has room for it', () => {
  const unique = createUniqueIds()
  let last = ''
  for (let count = 0; count < 200_000; count++) last = unique('a')
  assert.is(last, 'a_200000')
})
