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
export interface HeldPart {
  counters: ScopeCounters
  limits: UsageLimits
  grant: Grant
}

/**
 * Reserves in all scopes or in none. Each scope must occur only once, and in the same order for all requests. With several scopes, the reservations
 * are pending until all scopes have decided. Until then, other requests wait if only a pending reservation would cause them to be rejected. A request
 * waits for a scope only while it has no reservation in later ones, so requests can't deadlock.
 */
export async function holdAll(holds: readonly ScopeHold[]): Promise<HeldPart[] | LimitRejection> {
  const [only] = holds
  if (only && holds.length === 1) {
    const outcome = await only.counters.hold(only.requested, { isPending: false, waits: true })
    return outcome.kind === 'granted'
      ? [{ counters: only.counters, limits: only.requested.limits, grant: outcome }]
      : pickRejection([outcome])
  }
  const grants = new Map<ScopeHold, Grant>()
  const undo = (which: readonly ScopeHold[]) => {
    for (const hold of which) {
      const grant = grants.get(hold)
      if (grant) hold.counters.change({ ...grant, released: grant.amounts, decided: grant.amounts, spent: NO_AMOUNTS })
      grants.delete(hold)
    }
  }
  const requestHolds = async (which: readonly ScopeHold[], waits: boolean): Promise<HoldOutcome[]> => {
    const settled = await Promise.allSettled(
      which.map(async (hold) => {
        const outcome = await hold.counters.hold(hold.requested, { isPending: true, waits })
        if (outcome.kind === 'granted') grants.set(hold, outcome)
        return outcome
      }),
    )
    const failed = settled.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
    return settled.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  }
  try {
    for (let pending = holds; ; pending = holds.filter((hold) => !grants.has(hold))) {
      const outcomes = await requestHolds(pending, false)
      if (outcomes.some(({ kind }) => kind === 'rejected')) return pickRejection(outcomes)
      const blocking = pending[outcomes.findIndex(({ kind }) => kind === 'blocked')]
      if (!blocking) return listConfirmed(holds, grants)
      undo(holds.slice(holds.indexOf(blocking)))
      const [outcome] = await requestHolds([blocking], true)
      if (outcome?.kind !== 'granted') return pickRejection(outcome ? [outcome] : [])
    }
  } finally {
    undo(holds) // no-op once all holds are confirmed
  }
}

/** Picks the rejection to report if several scopes reject a request. */
function pickRejection(outcomes: readonly HoldOutcome[]): LimitRejection {
  const rejections = outcomes.filter((outcome) => outcome.kind === 'rejected')
  const [first] = rejections
  if (!first) throw new TypeError('A scope on hold neither granted nor rejected the request.')
  return rejections.reduce(pickStricterRejection, first)
}

/** Confirms the reservations in all scopes, so they are no longer pending. Reduces the output to what fits within every scope. Clears `grants`. */
function listConfirmed(holds: readonly ScopeHold[], grants: Map<ScopeHold, Grant>): HeldPart[] {
  const output = Math.min(
    ...Array.from(grants.values(), ({ outputTokens }) => outputTokens ?? Number.POSITIVE_INFINITY),
  )
  return holds.flatMap((hold) => {
    const { counters, requested } = hold
    const grant = grants.get(hold)
    if (!grant) return []
    grants.delete(hold)
    const excess = getExcess(grant, requested, output)
    counters.change({ ...grant, released: excess, decided: grant.amounts, spent: NO_AMOUNTS })
    if (excess === NO_AMOUNTS) return { counters, limits: requested.limits, grant }
    const limits = grant.limits.map((state) => {
      const released = state.unit === 'usd' ? fromNanoUsd(excess.usd) : excess[state.unit]
      return { ...state, reserved: state.reserved - released, remaining: state.remaining + released }
    })
    const amounts = addOutput(requested.fixed, requested.output, output)
    return { counters, limits: requested.limits, grant: { ...grant, amounts, outputTokens: output, limits } }
  })
}

function getExcess(
  grant: Grant,
  { fixed, output }: { fixed: IntegerAmounts; output?: RequestedOutput | undefined },
  tokens: number,
) {
  if (!output || grant.outputTokens === undefined || grant.outputTokens <= tokens) return NO_AMOUNTS
  const total = addOutput(fixed, output, tokens)
  return { ...NO_AMOUNTS, tokens: grant.amounts.tokens - total.tokens, usd: grant.amounts.usd - total.usd }
}
