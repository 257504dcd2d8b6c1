import type { Clock } from '../types.ts'
import { type Cooling, coolings, type FailureClass, type HealthLevel, ofProvider, unsteady } from './failure-class.ts'
import type { HealthEntry } from './health-entry.ts'
import { createHealthRecords, type HealthRecord, type HealthTarget } from './health-records.ts'
import { startProbeCall } from './probe-call.ts'

/** The parts of a failure that health uses. */
export interface HealthFailure {
  class: FailureClass
  /** What it counts against; default: that of its class. */
  level?: HealthLevel
  message: string
  /** The wait that the provider asked for. */
  retryAfterMs?: number | undefined
}

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

type Terms = Omit<Cooling, 'level'>

/** The cooldown of a provider, after so many consecutive failures at two or more of its connections. */
const PROVIDER: Terms = { after: 5, baseMs: 5_000, maxMs: 60_000 }
const PROVIDER_CONNECTIONS = 2
const ANY_MODEL = ''
/** The longest wait that a provider may ask for. */
const MAX_ASKED_MS = 60 * 60 * 1_000
/** The longest message that is kept, in characters. */
const MAX_MESSAGE = 300
/**
 * Back-offs are up to this fraction longer, so that instances do not probe in step. Waits that a provider asks for are kept as they are.
 */
const JITTER = 0.1

const NONE: HealthRecord[] = []

const isDue = ({ retryAt, probing }: HealthRecord, now: number) => retryAt !== undefined && retryAt <= now && !probing

/** Did the cooldown begin after that call, whose outcome then says nothing about it? */
const isNewer = ({ retryAt, cooledIn }: HealthRecord, began: number) => retryAt !== undefined && cooledIn > began

/** Does the class need several consecutive failures? */
const isUnsteady = (reason: FailureClass) => (coolings[reason]?.after ?? 1) > 1

/** A wait shorter than the first back-off is believed once: a target that keeps asking for it must still get longer cooldowns. */
const isBelieved = (asked: number | undefined, { baseMs }: Terms, { times }: HealthRecord): asked is number =>
  asked !== undefined && (asked >= baseMs || times === 1)

const backOff = ({ baseMs, maxMs }: Terms, { times }: HealthRecord) => Math.min(maxMs, baseMs * 2 ** (times - 1))

/** Makes the health of a gateway without failures. `random`: a random number in [0, 1). */
export function createHealth({ clock, random }: { clock: Clock; random: () => number }): Health {
  const records = createHealthRecords()
  let order = 0 // of calls and cooldowns, which time alone does not tell

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
      cut(failure) {
        const record = records.at(target, 'model')
        record.isCut = true
        count(record, unsteady, { ...failure, began })
      },
      failed(failure) {
        const cooling = coolings[failure.class]
        end?.(cooling ? 'failed' : 'answered')
        if (!cooling) return probed.forEach(isBack)
        const level = failure.level ?? cooling.level
        count(records.at(target, level), cooling, { ...failure, began })
        if (failure.class === 'network' && level === 'model') countForConnection(target, { ...failure, began })
        if (ofProvider.has(failure.class)) countForProvider(target, { ...failure, began })
      },
    }
  }

  function count(record: HealthRecord, cooling: Terms, failure: HealthFailure & { began: number }) {
    const now = clock.now()
    const asked = failure.retryAfterMs === undefined ? undefined : Math.min(failure.retryAfterMs, MAX_ASKED_MS)
    if (record.failures === 0) record.since = now
    record.failures += 1
    const { retryAt } = record
    const isUnderWay = retryAt !== undefined && (retryAt > now || record.probing || isNewer(record, failure.began))
    if (isUnderWay) {
      if (asked !== undefined) leaveAlone(record, asked, failure)
      return
    }
    record.reason = failure.class
    record.message = failure.message.slice(0, MAX_MESSAGE)
    if (retryAt === undefined && record.failures < cooling.after && !asked) return
    record.times += 1
    const ms = isBelieved(asked, cooling, record)
      ? asked
      : Math.ceil(backOff(cooling, record) * (1 + JITTER * random()))
    leaveAlone(record, ms, failure)
  }

  /** Starts or extends a cooldown; one under way is never shortened. */
  function leaveAlone(record: HealthRecord, ms: number, failure: HealthFailure) {
    const now = clock.now()
    const until = now + Math.ceil(ms)
    if (record.retryAt !== undefined && until <= Math.max(now, record.retryAt)) return
    record.retryAt = until
    record.cooledIn = ++order
    record.reason = failure.class
    record.message = failure.message.slice(0, MAX_MESSAGE)
  }

  /** Counts a failure against the connection as well: a failing model alone does not, but calls of two models that break off do. */
  function countForConnection(target: HealthTarget, failure: HealthFailure & { began: number }) {
    const record = records.at(target, 'connection')
    record.models.add(target.model)
    const after = record.models.size > 1 ? unsteady.after : Number.POSITIVE_INFINITY
    count(record, { ...unsteady, after }, { ...failure, retryAfterMs: undefined })
  }

  function countForProvider(target: HealthTarget, failure: HealthFailure & { began: number }) {
    const record = records.at(target, 'provider')
    record.connections.add(target.connection.id)
    record.models.add(failure.level === 'connection' ? ANY_MODEL : target.model)
    const isOfMany = record.models.size > 1 || record.models.has(ANY_MODEL) // one bad model takes no other with it
    const isWide = isOfMany && record.connections.size >= PROVIDER_CONNECTIONS
    count(record, isWide ? PROVIDER : { ...PROVIDER, after: Number.POSITIVE_INFINITY }, {
      ...failure,
      retryAfterMs: undefined,
    })
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
