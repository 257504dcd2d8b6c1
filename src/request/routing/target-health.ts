import { once } from '../../lib/promises.ts'
import type { Clock } from '../../types.ts'
import { createCallWindows } from './call-windows.ts'
import type { ScopedHealthSettings } from './failure-class.ts'
import type { HealthFacts } from './health-entry.ts'
import type { HealthTarget } from './health-subject.ts'
import { type CircuitPermit, createPermit } from './permit.ts'
import { defaultHealthTerms } from './request-rules.ts'
import type * as FailureCode from './unhealthy-targets.ts'
import type { CooldownState, FailureTerms, UnhealthyTargets } from './unhealthy-targets.ts'

/** The health of targets for requests with the same health rules. */
export interface TargetHealth {
  /** Returns the target's cooldown, or `undefined` if it may be used. */
  getCooldown(target: HealthTarget): CooldownState | undefined
  beginCall(target: HealthTarget): CircuitPermit
  /**
   * For a request without another target, returns a permit when its turn comes, or the target's cooldown if another request has failed there.
   * `disconnected` settles when the client disconnects.
   */
  takeTurn(target: HealthTarget, disconnected: Promise<unknown>): Promise<CircuitPermit | CooldownState>
}

/**
 * The health of providers, connections, and models on connections, in memory. A failing target is skipped during a cooldown. Afterwards, exactly one
 * request probes it, and a success clears its failures. A change to a connection clears them too.
 */
export interface Health extends TargetHealth {
  /** Returns the same health under other rules. Under a combo's rules, only the combo's own requests count. */
  withSettings(options: ScopedHealthSettings): TargetHealth
  /** The data for `listHealthEntries` and `listTargetStates`. */
  facts: HealthFacts
  /** Clears the failures of one connection, its models, and its provider, or all failures. */
  reset(connectionId?: string): void
}

let failureCode: typeof FailureCode | undefined

/** Lazy-loads the code that tracks failures. Failures reported earlier count once it has loaded. */
export const loadFailureCode = once(async () => {
  failureCode = await import('./unhealthy-targets.ts')
  return failureCode
})

/** Creates a gateway's health, without failures, under the default rules. `random` returns a number in [0, 1). */
export function createHealth({ clock, random }: { clock: Clock; random: () => number }): Health {
  const windows = createCallWindows(() => clock.now())
  let latestNumber = 0 // orders calls and cooldowns, because several may have the same time
  const getNextNumber = () => ++latestNumber
  let unhealthyTargets: UnhealthyTargets | undefined

  function withSettings(terms: ScopedHealthSettings): TargetHealth {
    let failureTerms: FailureTerms | undefined
    const getFailureTerms = () => (failureTerms ??= unhealthyTargets?.withTerms(terms))
    const permitOptions = {
      countSuccess: (target: HealthTarget) => windows.recordAtAllLevels(target, terms),
      getHandler: getFailureTerms,
      reportFailure(handle: (handler: FailureTerms) => void) {
        function handleWith({ createUnhealthyTargets }: typeof FailureCode) {
          unhealthyTargets ??= createUnhealthyTargets({ clock, random, windows, nextOrder: getNextNumber })
          failureTerms ??= unhealthyTargets.withTerms(terms)
          handle(failureTerms)
        }
        if (failureCode) handleWith(failureCode)
        else void loadFailureCode().then(handleWith, () => {})
      },
    }
    const beginCall = (target: HealthTarget) =>
      createPermit(target, { callNumber: getNextNumber(), probe: getFailureTerms()?.startProbe(target) }, permitOptions)

    return {
      getCooldown: (target) => getFailureTerms()?.getCooldown(target),
      beginCall,
      takeTurn: async (target, disconnected) =>
        getFailureTerms()?.takeTurn(target, { disconnected, beginCall }) ?? beginCall(target),
    }
  }

  return {
    ...withSettings(defaultHealthTerms),
    withSettings,
    get facts() {
      return { windows, records: unhealthyTargets?.records, now: () => clock.now() }
    },
    reset(connectionId) {
      unhealthyTargets?.records.reset(connectionId)
      windows.reset(connectionId)
    },
  }
}
