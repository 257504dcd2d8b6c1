import type { Clock } from '../types.ts'
import { createCooldowns, type HealthFailure, isNewer } from './cooldowns.ts'
import { coolings, type FailureClass } from './failure-class.ts'
import type { HealthEntry } from './health-entry.ts'
import { createHealthRecords, type HealthRecord, type HealthTarget } from './health-records.ts'
import { startProbeCall } from './probe-call.ts'

/** Why a target is not used, and until when (epoch ms; infinite while another request probes it). */
export interface Standing {
  level: HealthRecord['level']
  class: FailureClass
  retryAt: number
  /** When its cooldown ends, even while it is probed. */
  dueAt: number
}

/** One call to a target, which reports its outcome. One of the methods must be called, so that a probe ends. */
export interface Trial {
  /** The answer was complete. For a stream, only that it did not break off. */
  answered(): void
  /** The stream has begun; `answered` or `cut` follows. */
  begun(): void
  /** The stream broke off after its beginning: a failure of the model, until another answer is complete. */
  cut(failure: HealthFailure): void
  failed(failure: HealthFailure): void
  /** The outcome is unknown, as the client did not wait for it. */
  dropped(): void
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

const isDue = ({ retryAt, probing }: HealthRecord, now: number) => retryAt !== undefined && retryAt <= now && !probing

/** Does the class need several consecutive failures? */
const isUnsteady = (reason: FailureClass) => (coolings[reason]?.after ?? 1) > 1

/** Makes the health of a gateway without failures. `random`: a random number in [0, 1). */
export function createHealth({ clock, random }: { clock: Clock; random: () => number }): Health {
  const records = createHealthRecords()
  let order = 0 // of calls and cooldowns, which time alone does not tell
  const cooldowns = createCooldowns({ clock, random, records, nextOrder: () => ++order })

  const heldAgainst = (target: HealthTarget) => (records.isEmpty() ? NONE : records.of(target))

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
    const now = clock.now()
    const began = ++order
    const standing = records.isEmpty() ? NONE : records.of(target).filter(({ retryAt }) => retryAt !== undefined)
    const probed = standing.length === 0 ? NONE : standing.filter((record) => isDue(record, now))
    const end = standing.length === 0 ? undefined : startProbeCall({ standing, probed, now })

    /** Ends the failures of a record, unless it has newer ones. */
    function isBack(record: HealthRecord) {
      if (isNewer(record, began)) return
      if (record.level === 'model' && isUnsteady(record.reason)) delete record.retryAt
      else records.forget(record)
    }

    let hasBegun = false
    return {
      dropped: () => end?.('dropped'),
      answered() {
        end?.('answered')
        for (const record of heldAgainst(target)) {
          if (isNewer(record, began)) continue
          if (!hasBegun || record.isCut) records.forget(record)
        }
      },
      begun() {
        hasBegun = true
        end?.('answered')
        for (const record of heldAgainst(target)) {
          if (isNewer(record, began)) continue
          if (record.isCut) delete record.retryAt
          else records.forget(record)
        }
      },
      cut: (failure) => cooldowns.cut(target, { ...failure, began }),
      failed(failure) {
        const cooling = coolings[failure.class]
        end?.(cooling ? 'failed' : 'answered')
        if (!cooling) return probed.forEach(isBack)
        cooldowns.failed(target, { ...failure, began }, cooling)
      },
    }
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
