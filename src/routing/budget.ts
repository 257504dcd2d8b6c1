import type { Clock } from '../types.ts'

/** How many calls there may be besides the first of each request. */
export interface Budget {
  /** A request has come in: its share of the budget. */
  earn(): void
  /** Takes one more call out of the budget; `false` when it is used up. */
  spend(): boolean
}

const SECOND = 1_000

/**
 * Keeps retries from multiplying an outage: in each second 20 % of the requests, and ten. Nothing is saved up, or an outage after good
 * times would cost more than that. Seconds are counted from the first request after a quiet one.
 */
export function createRetryBudget(clock: Clock): Budget {
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
    spend() {
      startSecond()
      if (retries + 1 > 10 + requests / 5) return false
      retries++
      return true
    },
  }
}

const HEDGES_SAVED = 10

/** Second attempts while the first is under way: never more than 5 % of the requests, of which ten can be saved up. */
export function createHedgeBudget(): Budget {
  let left = 0 // in twentieths, so that nothing is rounded
  return {
    earn() {
      left = Math.min(HEDGES_SAVED * 20, left + 1)
    },
    spend() {
      if (left < 20) return false
      left -= 20
      return true
    },
  }
}
