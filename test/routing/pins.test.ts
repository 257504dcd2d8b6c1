import { hashText } from '../../src/lib/hash.ts'
import type { Group, GroupEntry } from '../../src/request/routing/group.ts'
import { createSessionAffinity } from '../../src/request/routing/session-affinity.ts'
import { createLocalState } from '../../src/request/routing/shared-state.ts'
import { fakeClock } from '../support/clock.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('session pins')

const entry: GroupEntry = { index: 0, name: 'one/m', weight: 1 }
const group: Group = {
  name: 'pool',
  label: 'combo/pool',
  strategy: 'sticky',
  stickyLimit: 1,
  hedge: false,
  entries: [entry],
}

/** Finds two strings with the same hash. There are some among 300,000. */
function twins(): [string, string] {
  const seen = new Map<number, string>()
  const random = createRandom(1)
  for (let index = 0; index < 300_000; index++) {
    const text = random.next().toString(36)
    const twin = seen.get(hashText(text))
    if (twin !== undefined) return [twin, text]
    seen.set(hashText(text), text)
  }
  throw new Error('no two strings have the same hash')
}

test('two sessions with colliding hashes are moved independently', async () => {
  const pins = createSessionAffinity(createLocalState(fakeClock()))
  const [moved, other] = twins()
  await pins.moveSession(group, { owner: '', session: moved }, entry)
  assert.is(await pins.getEntryName(group, { owner: '', session: moved }), 'one/m')
  assert.is(await pins.getEntryName(group, { owner: '', session: other }), undefined)
})

test("no session name can resolve to another owner's session", async () => {
  const pins = createSessionAffinity(createLocalState(fakeClock()))
  await pins.moveSession(group, { owner: 'alice', session: 'talk' }, entry)
  assert.is(await pins.getEntryName(group, { owner: 'alice', session: 'talk' }), 'one/m')
  for (const separator of ['', '/', '-', '\n', '\0'])
    for (const session of [`alice${separator}talk`, `talk${separator}alice`, 'talk'])
      for (const owner of ['', 'bob']) assert.is(await pins.getEntryName(group, { owner, session }), undefined)
})
