import { hashOf } from '../../src/lib/hash.ts'
import type { Group, GroupEntry } from '../../src/routing/group.ts'
import { createSessionAffinity } from '../../src/routing/session-affinity.ts'
import { localState } from '../../src/routing/shared-state.ts'
import { fakeClock } from '../support/clock.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('pins')

const entry: GroupEntry = { index: 0, name: 'one/m', weight: 1 }
const group: Group = {
  name: 'pool',
  label: 'combo/pool',
  strategy: 'sticky',
  stickyLimit: 1,
  hedge: false,
  entries: [entry],
}

/** Two texts of the same hash: among 300,000 there are some. */
function twins(): [string, string] {
  const seen = new Map<number, string>()
  const random = createRandom(1)
  for (let nth = 0; nth < 300_000; nth++) {
    const text = random.next().toString(36)
    const twin = seen.get(hashOf(text))
    if (twin !== undefined) return [twin, text]
    seen.set(hashOf(text), text)
  }
  throw new Error('there are none')
}

test('two sessions with the same hash are moved independently', async () => {
  const pins = createSessionAffinity(localState(fakeClock()))
  const [moved, other] = twins()
  await pins.moveTo(group, moved, entry)
  assert.is(await pins.entryNameOf(group, moved), 'one/m')
  assert.is(await pins.entryNameOf(group, other), undefined)
})
