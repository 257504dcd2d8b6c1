import type { ConnectionRecord } from '../store/store.ts'
import type { Clock } from '../types.ts'
import { createCallWindows } from './call-windows.ts'
import { createCooldowns } from './cooldowns.ts'
import { defaultHealthTerms, type FailureClass, lasting, type ScopedTerms } from './failure-class.ts'
import type { HealthEntry, TargetState } from './health-entry.ts'
import { createHealthRecords, type HealthRecord, type HealthTarget } from './health-records.ts'
import { startProbeCall } from './probe-call.ts'
import { createTrial, type Trial } from './trial.ts'

/** Why a target is passed over, and until when (epoch ms; infinite while another request probes it). */
export interface Standing {
  level: HealthRecord['level']
  class: FailureClass
  retryAt: number
  /** When its cooldown ends, even while it is probed. */
  dueAt: number
  /**
   * Is nothing gained by another call before then: a wait that the provider asked for, a refused key, a missing model? Otherwise the target
   * is tried when no other is left.
   */
  isFirm: boolean
}

/** The health of targets, as the requests see it that are judged by the same terms. */
export interface TargetHealth {
  /** The target's standing; `undefined` when it may be used. */
  standingOf(target: HealthTarget): Standing | undefined
  begin(target: HealthTarget): Trial
  /**
   * For a request without another target: resolves to its trial when its turn comes, or to the target's standing after another request has
   * failed there. `left` settles when the client no longer waits.
   */
  turn(target: HealthTarget, left: Promise<unknown>): Promise<Trial | Standing>
}

/**
 * The health of providers, connections and models on connections, in memory. A target that fails is passed over during a cooldown; after it
 * exactly one request probes it, and a success ends its failures. A change of a connection forgets them.
 */
export interface Health extends TargetHealth {
  /** The same health under other terms; those of a combo judge by the combo's own requests alone. */
  under(terms: ScopedTerms): TargetHealth
  /** The health entries of these connections. */
  list(connections: readonly HealthTarget['connection'][]): Promise<HealthEntry[]>
  /** What is known of the targets of these connections. */
  targets(connections: readonly ConnectionRecord[]): Promise<TargetState[]>
  /** Forgets the failures of one connection, its models and its provider, or all. */
  reset(connectionId?: string): void
}

const NONE: HealthRecord[] = []

const isStanding = ({ retryAt }: HealthRecord) => retryAt !== undefined
const dueAmong = (standing: readonly HealthRecord[], now: number) => standing.filter((record) => isDue(record, now))
const isDue = ({ retryAt, probing }: HealthRecord, now: number) => retryAt !== undefined && retryAt <= now && !probing

/** Makes the health of a gateway without failures, under the default terms. `random`: a random number in [0, 1). */
export function createHealth({ clock, random }: { clock: Clock; random: () => number }): Health {
  const records = createHealthRecords()
  const windows = createCallWindows(() => clock.now())
  let order = 0 // of calls and cooldowns, which time alone does not tell

  function under(terms: ScopedTerms): TargetHealth {
    const { combo } = terms
    const cooldowns = createCooldowns(terms, { clock, random, records, windows, nextOrder: () => ++order })

    function standingOf(target: HealthTarget): Standing | undefined {
      if (records.isEmpty()) return undefined
      const now = clock.now()
      let worst: Standing | undefined
      for (const { level, retryAt: dueAt, probing, reason, isAsked } of records.of(target, combo)) {
        if (dueAt === undefined || (dueAt <= now && !probing)) continue
        const retryAt = probing ? Number.POSITIVE_INFINITY : dueAt
        const isFirm = isAsked === true || lasting.has(reason)
        const standing = { level, class: reason, retryAt, dueAt, isFirm }
        if (!worst || isWorse(standing, worst)) worst = standing
      }
      return worst
    }

    function begin(target: HealthTarget): Trial {
      const began = ++order
      const shared = { began, combo, records, cooldowns }
      const standing = records.isEmpty() ? NONE : records.of(target, combo).filter(isStanding)
      if (standing.length === 0) return createTrial(target, { ...shared, probed: NONE, end: undefined })
      const now = clock.now()
      const probed = dueAmong(standing, now)
      const end = startProbeCall({ standing, probed, now })
      return createTrial(target, { ...shared, probed, end })
    }

    return {
      standingOf,
      begin,
      async turn(target, left) {
        const { takeTurn } = await import('./turn.ts')
        return takeTurn(target, { left, clock, combo, records, standingOf, begin })
      },
    }
  }

  return {
    ...under(defaultHealthTerms),
    under,
    async list(connections) {
      const { healthEntry } = await import('./health-entry.ts')
      const now = clock.now()
      return records.current(connections).map((record) => healthEntry(record, now))
    },
    async targets(connections) {
      const { targetStates } = await import('./health-entry.ts')
      return targetStates(connections, { windows, records, now: clock.now() })
    },
    reset(connectionId) {
      records.reset(connectionId)
      windows.reset(connectionId)
    },
  }
}

/** What is firm counts first, then what lasts longest. */
const isWorse = (one: Standing, other: Standing) =>
  one.isFirm === other.isFirm ? one.retryAt > other.retryAt : one.isFirm
