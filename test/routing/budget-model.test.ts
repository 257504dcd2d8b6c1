import fc from 'fast-check'
import { createHedgeBudget, createRetryBudget } from '../../src/routing/budget.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('budgets, against a model')

type Step = 'request' | 'a rush of requests' | 'spend' | 'a rush of spending' | { passMs: number }

const RUSH = 59 // earns just less than a whole one

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Step>('request', 'a rush of requests', 'spend', 'a rush of spending') },
  { weight: 1, arbitrary: fc.record({ passMs: fc.constantFrom(1, 99, 100, 900, 5_000, 60_000) }) },
)

/** In hundredths, so that nothing is rounded. */
interface Terms {
  atFirst: number
  aRequest: number
  aMillisecond: number
  cap: number
}

const budgets = {
  retries: { create: createRetryBudget, terms: { atFirst: 1_000, aRequest: 20, aMillisecond: 1, cap: 10_000 } },
  'second attempts': { create: createHedgeBudget, terms: { atFirst: 0, aRequest: 5, aMillisecond: 0, cap: 1_000 } },
}

function createModel({ atFirst, aRequest, aMillisecond, cap }: Terms) {
  let held = atFirst
  const gain = (hundredths: number) => {
    held = Math.min(cap, held + hundredths)
  }
  return {
    request: () => gain(aRequest),
    pass: (ms: number) => gain(ms * aMillisecond),
    /** Takes what the budget under test has answered, which rounds and so may decide either way when there is exactly one. */
    spend(isAllowed: boolean) {
      if (held !== 100) assert.is(isAllowed, held > 100)
      if (isAllowed) held -= 100
    },
  }
}

for (const [what, { create, terms }] of Object.entries(budgets)) {
  test(`${what}: over 10,000 histories as many as in the model, and never more than promised`, {
    timeoutMs: 60_000,
  }, () => {
    const seen = { allowed: 0, refused: 0 }
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let passedMs = 0
        let requests = 0
        let spent = 0
        const budget = create({ now: () => 1_000 + passedMs, sleep: () => new Promise<void>(() => {}) })
        const model = createModel(terms)

        function request() {
          requests++
          budget.earn()
          model.request()
        }

        function spend() {
          const isAllowed = budget.spend()
          model.spend(isAllowed)
          seen[isAllowed ? 'allowed' : 'refused']++
          if (isAllowed) spent++
          const promised = terms.atFirst + terms.aRequest * requests + terms.aMillisecond * passedMs
          assert.ok(spent * 100 <= promised, `${spent} for ${requests} requests in ${passedMs} ms`)
        }

        for (const one of steps) {
          if (typeof one === 'object') {
            passedMs += one.passMs
            model.pass(one.passMs)
          } else {
            const act = one.includes('request') ? request : spend
            for (let left = one.startsWith('a rush') ? RUSH : 1; left > 0; left--) act()
          }
        }
      }),
      { numRuns: 10_000 },
    )
    assert.ok(seen.allowed > 5_000 && seen.refused > 50_000, JSON.stringify(seen))
  })
}
