import { memoryStorage } from '../../adapters/storage/memory.ts'
import { REVOKED_KEY } from '../../src/records/record-collections.ts'
import type { Storage } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { getCode, START_S, tokenWorld } from './support/token-world.ts'

const test = suite('revoked tokens')

/** Creates a store that counts its reads, with or without `watch`. */
function countedStorage({ isWatched }: { isWatched: boolean }) {
  const { watch, ...storage } = memoryStorage()
  let reads = 0
  const counted: Storage = {
    ...storage,
    ...(isWatched && watch && { watch }),
    get(key) {
      if (key === REVOKED_KEY) reads++
      return storage.get(key)
    },
  }
  return { storage: counted, reads: () => reads }
}

const readRecord = async (storage: Storage) => JSON.parse((await storage.get(REVOKED_KEY))?.value ?? 'null')

test("revoking an account's tokens invalidates all of its tokens, and no others", async () => {
  const { mint, verify, revoke } = tokenWorld()
  const alice = await mint({ account: 'alice' })
  const bob = await mint({ account: 'bob' })
  await verify(alice.token)
  await revoke('alice')
  assert.is(await getCode(verify(alice.token)), 'TOKEN_REVOKED')
  await verify(bob.token)
})

test('tokens minted after a revocation work immediately', async () => {
  const { mint, verify, revoke } = tokenWorld()
  await revoke('alice')
  const { token } = await mint({ account: 'alice' })
  await verify(token)
  await revoke('alice')
  assert.is(await getCode(verify(token)), 'TOKEN_REVOKED')
  await verify((await mint({ account: 'alice' })).token)
})

test('another instance rejects revoked tokens within a second, or immediately if the storage is watched', async () => {
  for (const isWatched of [true, false]) {
    const { storage } = countedStorage({ isWatched })
    const first = tokenWorld({ storage })
    const other = tokenWorld({ storage, clock: first.clock })
    const { token } = await first.mint({ account: 'alice' })
    await other.verify(token)
    await first.revoke('alice')
    if (!isWatched) await first.clock.advance(1_000)
    assert.is(await getCode(other.verify(token)), 'TOKEN_REVOKED', String(isWatched))
  }
})

test('minting and verifying 50 tokens reads the revocations only once', async () => {
  const { storage, reads } = countedStorage({ isWatched: true })
  const { mint, verify } = tokenWorld({ storage })
  for (let index = 0; index < 50; index++) await verify((await mint({ account: `a${index}` })).token)
  assert.is(reads(), 1)
  const unwatched = countedStorage({ isWatched: false })
  const other = tokenWorld({ storage: unwatched.storage })
  for (let index = 0; index < 50; index++) await other.verify((await other.mint({ account: `a${index}` })).token)
  assert.is(unwatched.reads(), 1)
})

test('a revocation covers tokens minted by an instance whose clock is 5 seconds ahead', async () => {
  const { storage, clock, revoke } = tokenWorld()
  const ahead = tokenWorld({ storage, clock: { ...clock, now: () => clock.now() + 5_000 } })
  const { token } = await ahead.mint({ account: 'alice' })
  await revoke('alice')
  assert.is(await getCode(ahead.verify(token)), 'TOKEN_REVOKED')
})

test('concurrent revocations are all stored', async () => {
  const { storage, clock } = tokenWorld()
  const worlds = [1, 2, 3, 4].map(() => tokenWorld({ storage, clock }))
  await Promise.all(worlds.flatMap(({ revoke }, index) => [0, 1, 2, 3, 4].map((value) => revoke(`${index} ${value}`))))
  const { all, refs } = await readRecord(storage)
  assert.is(all, 0)
  assert.is(Object.keys(refs).length, 20)
})

test('after a day, revocations are merged into the revocation time for all accounts', async () => {
  const { storage, clock, revoke } = tokenWorld()
  await revoke('alice')
  await clock.advance(60_000)
  await revoke('bob')
  await clock.advance(86_400_000 + 65_000 - 60_000)
  await revoke('carol')
  assert.equal(Object.keys((await readRecord(storage)).refs), ['ref of alice', 'ref of bob', 'ref of carol'])
  await clock.advance(6_000)
  await revoke('dave')
  const { all, refs } = await readRecord(storage)
  assert.is(all, (START_S + 5) * 1_000)
  assert.equal(Object.keys(refs), ['ref of bob', 'ref of carol', 'ref of dave'])
})

test("beyond 10,000 entries or the storage's limit, the older half of the revocations is merged", async () => {
  for (const [largestValueBytes, most] of [
    [undefined, 10_000],
    [4_800, 100],
  ] as const) {
    const memory = memoryStorage()
    const storage: Storage = { ...memory, ...(largestValueBytes !== undefined && { largestValueBytes }) }
    const { clock, mint, verify, revoke } = tokenWorld({ storage })
    const entries = Array.from({ length: most }, (_, index) => [
      `r${index}`,
      (START_S + Math.floor(index / 100)) * 1_000,
    ])
    await storage.set(REVOKED_KEY, JSON.stringify({ all: 0, refs: Object.fromEntries(entries) }))
    const early = await mint({ account: 'alice' })
    await clock.advance(600_000)
    const late = await mint({ account: 'alice' })
    await revoke('bob')
    const { all, refs } = await readRecord(storage)
    assert.is(Object.keys(refs).length, most / 2)
    assert.is(all, (START_S + Math.floor(most / 2 / 100)) * 1_000)
    assert.is(await getCode(verify(early.token)), 'TOKEN_REVOKED')
    await verify(late.token)
  }
})

test('known revocations apply while the storage is unavailable, and a damaged record rejects all tokens', async () => {
  const memory = memoryStorage()
  let isUnavailable = false
  const storage: Storage = {
    ...memory,
    get: async (key) => {
      if (isUnavailable) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
      return memory.get(key)
    },
  }
  const { mint, verify, revoke, clock } = tokenWorld({ storage })
  const alice = await mint({ account: 'alice' })
  const bob = await mint({ account: 'bob' })
  await revoke('alice')
  await verify(bob.token)
  isUnavailable = true
  await clock.advance(2_000)
  assert.is(await getCode(verify(alice.token)), 'TOKEN_REVOKED')
  await verify(bob.token)
  assert.is(await getCode(tokenWorld({ storage }).verify(bob.token)), 'STORAGE_UNAVAILABLE')
  isUnavailable = false
  for (const damaged of ['', '{}', '{"all":0,"refs":{"a":"b"}}', '[]']) {
    await memory.set(REVOKED_KEY, damaged)
    await clock.advance(2_000)
    assert.is(await getCode(verify(bob.token)), 'STORAGE_FAILED', damaged)
  }
})
