import type { Clock } from '../types.ts'
import { createCooldowns } from './cooldowns.ts'
import type { FailureClass } from './failure-class.ts'
import type { HealthEntry } from './health-entry.ts'
import { createHealthRecords, type HealthRecord, type HealthTarget } from './health-records.ts'
import { startProbeCall } from './probe-call.ts'
import { createTrial, type Trial } from './trial.ts'

/** Why a target is not used, and until when (epoch ms; infinite while another request probes it). */
export interface Standing {
  level: HealthRecord['level']
  class: FailureClass
  retryAt: number
  /** When its cooldown ends, even while it is probed. */
  dueAt: number
}

/**
 * The health of providers, connections and models on connections, in memory. A target that fails is not used during a cooldown; after it
 * exactly one request probes it, and a success ends its failures. A change of a connection forgets them.
 */
export interface Health {
  /** The target's standing; `undefined` when it may be used. */
  standingOf(target: HealthTarget): Standing | undefined
  begin(target: HealthTarget): Trial
  /**
   * For a request without another target: resolves to its trial when its turn comes, or to the target's standing after another request has
   * failed there. `left` settles when the client no longer waits.
   */
  turn(target: HealthTarget, left: Promise<unknown>): Promise<Trial | Standing>
  /** The health entries of these connections. */
  list(connections: readonly HealthTarget['connection'][]): Promise<HealthEntry[]>
  /** Forgets the failures of one connection, its models and its provider, or all. */
  reset(connectionId?: string): void
}

const NONE: HealthRecord[] = []

const isStanding = ({ retryAt }: HealthRecord) => retryAt !== undefined
const dueAmong = (standing: readonly HealthRecord[], now: number) => standing.filter((record) => isDue(record, now))
const isDue = ({ retryAt, probing }: HealthRecord, now: number) => retryAt !== undefined && retryAt <= now && !probing

/** Makes the health of a gateway without failures. `random`: a random number in [0, 1). */
export function createHealth({ clock, random }: { clock: Clock; random: () => number }): Health {
  const records = createHealthRecords()
  let order = 0 // of calls and cooldowns, which time alone does not tell
  const cooldowns = createCooldowns({ clock, random, records, nextOrder: () => ++order })

  function standingOf(target: HealthTarget): Standing | undefined {
    if (records.isEmpty()) return undefined
    const now = clock.now()
    let worst: Standing | undefined
    for (const { level, retryAt: dueAt, probing, reason } of records.of(target)) {
      if (dueAt === undefined || (dueAt <= now && !probing)) continue
      const retryAt = probing ? Number.POSITIVE_INFINITY : dueAt
      if (!worst || retryAt > worst.retryAt) worst = { level, class: reason, retryAt, dueAt }
    }
    return worst
  }

  function begin(target: HealthTarget): Trial {
    const began = ++order
    const standing = records.isEmpty() ? NONE : records.of(target).filter(isStanding)
    if (standing.length === 0) return createTrial(target, { began, probed: NONE, end: undefined, records, cooldowns })
    const now = clock.now()
    const probed = dueAmong(standing, now)
    const end = startProbeCall({ standing, probed, now })

    return createTrial(target, { began, probed, end, records, cooldowns })
  }

  return {
    standingOf,
    begin,
    async turn(target, left) {
      const { takeTurn } = await import('./turn.ts')
      return takeTurn(target, { left, clock, records, standingOf, begin })
    },
    async list(connections) {
      const { healthEntry } = await import('./health-entry.ts')
      const now = clock.now()
      return records.current(connections).map((record) => healthEntry(record, now))
    },
    reset: records.reset,
  }
}
