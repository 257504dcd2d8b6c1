import type { Clock } from '../types.ts'

/** A share of the requests, for what must not multiply them. */
export interface Budget {
  /** One more request has come in. */
  earn(): void
  /** Takes one out of the budget; `false` when it is used up. */
  spend(): boolean
}

interface Terms {
  /** Of the requests. */
  share: number
  perSecond: number
  /** What quiet times may save up. */
  cap: number
}

/** Keeps retries from multiplying an outage: 20 % of the requests, plus ten a second. */
export const createRetryBudget = (clock: Clock): Budget => createBudget(clock, { share: 0.2, perSecond: 10, cap: 100 })

/** Second attempts while the first is under way: never more than 5 % of the requests. */
export const createHedgeBudget = (clock: Clock): Budget => createBudget(clock, { share: 0.05, perSecond: 0, cap: 10 })

function createBudget(clock: Clock, { share, perSecond, cap }: Terms): Budget {
  let tokens = perSecond
  let filledAt = clock.now()

  function refill() {
    const now = clock.now()
    tokens = Math.min(cap, tokens + (Math.max(0, now - filledAt) / 1000) * perSecond)
    filledAt = now
  }

  return {
    earn() {
      tokens = Math.min(cap, tokens + share)
    },
    spend() {
      refill()
      if (tokens < 1) return false
      tokens -= 1
      return true
    },
  }
}
