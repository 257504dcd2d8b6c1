import type { Entry, Group } from '../../src/routing/group.ts'
import { createRotation } from '../../src/routing/rotation.ts'
import { localState } from '../../src/routing/shared-state.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('rotation')

const entries = ['a', 'b'].map((name, index): Entry => ({ index, name, weight: 1 }))
const group: Group = {
  name: 'pool',
  label: 'combo/pool',
  strategy: 'round-robin',
  stickyLimit: 1,
  hedge: false,
  entries,
}

test('a question that throws is the failure of those who wait, not of those who come later', async () => {
  const rotation = createRotation(localState(fakeClock()))
  const throws = () => {
    throw new Error('cannot tell')
  }
  const waiting = [rotation.take(group, throws), rotation.take(group, () => true)]
  for (const turn of waiting) assert.is(await turn.catch((error: Error) => error.message), 'cannot tell')
  assert.is((await rotation.take(group, () => true)).index, 0)
  assert.is((await rotation.take(group, () => true)).index, 1)
})
