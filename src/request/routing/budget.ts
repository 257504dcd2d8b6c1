import type { Clock } from '../../types.ts'

/** A budget for each request's calls beyond the first. */
export interface Budget {
  /** Adds one request's share. */
  earn(): void
  /** Takes one call from the budget. Returns `false` if it is used up. */
  spend(): boolean
}

/** The budget for retries. A retry at a cooling target is less likely to succeed, so it leaves a tenth of the budget to other retries. */
export interface RetryBudget extends Budget {
  spend(call?: { isCooling: boolean }): boolean
  /** Returns an unused call to the budget. */
  refund(): void
}

const SECOND_MS = 1_000

/**
 * Creates the budget for retries, which keeps them from amplifying an outage: ten per second, plus 20% of the requests in that second. Unused retries
 * don't carry over, because an outage after a quiet period would then cause more of them. A second begins when the previous one ends, or with the
 * first request after a pause.
 */
export function createRetryBudget(clock: Clock): RetryBudget {
  let startedAt = Number.NEGATIVE_INFINITY
  let requestCount = 0
  let retryCount = 0

  function startSecond() {
    const now = clock.now()
    const elapsedMs = now - startedAt
    if (elapsedMs >= 0 && elapsedMs < SECOND_MS) return
    startedAt = elapsedMs >= 0 && elapsedMs < 2 * SECOND_MS ? startedAt + SECOND_MS : now
    requestCount = retryCount = 0
  }

  return {
    earn() {
      startSecond()
      requestCount++
    },
    spend({ isCooling } = { isCooling: false }) {
      startSecond()
      if (retryCount + 1 > (10 + requestCount / 5) * (isCooling ? 0.9 : 1)) return false
      retryCount++
      return true
    },
    refund() {
      startSecond()
      retryCount = Math.max(0, retryCount - 1)
    },
  }
}

/** A budget for calls that may be abandoned before they are made. */
export interface HedgeBudget extends Budget {
  /** Returns a call that wasn't made to the budget. */
  refund(): void
}

const MAX_SAVED_HEDGES = 10

/** Creates the budget for hedges: 5% of the requests, saving up at most ten. */
export function createHedgeBudget(): HedgeBudget {
  let balance = 0 // in twentieths of a call, so that nothing is rounded

  function add(shares: number) {
    balance = Math.min(MAX_SAVED_HEDGES * 20, balance + shares)
  }

  return {
    earn: () => add(1),
    spend() {
      if (balance < 20) return false
      balance -= 20
      return true
    },
    refund: () => add(20),
  }
}
