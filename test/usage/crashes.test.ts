import fc from 'fast-check'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createUsageOperations, type UsageOperations } from '../../src/features/usage/operations/usage-operations.ts'
import type { StoredRequest } from '../../src/features/usage/request-record.ts'
import type { UsageStore } from '../../src/features/usage/usage.ts'
import type { Storage } from '../../src/types.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { noAccounts, noNames, openInstance, requestAt } from './support/instances.ts'

const test = suite('usage with crashes and several instances')

/** Opens a connection to a shared store that can be killed. After that, nothing reaches the storage. */
function killable(shared: Storage) {
  let left = Number.POSITIVE_INFINITY
  const never = new Promise<never>(() => {})
  const storage: Storage = {
    ...shared,
    get: (...args) => (left > 0 ? shared.get(...args) : never),
    list: (...args) => (left > 0 ? shared.list(...args) : never),
    set: (...args) => (left-- > 0 ? shared.set(...args) : never),
    delete: (...args) => (left-- > 0 ? shared.delete(...args) : never),
  }

  function killAfter(writes: number): void {
    left = writes
  }

  return { storage, killAfter }
}

interface Instance {
  usage: UsageStore
  api: Pick<UsageOperations<unknown>, 'summary' | 'requests'>
  killAfter(writes: number): void
}

const ALL = { from: '2025-12-01', limit: 1_000 }

async function allRequests(api: Pick<UsageOperations<unknown>, 'summary' | 'requests'>): Promise<StoredRequest[]> {
  const found: StoredRequest[] = []
  for (let before: string | undefined; ; ) {
    const page = await api.requests({ ...ALL, limit: 7, ...(before !== undefined && { before }) })
    found.push(...page.requests)
    if (page.before === undefined) return found
    before = page.before
  }
}

/** Returns the totals of requests by key. */
function sumsOf(requests: readonly StoredRequest[]) {
  const sums: Record<string, [requests: number, input: number, nano: number]> = {}
  for (const { keyId = '', tokens, costUsd = 0 } of requests) {
    const [count, input, nano] = sums[keyId] ?? [0, 0, 0]
    sums[keyId] = [count + 1, input + (tokens?.input ?? 0), nano + Math.round(costUsd * 1e9)]
  }
  return sums
}

async function shownSums(api: Pick<UsageOperations<unknown>, 'summary' | 'requests'>, by: string) {
  const sums: Record<string, [requests: number, input: number, nano: number]> = {}
  const { rows } = await api.summary({ from: '2025-12-01', by })
  for (const { keyId = '', requests, tokens, costUsd } of rows) {
    const [count, input, nano] = sums[keyId] ?? [0, 0, 0]
    sums[keyId] = [count + requests, input + tokens.input, nano + Math.round(costUsd * 1e9)]
  }
  return sums
}

async function settle(clock: FakeClock): Promise<void> {
  await clock.advance(0)
  await clock.advance(0)
}

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      of: fc.nat(2),
      key: fc.nat(5),
      times: fc.integer({ min: 1, max: 130 }),
      ago: fc.nat(3 * 3_600_000),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 200_000 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('kill' as const), of: fc.nat(2), key: fc.nat(5), writes: fc.nat(30) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close' as const), of: fc.nat(2) }) },
)

