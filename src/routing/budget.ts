import type { Clock } from '../types.ts'

/** A budget for calls beyond the first of each request. */
export interface Budget {
  /** Adds the share of one request. */
  earn(): void
  /** Takes one call from the budget; `false` when it is used up. */
  spend(): boolean
}

/** The budget for retries. Where only cooling targets are left, a retry helps less, and leaves a tenth of the budget to others. */
export interface RetryBudget extends Budget {
  spend(call?: { isCooling: boolean }): boolean
}

const SECOND = 1_000

/**
 * The budget for retries, which keeps them from multiplying an outage: in each second ten, plus 20 % of its requests. Nothing is carried
 * over, or an outage would cost more after good times. A second begins when the one before ends, after a pause with the next request.
 */
export function createRetryBudget(clock: Clock): RetryBudget {
  let beganAt = Number.NEGATIVE_INFINITY
  let requests = 0
  let retries = 0

  function startSecond() {
    const now = clock.now()
    const passed = now - beganAt
    if (passed >= 0 && passed < SECOND) return
    beganAt = passed >= 0 && passed < 2 * SECOND ? beganAt + SECOND : now
    requests = retries = 0
  }

  return {
    earn() {
      startSecond()
      requests++
    },
    spend({ isCooling } = { isCooling: false }) {
      startSecond()
      if (retries + 1 > (10 + requests / 5) * (isCooling ? 0.9 : 1)) return false
      retries++
      return true
    },
  }
}

/** A budget whose calls may turn out not to be made. */
export interface HedgeBudget extends Budget {
  /** Puts back what was taken for a call that was not made. */
  giveBack(): void
}

const HEDGES_SAVED = 10

/** The budget for hedges: 5 % of the requests, of which at most ten are saved up. */
export function createHedgeBudget(): HedgeBudget {
  let left = 0 // in twentieths, so that nothing is rounded

  function add(twentieths: number) {
    left = Math.min(HEDGES_SAVED * 20, left + twentieths)
  }

  return {
    earn: () => add(1),
    spend() {
      if (left < 20) return false
      left -= 20
      return true
    },
    giveBack: () => add(20),
  }
}
