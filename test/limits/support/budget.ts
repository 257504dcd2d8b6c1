import { createLedger, type Ledger } from '../../../src/features/limits/ledger/ledger.ts'
import { nextTurn, platformClock, startIdleTimer } from '../../../src/platform.ts'
import { withTimeouts } from '../../../src/records/storage-access.ts'
import { openStore } from '../../services/open-store.ts'
import { type Child, childProgram } from '../../storage/support/children.ts'
import { assert, suite } from '../../support/suite.ts'

/** The number of requests that all processes together may spend. */
export const BUDGET = 1_000
/** The number of concurrent requests in each process. */
export const LANES = 8
export const SHARED = { scope: 'key', id: 'shared' } as const

const PROCESSES = 4
/** The first process that has admitted this many requests is killed. */
const KILLED_AFTER = 10

/** Declares the tests for one budget that four processes share in a store. `create` creates an empty store; `end` is called after all tests. */
export function sharedBudgetConformance(
  store: string,
  { create, end }: { create(): Promise<{ place: string; remove(): Promise<void> }>; end?(): Promise<void> },
): void {
  const test = suite<{ program?: Awaited<ReturnType<typeof childProgram>> }>(`a budget of ${BUDGET} on ${store}`, {})
  const slowly = { timeoutMs: 300_000 }

  test.before(slowly, async (context) => {
    context.program = await childProgram(new URL('./spender.ts', import.meta.url))
  })
  test.after(async ({ program }) => {
    await program?.remove()
    await end?.()
  })

  test(`with ${PROCESSES} processes, exactly ${BUDGET} requests pass`, slowly, async ({ program }) => {
    const { place, remove } = await create()
    try {
      const children = Array.from({ length: PROCESSES }, () => program?.start(place) as Child) // set by `before`
      await Promise.all(children.map((child) => child.output('ready')))
      for (const child of children) child.go()
      const passed = (await Promise.all(children.map(getPassed))).reduce((a, b) => a + b)
      assert.is(passed, BUDGET)
      assert.equal(await getCounters(place), { used: BUDGET, reserved: 0, unsettled: 0, remaining: 0 })
    } finally {
      await remove()
    }
  })

  test(
    "if a process is killed, its admitted requests and reservations still count, and the budget isn't exceeded",
    slowly,
    async ({ program }) => {
      const { place, remove } = await create()
      try {
        const children = Array.from({ length: PROCESSES }, () => program?.start(place) as Child)
        await Promise.all(children.map((child) => child.output('ready')))
        for (const child of children) child.go()
        const killed = await Promise.any(children.map((child) => child.saidLines(KILLED_AFTER).then(() => child)))
        killed.kill('SIGKILL')
        const byKilled = (await killed.ended()).filter(isPassed).length
        const others = children.filter((child) => child !== killed)
        const byOthers = (await Promise.all(others.map(getPassed))).reduce((a, b) => a + b)
        const { used, reserved, unsettled, remaining } = await getCounters(place, { later: 61_000 })
        assert.equal({ reserved, remaining, all: used + unsettled }, { reserved: 0, remaining: 0, all: BUDGET })
        const unheard = BUDGET - byKilled - byOthers // reserved by the killed process, but never admitted
        assert.ok(unheard >= 0 && unheard <= unsettled, `${byKilled} + ${byOthers} passed, ${unsettled} are unsettled`)
        assert.ok(
          unsettled <= 2 * LANES,
          `${unsettled} are unsettled, but only ${LANES} were in flight and as many not written yet`,
        )
        await withLedger(place, { later: 61_000 }, (ledger) => ledger.settleLost(SHARED, 'unspent'))
        assert.equal(await getCounters(place), { used, reserved: 0, unsettled: 0, remaining: unsettled })
      } finally {
        await remove()
      }
    },
  )
}

const isPassed = (line: string) => line === 'passed'

async function getPassed(child: Child): Promise<number> {
  const lines = await child.ended()
  assert.is(lines.at(-1), 'done')
  assert.equal(
    lines.filter((line) => line.startsWith('failed')),
    [],
  )
  return lines.filter(isPassed).length
}

/** Returns the counters as seen by a process that starts now, or whose clock is ahead by `later` ms. */
async function getCounters(location: string, { later = 0 } = {}) {
  const states = await withLedger(location, { later }, (ledger) =>
    ledger.getStates({ ...SHARED, limits: { requests: { total: BUDGET } } }),
  )
  const [{ used, reserved, unsettled, remaining } = { used: 0, reserved: 0, unsettled: 0, remaining: 0 }] = states
  return { used, reserved, unsettled, remaining }
}

async function withLedger<T>(
  location: string,
  { later }: { later: number },
  action: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  const { storage, end } = await openStore(location)
  const clock = { ...platformClock, now: () => Date.now() + later }
  const ledger = createLedger({
    storage: withTimeouts(storage, clock),
    clock,
    random: Math.random,
    startTimer: startIdleTimer,
    nextTurn,
    onError: (error) => assert.unreachable(String(error)),
  })
  try {
    return await action(ledger)
  } finally {
    await ledger.close()
    await storage.close?.()
    await end()
  }
}
