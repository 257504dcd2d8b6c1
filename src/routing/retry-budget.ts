import type { Clock } from '../types.ts'

/** Keeps retries from multiplying an outage: 20 % of the requests, plus ten a second. */
export interface RetryBudget {
  /** One more request has come in. */
  earn(): void
  /** Takes one retry out of the budget; `false` when it is used up. */
  spend(): boolean
}

const SHARE = 0.2
const PER_SECOND = 10
/** Retries saved up in quiet times. */
const CAP = 100

export function createRetryBudget(clock: Clock): RetryBudget {
  let tokens = PER_SECOND
  let filledAt = clock.now()

  function refill() {
    const now = clock.now()
    tokens = Math.min(CAP, tokens + (Math.max(0, now - filledAt) / 1000) * PER_SECOND)
    filledAt = now
  }

  return {
    earn() {
      tokens = Math.min(CAP, tokens + SHARE)
    },
    spend() {
      refill()
      if (tokens < 1) return false
      tokens -= 1
      return true
    },
  }
}
