import type { Group, GroupEntry } from '../../src/request/routing/group.ts'
import { createRoundRobin } from '../../src/request/routing/round-robin.ts'
import { createLocalState } from '../../src/request/routing/shared-state.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('rotation')

const entries = ['a', 'b'].map((name, index): GroupEntry => ({ index, name, weight: 1 }))
const group: Group = {
  name: 'pool',
  label: 'combo/pool',
  strategy: 'round-robin',
  stickyLimit: 1,
  hedge: false,
  entries,
}

test('if an entry check throws, waiting requests fail, but later requests succeed', async () => {
  const clock = fakeClock()
  const rotation = createRoundRobin(createLocalState(clock), clock)
  const throws = () => {
    throw new Error('cannot tell')
  }
  const waiting = [rotation.take(group, throws), rotation.take(group, () => true)]
  for (const turn of waiting) assert.is(await turn.catch((error: Error) => error.message), 'cannot tell')
  assert.is((await rotation.take(group, () => true)).index, 0)
  assert.is((await rotation.take(group, () => true)).index, 1)
})

test('a request falls back to a local turn if the shared state is slow or contended', async () => {
  const clock = fakeClock()
  const local = createLocalState(clock)
  const slow = {
    ...local,
    async read(key: string) {
      await clock.sleep(700)
      return local.read(key)
    },
    async write() {
      await clock.sleep(700)
      return false as const
    },
  }
  const rotation = createRoundRobin(slow, clock)
  const indexes: number[] = []
  for (let turn = 0; turn < 4; turn++) {
    const startedAt = clock.now()
    let index: number | undefined
    void rotation
      .take(group, () => true)
      .then((taken) => {
        index = taken.index
      })
    while (index === undefined && clock.now() - startedAt < 20_000) await clock.advance(100)
    assert.ok(clock.now() - startedAt <= 2_500, `${clock.now() - startedAt} ms`)
    indexes.push(index ?? -1)
  }
  assert.equal(indexes, [0, 1, 0, 1])
})
