import { startDeadline } from '../../lib/deadline.ts'
import type { Clock } from '../../types.ts'
import { createCallWindows } from './call-windows.ts'
import { createCooldowns } from './cooldowns.ts'
import { defaultHealthTerms, type FailureClass, failureRules, type ScopedHealthSettings } from './failure-class.ts'
import type { HealthFacts } from './health-entry.ts'
import {
  createHealthRecords,
  type HealthRecord,
  type HealthRecords,
  type HealthTarget,
  type Probe,
  type ProbeResult,
  startProbe,
} from './health-records.ts'
import { type CircuitPermit, createPermit } from './permit.ts'

/** The longest time that other requests wait for the outcome of a call. */
const MAX_WAIT_MS = 5_000

interface TurnDependencies {
  /** Settles when the client disconnects. */
  left: Promise<unknown>
  clock: Clock
  /** The combo whose own health terms apply to the request. */
  combo: string | undefined
  records: HealthRecords
  getCooldown(target: HealthTarget): CooldownState | undefined
  begin(target: HealthTarget): CircuitPermit
}

/**
 * Waits for the turn of a request whose only target is unhealthy. During a mandatory cooldown, one request at a time calls the target, and the others
 * wait for its outcome. After a success, all of them continue. After a failure that every call would have, they get the target's cooldown. After any
 * other failure, the next request calls. While a call has no outcome, one more may follow every five seconds, and the rest get the cooldown.
 */
export async function takeTurn(
  target: HealthTarget,
  { left, clock, combo, records, getCooldown, begin }: TurnDependencies,
): Promise<CircuitPermit | CooldownState> {
  const since = clock.now()
  let hasDisconnected = false
  void left.then(() => {
    hasDisconnected = true
  })
  const probeCall = () => records.findRecords(target, combo).find((record) => record.probeCall)?.probeCall
  for (;;) {
    const cooldown = getCooldown(target)
    const current = cooldown?.isMandatory && probeCall()
    if (!current) return begin(target)
    const now = clock.now()
    if (now - since >= MAX_WAIT_MS) {
      if (now - current.since < MAX_WAIT_MS) return cooldown
      records.release(target, combo)
      return begin(target)
    }
    const ending = await waitForProbe(since + MAX_WAIT_MS - now, { ended: current.ended, left, clock })
    if (hasDisconnected) return cooldown
    const after = ending === 'failed' ? getCooldown(target) : undefined
    if (after) return after
  }
}

interface ProbeWait {
  ended: Probe['ended']
  left: Promise<unknown>
  clock: Clock
}

function waitForProbe(ms: number, { ended, left, clock }: ProbeWait): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const cancelDeadline = startDeadline(clock, ms, () => resolve('dropped'))
    function settle(ending: ProbeResult) {
      cancelDeadline()
      resolve(ending)
    }
    void ended.then(settle)
    void left.then(() => settle('dropped'))
  })
}

/** The reason why a target is skipped, and when that ends (epoch ms; infinite while another request probes it). */
export interface CooldownState {
  level: HealthRecord['level']
  class: FailureClass
  retryAt: number
  /** The end of its cooldown, even while it is probed. */
  dueAt: number
  /**
   * Whether every call before then would fail, because the provider requested the wait, rejects the key, or lacks the model. Otherwise the target is
   * tried if no other is left.
   */
  isMandatory: boolean
}

/** The health of targets for requests under the same terms. */
export interface TargetHealth {
  /** Returns the target's cooldown; `undefined` if it may be used. */
  getCooldown(target: HealthTarget): CooldownState | undefined
  begin(target: HealthTarget): CircuitPermit
  /**
   * Returns the permit of a request without another target when its turn comes, or the target's cooldown after another request has failed there.
   * `left` settles when the client disconnects.
   */
  takeTurn(target: HealthTarget, left: Promise<unknown>): Promise<CircuitPermit | CooldownState>
}

/**
 * The health of providers, connections, and models on connections, in memory. A failing target is skipped during a cooldown. Afterwards, exactly one
 * request probes it, and a success ends its failures. A change of a connection clears them.
 */
export interface Health extends TargetHealth {
  /** Returns the same health under other terms. Under a combo's terms, only the combo's own requests count. */
  withSettings(options: ScopedHealthSettings): TargetHealth
  /** The data for `listHealthEntries` and `listTargetStates`. */
  facts: HealthFacts
  /** Clears the failures of one connection, its models, and its provider, or all failures. */
  reset(connectionId?: string): void
}

const NONE: HealthRecord[] = []

const isInCooldown = ({ retryAt }: HealthRecord) => retryAt !== undefined
const listDue = (unhealthy: readonly HealthRecord[], now: number) => unhealthy.filter((record) => isDue(record, now))
const isDue = ({ retryAt, probing }: HealthRecord, now: number) => retryAt !== undefined && retryAt <= now && !probing

/** Creates the health of a gateway, without failures, under the default terms. `random`: a random number in [0, 1). */
export function createHealth({ clock, random }: { clock: Clock; random: () => number }): Health {
  const records = createHealthRecords()
  const windows = createCallWindows(() => clock.now())
  let order = 0 // orders calls and cooldowns, since several may have the same time

  function withSettings(options: ScopedHealthSettings): TargetHealth {
    const { combo } = options
    const cooldowns = createCooldowns(options, { clock, random, records, windows, nextOrder: () => ++order })

    function getCooldown(target: HealthTarget): CooldownState | undefined {
      if (records.isEmpty()) return undefined
      const now = clock.now()
      let worst: CooldownState | undefined
      for (const { level, retryAt: dueAt, probing, reason, isRequestedWait } of records.findRecords(target, combo)) {
        if (dueAt === undefined || (dueAt <= now && !probing)) continue
        const retryAt = probing ? Number.POSITIVE_INFINITY : dueAt
        const isMandatory = isRequestedWait === true || failureRules[reason].isLasting === true
        const cooldown = { level, class: reason, retryAt, dueAt, isMandatory }
        if (!worst || isWorse(cooldown, worst)) worst = cooldown
      }
      return worst
    }

    function begin(target: HealthTarget): CircuitPermit {
      const began = ++order
      const shared = { began, combo, records, cooldowns }
      const unhealthy = records.isEmpty() ? NONE : records.findRecords(target, combo).filter(isInCooldown)
      if (unhealthy.length === 0) return createPermit(target, { ...shared, probed: NONE, end: undefined })
      const now = clock.now()
      const probed = listDue(unhealthy, now)
      const end = startProbe({ unhealthy, probed, now })
      return createPermit(target, { ...shared, probed, end })
    }

    return {
      getCooldown: getCooldown,
      begin,
      async takeTurn(target, left) {
        return takeTurn(target, { left, clock, combo, records, getCooldown: getCooldown, begin })
      },
    }
  }

  return {
    ...withSettings(defaultHealthTerms),
    withSettings,
    facts: { windows, records, now: () => clock.now() },
    reset(connectionId) {
      records.reset(connectionId)
      windows.reset(connectionId)
    },
  }
}

/** Returns whether the first cooldown is worse: mandatory ones are worse than others, and longer ones are worse than shorter ones. */
const isWorse = (one: CooldownState, other: CooldownState) =>
  one.isMandatory === other.isMandatory ? one.retryAt > other.retryAt : one.isMandatory
