import { startDeadline } from '../lib/deadline.ts'
import type { Clock } from '../types.ts'
import { createCallWindows } from './call-windows.ts'
import { createCooldowns } from './cooldowns.ts'
import { defaultHealthTerms, type FailureClass, failureRules, type ScopedTerms } from './failure-class.ts'
import type { HealthFacts } from './health-entry.ts'
import {
  createHealthRecords,
  type HealthRecord,
  type HealthRecords,
  type HealthTarget,
  type Probe,
  type ProbeEnding,
  startProbe,
} from './health-records.ts'
import { type CircuitPermit, createPermit } from './permit.ts'

/** How long other requests wait for the outcome of a call. */
const MAX_WAIT_MS = 5_000

interface TurnDependencies {
  /** Settles when the client has disconnected. */
  left: Promise<unknown>
  clock: Clock
  /** The combo whose own health terms hold for the request. */
  combo: string | undefined
  records: HealthRecords
  cooldownOf(target: HealthTarget): CooldownState | undefined
  begin(target: HealthTarget): CircuitPermit
}

/**
 * Takes the turn of a request whose only target is unhealthy. During a firm cooldown one request at a time calls the target, and the others
 * wait for its outcome. After an answer all of them go on; after a failure that every call would have, they get the target's cooldown; after
 * any other failure the next request calls. While a call has no outcome, one more may follow every five seconds, and the rest get the
 * cooldown.
 */
export async function takeTurn(
  target: HealthTarget,
  { left, clock, combo, records, cooldownOf, begin }: TurnDependencies,
): Promise<CircuitPermit | CooldownState> {
  const since = clock.now()
  let isLeft = false
  void left.then(() => {
    isLeft = true
  })
  const probeCall = () => records.recordsOf(target, combo).find((record) => record.probeCall)?.probeCall
  for (;;) {
    const cooldown = cooldownOf(target)
    const current = cooldown?.isFirm && probeCall()
    if (!current) return begin(target)
    const now = clock.now()
    if (now - since >= MAX_WAIT_MS) {
      if (now - current.since < MAX_WAIT_MS) return cooldown
      records.release(target, combo)
      return begin(target)
    }
    const ending = await within(since + MAX_WAIT_MS - now, { ended: current.ended, left, clock })
    if (isLeft) return cooldown
    const after = ending === 'failed' ? cooldownOf(target) : undefined
    if (after) return after
  }
}

interface ProbeWait {
  ended: Probe['ended']
  left: Promise<unknown>
  clock: Clock
}

function within(ms: number, { ended, left, clock }: ProbeWait): Promise<ProbeEnding> {
  return new Promise((resolve) => {
    const cancelDeadline = startDeadline(clock, ms, () => resolve('dropped'))
    function settle(ending: ProbeEnding) {
      cancelDeadline()
      resolve(ending)
    }
    void ended.then(settle)
    void left.then(() => settle('dropped'))
  })
}

/** Why a target is skipped, and until when (epoch ms; infinite while another request probes it). */
export interface CooldownState {
  level: HealthRecord['level']
  class: FailureClass
  retryAt: number
  /** When its cooldown ends, even while it is probed. */
  dueAt: number
  /**
   * Would every call before then fail, because the provider asked for the wait, refuses the key or lacks the model? Otherwise the target is
   * tried when no other is left.
   */
  isFirm: boolean
}

/** The health of targets for requests under the same terms. */
export interface TargetHealth {
  /** The target's cooldown; `undefined` when it may be used. */
  cooldownOf(target: HealthTarget): CooldownState | undefined
  begin(target: HealthTarget): CircuitPermit
  /**
   * For a request without another target: resolves to its permit when its turn comes, or to the target's cooldown after another request has
   * failed there. `left` settles when the client has disconnected.
   */
  takeTurn(target: HealthTarget, left: Promise<unknown>): Promise<CircuitPermit | CooldownState>
}

/**
 * The health of providers, connections and models on connections, in memory. A target that fails is skipped during a cooldown; afterwards
 * exactly one request probes it, and a success ends its failures. A change of a connection forgets them.
 */
export interface Health extends TargetHealth {
  /** The same health under other terms; under those of a combo only the combo's own requests count. */
  withTerms(terms: ScopedTerms): TargetHealth
  /** The state that `healthEntries` and `targetStates` show. */
  facts: HealthFacts
  /** Forgets the failures of one connection, its models and its provider, or all. */
  reset(connectionId?: string): void
}

const NONE: HealthRecord[] = []

const isCooled = ({ retryAt }: HealthRecord) => retryAt !== undefined
const dueAmong = (unhealthy: readonly HealthRecord[], now: number) => unhealthy.filter((record) => isDue(record, now))
const isDue = ({ retryAt, probing }: HealthRecord, now: number) => retryAt !== undefined && retryAt <= now && !probing

/** Makes the health of a gateway without failures, under the default terms. `random`: a random number in [0, 1). */
export function createHealth({ clock, random }: { clock: Clock; random: () => number }): Health {
  const records = createHealthRecords()
  const windows = createCallWindows(() => clock.now())
  let order = 0 // of calls and cooldowns, as several may have the same time

  function withTerms(terms: ScopedTerms): TargetHealth {
    const { combo } = terms
    const cooldowns = createCooldowns(terms, { clock, random, records, windows, nextOrder: () => ++order })

    function cooldownOf(target: HealthTarget): CooldownState | undefined {
      if (records.isEmpty()) return undefined
      const now = clock.now()
      let worst: CooldownState | undefined
      for (const { level, retryAt: dueAt, probing, reason, isAsked } of records.recordsOf(target, combo)) {
        if (dueAt === undefined || (dueAt <= now && !probing)) continue
        const retryAt = probing ? Number.POSITIVE_INFINITY : dueAt
        const isFirm = isAsked === true || failureRules[reason].isLasting === true
        const cooldown = { level, class: reason, retryAt, dueAt, isFirm }
        if (!worst || isWorse(cooldown, worst)) worst = cooldown
      }
      return worst
    }

    function begin(target: HealthTarget): CircuitPermit {
      const began = ++order
      const shared = { began, combo, records, cooldowns }
      const unhealthy = records.isEmpty() ? NONE : records.recordsOf(target, combo).filter(isCooled)
      if (unhealthy.length === 0) return createPermit(target, { ...shared, probed: NONE, end: undefined })
      const now = clock.now()
      const probed = dueAmong(unhealthy, now)
      const end = startProbe({ unhealthy, probed, now })
      return createPermit(target, { ...shared, probed, end })
    }

    return {
      cooldownOf,
      begin,
      async takeTurn(target, left) {
        return takeTurn(target, { left, clock, combo, records, cooldownOf, begin })
      },
    }
  }

  return {
    ...withTerms(defaultHealthTerms),
    withTerms,
    facts: { windows, records, now: () => clock.now() },
    reset(connectionId) {
      records.reset(connectionId)
      windows.reset(connectionId)
    },
  }
}

/** Is the first cooldown worse? A firm one is worse, else the one that lasts longer. */
const isWorse = (one: CooldownState, other: CooldownState) =>
  one.isFirm === other.isFirm ? one.retryAt > other.retryAt : one.isFirm
