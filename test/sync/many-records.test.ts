import { fakeClock } from '../support/clock.ts'
import { busyMs, roundsUntil } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'
import { withQuickCrypto } from './support/quick-crypto.ts'
import { openSide } from './support/sides.ts'

const test = suite('many records in a replica')
const COUNT = 5_000
/** The time limit per record in ms, or 0.3 s for 100,000 records. */
const MS_EACH = 0.003

test('checking unchanged keys takes at most three microseconds per key', () =>
  withQuickCrypto(async () => {
    const { store, replica } = openSide({ side: 'cloud', clock: fakeClock() })
    const vault = await store.keyring()
    const key = { createdAt: '2026-01-01T00:00:00.000Z', isActive: true, sealedKey: '' }
    for (let index = 0; index < COUNT; index++) {
      const sha256 = index.toString(16).padStart(64, '0')
      await store.keys.insert(await vault.digestBySha256(sha256), {
        ...key,
        id: `k${index}`,
        name: `key ${index}`,
        sha256,
      })
    }
    const mirror = replica('mirror')
    for (let isComplete = false; !isComplete; ) {
      const { states, more } = await mirror.listUnseen(200)
      const seen = states.map(({ collection, id, revision }) => ({
        collection,
        id,
        revision,
        activeRevision: revision,
      }))
      await mirror.confirm(seen)
      isComplete = !more
    }
    const times = await roundsUntil(COUNT * MS_EACH, async () => {
      const before = busyMs()
      assert.equal((await mirror.listUnseen(200)).states, [])
      return busyMs() - before
    })
    assert.ok(Math.min(...times) <= COUNT * MS_EACH, `${times} ms`)
  }))
