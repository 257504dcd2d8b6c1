import { fromNanoUsd } from '../../../lib/usd.ts'
import type { UsageLimits } from '../../../types/limits.ts'
import { addOutput, type IntegerAmounts, NO_AMOUNTS, type RequestedOutput } from './amounts.ts'
import { type HoldRequest, type LimitRejection, pickStricterRejection } from './decide.ts'
import type { Grant, HoldOutcome } from './draft.ts'
import type { ScopeCounters } from './scope-counters.ts'

/** A reservation that a request needs in one scope. A request may need several. */
export interface ScopeHold {
  counters: ScopeCounters
  requested: Omit<HoldRequest, 'name'>
}

/** The reservation in one scope and the limits it was checked against. */
export interface ConfirmedHold {
  counters: ScopeCounters
  limits: UsageLimits
  grant: Grant
}

/**
 * Reserves in all scopes or in none. Each scope must occur only once, and in the same order for all requests. With several scopes, the reservations
 * are pending until all scopes have decided. Until then, other requests wait if only a pending reservation would cause them to be rejected. A request
 * waits for a scope only while it has no reservation in later ones, so requests can't deadlock.
 */
export async function holdAll(holds: readonly ScopeHold[]): Promise<ConfirmedHold[] | LimitRejection> {
  const [onlyHold] = holds
  if (onlyHold && holds.length === 1) {
    const outcome = await onlyHold.counters.hold(onlyHold.requested, { isPending: false, waits: true })
    return outcome.kind === 'granted'
      ? [{ counters: onlyHold.counters, limits: onlyHold.requested.limits, grant: outcome }]
      : pickRejection([outcome])
  }
  const grants = new Map<ScopeHold, Grant>()
  const undoHolds = (holdsToUndo: readonly ScopeHold[]) => {
    for (const hold of holdsToUndo) {
      const grant = grants.get(hold)
      if (grant)
        hold.counters.enqueueChange({ ...grant, released: grant.amounts, decided: grant.amounts, spent: NO_AMOUNTS })
      grants.delete(hold)
    }
  }
  const requestHolds = async (holdsToRequest: readonly ScopeHold[], waits: boolean): Promise<HoldOutcome[]> => {
    const results = await Promise.allSettled(
      holdsToRequest.map(async (hold) => {
        const outcome = await hold.counters.hold(hold.requested, { isPending: true, waits })
        if (outcome.kind === 'granted') grants.set(hold, outcome)
        return outcome
      }),
    )
    const failedResult = results.find((result) => result.status === 'rejected')
    if (failedResult) throw failedResult.reason
    return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  }
  try {
    for (let pendingHolds = holds; ; pendingHolds = holds.filter((hold) => !grants.has(hold))) {
      const outcomes = await requestHolds(pendingHolds, false)
      if (outcomes.some(({ kind }) => kind === 'rejected')) return pickRejection(outcomes)
      const blockingHold = pendingHolds[outcomes.findIndex(({ kind }) => kind === 'blocked')]
      if (!blockingHold) return listConfirmed(holds, grants)
      undoHolds(holds.slice(holds.indexOf(blockingHold)))
      const [outcome] = await requestHolds([blockingHold], true)
      if (outcome?.kind !== 'granted') return pickRejection(outcome ? [outcome] : [])
    }
  } finally {
    undoHolds(holds) // no-op once all holds are confirmed
  }
}

/** Picks the rejection to report if several scopes reject a request. */
function pickRejection(outcomes: readonly HoldOutcome[]): LimitRejection {
  const rejections = outcomes.filter((outcome) => outcome.kind === 'rejected')
  const [firstRejection] = rejections
  if (!firstRejection) throw new TypeError('A scope on hold neither granted nor rejected the request.')
  return rejections.reduce(pickStricterRejection, firstRejection)
}

/** Confirms the reservations in all scopes, so they are no longer pending. Reduces the output to what fits within every scope. Clears `grants`. */
function listConfirmed(holds: readonly ScopeHold[], grants: Map<ScopeHold, Grant>): ConfirmedHold[] {
  const outputTokens = Math.min(
    ...Array.from(grants.values(), ({ outputTokens }) => outputTokens ?? Number.POSITIVE_INFINITY),
  )
  return holds.flatMap((hold) => {
    const { counters, requested } = hold
    const grant = grants.get(hold)
    if (!grant) return []
    grants.delete(hold)
    const excess = getExcess(grant, requested, outputTokens)
    counters.enqueueChange({ ...grant, released: excess, decided: grant.amounts, spent: NO_AMOUNTS })
    if (excess === NO_AMOUNTS) return { counters, limits: requested.limits, grant }
    const limits = grant.limits.map((state) => {
      const released = state.unit === 'usd' ? fromNanoUsd(excess.usd) : excess[state.unit]
      return { ...state, reserved: state.reserved - released, remaining: state.remaining + released }
    })
    const amounts = addOutput(requested.fixed, requested.output, outputTokens)
    return { counters, limits: requested.limits, grant: { ...grant, amounts, outputTokens, limits } }
  })
}

function getExcess(
  grant: Grant,
  { fixed, output }: { fixed: IntegerAmounts; output?: RequestedOutput | undefined },
  tokens: number,
) {
  if (!output || grant.outputTokens === undefined || grant.outputTokens <= tokens) return NO_AMOUNTS
  const neededAmounts = addOutput(fixed, output, tokens)
  return {
    ...NO_AMOUNTS,
    tokens: grant.amounts.tokens - neededAmounts.tokens,
    usd: grant.amounts.usd - neededAmounts.usd,
  }
}
