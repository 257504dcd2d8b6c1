import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createLedger } from '../../src/features/limits/ledger/ledger.ts'
import { nextTurn, platformClock, startIdleTimer } from '../../src/platform.ts'
import { withTimeouts } from '../../src/records/storage-access.ts'
import { busyMs, roundsUntil } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the cost of enforcing limits')

const CLIENTS = 32
const REQUESTS = 6_400
const MOST_US = 15

const open = () =>
  createLedger({
    storage: withTimeouts(memoryStorage(), platformClock),
    clock: platformClock,
    random: Math.random,
    startTimer: startIdleTimer,
    nextTurn,
    onError: (error) => assert.unreachable(String(error)),
  })

test(`a reservation and its settlements take at most ${MOST_US} µs of CPU time`, { timeoutMs: 300_000 }, async () => {
  const ledger = open()
  const scope = { scope: 'key', id: 'one', limits: { usd: { day: 1_000_000 } } } as const
  const output = { tokens: 4_096, minTokens: 1_024, usdPerToken: 0.000015 }
  const request = async () => {
    const held = await ledger.reserve([scope], { fixed: { requests: 1, parallel: 1, tokens: 500, usd: 0.001 }, output })
    await nextTurn()
    if (held.kind !== 'reserved') return assert.unreachable(JSON.stringify(held))
    held.settle({ tokens: 700, usd: 0.002 }, ['tokens', 'usd'])
    held.settle({ requests: 1 }, ['requests', 'parallel'])
    await nextTurn()
  }
  const client = async () => {
    for (let count = 0; count < REQUESTS / CLIENTS; count++) await request()
  }
  const rounds = await roundsUntil(MOST_US, async () => {
    const before = busyMs()
    await Promise.all(Array.from({ length: CLIENTS }, client))
    return ((busyMs() - before) * 1_000) / REQUESTS
  })
  assert.ok(Math.min(...rounds) <= MOST_US, `µs in each round: ${rounds.map((us) => us.toFixed(1)).join(' ')}`)
})

test('idle accounts are dropped from memory, but their counters are kept', { timeoutMs: 300_000 }, async () => {
  const ledger = open()
  const limits = { requests: { day: 2 } }
  const spend = async (id: number) => {
    const held = await ledger.reserve([{ scope: 'key', id: String(id), limits }], { fixed: { requests: 1 } })
    if (held.kind === 'reserved') held.settle({ requests: 1 })
    return held.kind
  }
  const getKeys = (count: number) => Array.from({ length: count }, (_, id) => id)
  const sizes: number[] = []
  for (let first = 0; first < 30_000; first += 5_000) {
    await Promise.all(getKeys(5_000).map((id) => spend(first + id)))
    await ledger.waitForWrites()
    sizes.push(ledger.scopesInMemory)
  }
  assert.ok(Math.max(...sizes) <= 10_000, `accounts in memory: ${sizes}`)
  assert.is(await spend(0), 'reserved')
  assert.is(await spend(0), 'rejected')
})
