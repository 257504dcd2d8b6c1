import fc from 'fast-check'
import { type Budget, createHedgeBudget, createRetryBudget } from '../../src/request/routing/budget.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('retry budgets compared with a model')

type Step = 'request' | 'a rush of requests' | 'spend' | 'a rush of spending' | { passMs: number }

const RUSH = 59 // earns just under one retry

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Step>('request', 'a rush of requests', 'spend', 'a rush of spending') },
  { weight: 1, arbitrary: fc.record({ passMs: fc.constantFrom(1, 99, 100, 900, 999, 1_000, 5_000, 60_000) }) },
)

/** A reference model of a budget, which counts in hundredths to avoid rounding. */
interface Model {
  request(nowMs: number): void
  /** Returns the available amount, and spends one if at least one is available. */
  spend(nowMs: number): number
  /** Returns the most that the budget allows since the last idle period. */
  promised(requests: number, sinceMs: number): number
}

function retries(): Model {
  let second: { from: number; held: number } | undefined
  const at = (nowMs: number) => {
    const passedMs = second ? nowMs - second.from : Number.POSITIVE_INFINITY
    if (!second || passedMs >= 1_000)
      second = { from: second && passedMs < 2_000 ? second.from + 1_000 : nowMs, held: 1_000 }
    return second
  }
  return {
    request(nowMs) {
      at(nowMs).held += 20
    },
    spend(nowMs) {
      const current = at(nowMs)
      const { held } = current
      if (held >= 100) current.held -= 100
      return held
    },
    promised: (requests, sinceMs) => 20 * requests + 1_000 * (Math.floor(sinceMs / 1_000) + 1),
  }
}

function secondAttempts(): Model {
  let held = 0
  return {
    request() {
      held = Math.min(1_000, held + 5)
    },
    spend() {
      const before = held
      if (held >= 100) held -= 100
      return before
    },
    promised: (requests) => 5 * requests + 1_000,
  }
}

const budgets: Record<string, { create(now: () => number): Budget; model(): Model }> = {
  retries: { create: (now) => createRetryBudget({ now, sleep: () => new Promise<void>(() => {}) }), model: retries },
  'second attempts': { create: createHedgeBudget, model: secondAttempts },
}

for (const [label, { create, model: createModel }] of Object.entries(budgets)) {
  test(`over 10,000 random histories, the number of ${label} matches the model and never exceeds the limit`, () => {
    const seen = { allowed: 0, refused: 0 }
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let nowMs = 1_000
        let requests = 0
        let spent = 0
        let firstMs: number | undefined
        const budget = create(() => nowMs)
        const model = createModel()

        function request() {
          firstMs ??= nowMs
          requests++
          budget.earn()
          model.request(nowMs)
        }

        function spend() {
          firstMs ??= nowMs
          const isAllowed = budget.spend()
          assert.is(isAllowed, model.spend(nowMs) >= 100)
          seen[isAllowed ? 'allowed' : 'refused']++
          if (isAllowed) spent++
          const promised = model.promised(requests, nowMs - firstMs)
          assert.ok(spent * 100 <= promised, `${spent} for ${requests} requests in ${nowMs - firstMs} ms`)
        }

        for (const step of steps) {
          if (typeof step === 'object') {
            nowMs += step.passMs
            if (step.passMs < 2_000) continue
            requests = spent = 0 // an idle period resets the budget
            firstMs = undefined
          } else {
            const act = step.includes('request') ? request : spend
            for (let left = step.startsWith('a rush') ? RUSH : 1; left > 0; left--) act()
          }
        }
      }),
      { numRuns: 10_000 },
    )
    assert.ok(seen.allowed > 5_000 && seen.refused > 50_000, JSON.stringify(seen))
  })
}

test('retries continue after the clock moves backward', () => {
  let nowMs = 1_000_000
  const budget = createRetryBudget({ now: () => nowMs, sleep: () => new Promise<void>(() => {}) })
  while (budget.spend()) nowMs += 1
  nowMs = 0
  assert.is(budget.spend(), true)
})