for (const atomic of [true, false])
  test(`totals match the requests and no written request is lost, even if instances are killed at any time (${atomic ? 'atomic storage' : 'storage that is not atomic'})`, {
    timeoutMs: 300_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const clock = fakeClock()
        const shared: Storage = { ...memoryStorage({ clock }), atomic }
        const written = new Set<string>() // the IDs of requests that have reached the storage
        const requested = new Map<string, StoredRequest>()
        const watched: Storage = {
          ...shared,
          async set(key, value, options) {
            const done = await shared.set(key, value, options)
            if (key.startsWith('usage/journal/'))
              for (const id of requested.keys()) if (value.includes(id)) written.add(id)
            return done
          },
        }
        const open = (): Instance => {
          const { storage, killAfter } = killable(watched)
          const usage = openInstance(storage, clock)
          return {
            usage,
            killAfter,
            api: createUsageOperations({ usage, clock, store: noNames, accounts: noAccounts }),
          }
        }
        const instances = [open(), open(), open()]
        let input = 1
        function send({ of, key, times, ago }: { of: number; key: number; times: number; ago: number }): void {
          for (let nth = 0; nth < times; nth++) {
            const at = clock.now() - (nth % 3 === 0 ? ago : 0)
            const request = requestAt(at, { keyId: `k${(key + nth) % 6}`, input: input++ })
            requested.set(request.id, request)
            instances[of]?.usage.storeRequest(request)
          }
        }
        for (const one of steps) {
          if (one.do === 'ask') send(one)
          if (one.do === 'wait') await clock.advance(one.ms)
          if (one.do === 'kill') {
            send({ ...one, times: 5, ago: 0 })
            await clock.advance(125_000)
            instances[one.of]?.killAfter(one.writes)
            send({ ...one, times: 1, ago: 0 }) // makes the batches fold
            await clock.advance(2_000)
            instances[one.of]?.killAfter(0)
            instances[one.of] = open()
          }
          if (one.do === 'close') {
            await instances[one.of]?.usage.close()
            instances[one.of] = open()
          }
          await settle(clock)
        }
        await clock.advance(1_500)
        const reader = open().api
        const found = await allRequests(reader)
        const ids = found.map(({ id }) => id)
        assert.equal(ids, [...ids].sort().reverse(), 'the newest first')
        assert.is(new Set(ids).size, ids.length, 'no request twice')
        assert.equal(
          [...written].filter((id) => !ids.includes(id)),
          [],
          'what was written is found',
        )
        for (const by of ['key,hour', 'key,day', 'key', 'key,target,user'])
          assert.equal(await shownSums(reader, by), sumsOf(found), by)
        await Promise.all(instances.map(({ usage }) => usage.close()))
        // another instance replaces each killed one
        const heir = open()
        for (let turns = 0; turns < 3; turns++) {
          heir.usage.storeRequest(requestAt(clock.now(), { keyId: 'heir' }))
          await clock.advance(11 * 60_000)
        }
        await heir.usage.close()
        assert.equal(await shared.list('usage/journal/'), [])
        const later = await allRequests(reader)
        for (const by of ['key,hour', 'key,day']) assert.equal(await shownSums(reader, by), sumsOf(later), by)
        assert.equal(
          later.filter(({ keyId }) => keyId !== 'heir').map(({ id }) => id),
          ids,
        )
      }),
      { numRuns: atomic ? 20 : 8 },
    )
  })

test('a suspended instance continues after another instance has folded some of its batches', async () => {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const errors: unknown[] = []
  const first = openInstance(storage, clock, undefined, { warn() {}, error() {} }, (error) => errors.push(error))
  const other = openInstance(storage, clock)
  const api = createUsageOperations({ usage: first, clock, store: noNames, accounts: noAccounts })
  for (let turn = 0; turn < 3; turn++) {
    for (let nth = 0; nth < 5; nth++) first.storeRequest(requestAt(clock.now(), { keyId: `k${nth}`, input: 3 }))
    await clock.advance(1_000)
    await clock.advance(11 * 60_000)
    other.storeRequest(requestAt(clock.now(), { keyId: 'other', input: 3 }))
    await clock.advance(1_000)
    first.storeRequest(requestAt(clock.now(), { keyId: 'k1', input: 3 }))
    await clock.advance(1_000)
  }
  await Promise.all([first.close(), other.close()])
  const { totals } = await api.summary({ from: '2025-12-01' })
  assert.equal([totals.requests, totals.tokens.input], [21, 63])
  assert.is((await api.requests({ limit: 100 })).requests.length, 21)
  assert.equal(await storage.list('usage/journal/'), [])
  assert.equal(errors, [])
})
