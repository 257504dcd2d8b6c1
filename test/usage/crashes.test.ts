import fc from 'fast-check'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createUsageOperations, type UsageOperations } from '../../src/features/usage/operations/usage-operations.ts'
import type { StoredRequest } from '../../src/features/usage/request-record.ts'
import type { UsageStore } from '../../src/features/usage/usage.ts'
import type { Storage } from '../../src/types.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getRequest, noAccounts, noNames, openInstance } from './support/instances.ts'

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
function getSums(requests: readonly StoredRequest[]) {
  const totals: Record<string, [requests: number, input: number, nano: number]> = {}
  for (const { keyId = '', tokens, costUsd = 0 } of requests) {
    const [count, input, nano] = totals[keyId] ?? [0, 0, 0]
    totals[keyId] = [count + 1, input + (tokens?.input ?? 0), nano + Math.round(costUsd * 1e9)]
  }
  return totals
}

async function shownSums(api: Pick<UsageOperations<unknown>, 'summary' | 'requests'>, by: string) {
  const totals: Record<string, [requests: number, input: number, nano: number]> = {}
  const { rows } = await api.summary({ from: '2025-12-01', by })
  for (const { keyId = '', requests, tokens, costUsd } of rows) {
    const [count, input, nano] = totals[keyId] ?? [0, 0, 0]
    totals[keyId] = [count + requests, input + tokens.input, nano + Math.round(costUsd * 1e9)]
  }
  return totals
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
  test(`totals match the stored requests even if instances are killed at any time (${atomic ? 'atomic' : 'non-atomic'} storage)`, {
    timeoutMs: 300_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const clock = fakeClock()
        const shared: Storage = { ...memoryStorage({ clock }), atomic }
        const written = new Set<string>() // the IDs of requests that reached the storage
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
          for (let index = 0; index < times; index++) {
            const timestamp = clock.now() - (index % 3 === 0 ? ago : 0)
            const request = getRequest(timestamp, { keyId: `k${(key + index) % 6}`, input: input++ })
            requested.set(request.id, request)
            instances[of]?.usage.storeRequest(request)
          }
        }
        for (const step of steps) {
          if (step.do === 'ask') send(step)
          if (step.do === 'wait') await clock.advance(step.ms)
          if (step.do === 'kill') {
            send({ ...step, times: 5, ago: 0 })
            await clock.advance(125_000)
            instances[step.of]?.killAfter(step.writes)
            send({ ...step, times: 1, ago: 0 }) // triggers folding of the batches
            await clock.advance(2_000)
            instances[step.of]?.killAfter(0)
            instances[step.of] = open()
          }
          if (step.do === 'close') {
            await instances[step.of]?.usage.close()
            instances[step.of] = open()
          }
          await settle(clock)
        }
        await clock.advance(1_500)
        const reader = open().api
        const found = await allRequests(reader)
        const ids = found.map(({ id }) => id)
        assert.equal(ids, [...ids].sort().reverse(), 'newest first')
        assert.is(new Set(ids).size, ids.length, 'no request appears twice')
        assert.equal(
          [...written].filter((id) => !ids.includes(id)),
          [],
          'written requests are found',
        )
        for (const by of ['key,hour', 'key,day', 'key', 'key,target,user'])
          assert.equal(await shownSums(reader, by), getSums(found), by)
        await Promise.all(instances.map(({ usage }) => usage.close()))
        // another instance replaces each killed one
        const successor = open()
        for (let turns = 0; turns < 3; turns++) {
          successor.usage.storeRequest(getRequest(clock.now(), { keyId: 'heir' }))
          await clock.advance(11 * 60_000)
        }
        await successor.usage.close()
        assert.equal(await shared.list('usage/journal/'), [])
        const later = await allRequests(reader)
        for (const by of ['key,hour', 'key,day']) assert.equal(await shownSums(reader, by), getSums(later), by)
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
    for (let index = 0; index < 5; index++)
      first.storeRequest(getRequest(clock.now(), { keyId: `k${index}`, input: 3 }))
    await clock.advance(1_000)
    await clock.advance(11 * 60_000)
    other.storeRequest(getRequest(clock.now(), { keyId: 'other', input: 3 }))
    await clock.advance(1_000)
    first.storeRequest(getRequest(clock.now(), { keyId: 'k1', input: 3 }))
    await clock.advance(1_000)
  }
  await Promise.all([first.close(), other.close()])
  const { totals } = await api.summary({ from: '2025-12-01' })
  assert.equal([totals.requests, totals.tokens.input], [21, 63])
  assert.is((await api.requests({ limit: 100 })).requests.length, 21)
  assert.equal(await storage.list('usage/journal/'), [])
  assert.equal(errors, [])
})
