import { once } from 'node:events'
import { writeSync } from 'node:fs'
import process from 'node:process'
import { createLedger } from '../../../src/features/limits/ledger/ledger.ts'
import { nextTurn, platformClock, startIdleTimer } from '../../../src/platform.ts'
import { withTimeouts } from '../../../src/records/storage-access.ts'
import { openStore } from '../../services/open-store.ts'
import { BUDGET, LANES, SHARED } from './budget.ts'

/*
 * A process that spends a budget shared with other processes: `spender <store>`. It prints "ready", waits for a line, and prints "passed" before each
 * request that it admits. It ends when the budget is exhausted, or when other processes have had the remainder reserved for two seconds.
 */

const [location = ''] = process.argv.slice(2)
const { storage, end } = await openStore(location)
const ledger = createLedger({
  storage: withTimeouts(storage, platformClock),
  clock: platformClock,
  random: Math.random,
  startTimer: startIdleTimer,
  nextTurn,
  onError: (error) => print(`failed ${error}`),
})
const scope = { ...SHARED, limits: { requests: { total: BUDGET } } }
const HELD_MS = 2_000

print('ready')
await once(process.stdin.setEncoding('utf8'), 'data')
process.stdin.destroy()
await Promise.all(Array.from({ length: LANES }, spend))
await ledger.close()
await storage.close?.()
await end()
print('done')

async function spend(): Promise<void> {
  let heldSince: number | undefined
  for (;;) {
    const outcome = await ledger.reserve([scope], { fixed: { requests: 1, parallel: 1 } })
    if (outcome.kind === 'reserved') {
      print('passed')
      outcome.settle({ requests: 1 })
      heldSince = undefined
    } else if (outcome.why === 'used-up') return
    else {
      heldSince ??= Date.now()
      if (Date.now() - heldSince > HELD_MS) return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

/** Prints a line, unbuffered. Waits while the pipe is full, because its reader may be busy. */
function print(line: string): void {
  for (;;) {
    try {
      return void writeSync(1, `${line}\n`)
    } catch (error) {
      if (Reflect.get(Object(error), 'code') !== 'EAGAIN') throw error
    }
  }
}
