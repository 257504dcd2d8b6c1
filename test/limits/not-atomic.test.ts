import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createLedger } from '../../src/features/limits/ledger/ledger.ts'
import { nextTurn, platformClock, startIdleTimer } from '../../src/platform.ts'
import type { Stored } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { assertReserved, getTotals, key } from './support/ledgers.ts'

const test = suite('limits on a non-atomic store')

test('a single process counts exactly, even if reads return the state before its last writes', async () => {
  const memory = memoryStorage()
  let isLate = false
  let seen: Stored | undefined
  const storage = {
    ...memory,
    atomic: false,
    async get(name: string) {
      if (!isLate) seen = await memory.get(name)
      return seen
    },
  }
  const ledger = createLedger({
    storage,
    clock: platformClock,
    random: Math.random,
    startTimer: startIdleTimer,
    nextTurn,
    onError: (error) => assert.unreachable(String(error)),
  })
  const scope = key({ requests: { total: 10 } })
  const send = () => ledger.reserve([scope], { fixed: { requests: 1 } })
  for (let count = 0; count < 4; count++) {
    assertReserved(await send()).settle({ requests: 1 })
    await ledger.waitForWrites()
  }
  await ledger.getStates(scope)
  isLate = true
  for (let count = 4; count < 10; count++) {
    assertReserved(await send()).settle({ requests: 1 })
    await ledger.waitForWrites()
  }
  assert.equal(getTotals(await ledger.getStates(scope)), [{ used: 10, reserved: 0, unsettled: 0, remaining: 0 }])
})
