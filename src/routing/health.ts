import type { Clock } from '../types.ts'
import { type Cooling, coolings, type FailureClass, type HealthLevel, ofProvider, unsteady } from './failure-class.ts'
import type { HealthEntry } from './health-entry.ts'
import { createHealthRecords, type HealthRecord, type HealthTarget } from './health-records.ts'
import { startProbeCall } from './probe-call.ts'

/** A failure as far as health is concerned. */
export interface HealthFailure {
  class: FailureClass
  /** Whom it speaks against; default: as its class does. */
  level?: HealthLevel
  message: string
  /** What the provider asked for. */
  retryAfterMs?: number | undefined
}

/** Why a target is left alone, and until when (epoch ms; infinite while another request probes it). */
export interface Standing {
  level: HealthRecord['level']
  class: FailureClass
  retryAt: number
  /** The same, whether it is probed or not. */
  dueAt: number
}

/** One call to a target, so that its outcome counts and a probe is given back whatever becomes of it. */
export interface Trial {
  /** The answer is there, to its end. Of a stream that says no more than that it did not break off. */
  answered(): void
  /** Its stream has begun; `answered` or `cut` may follow. */
  begun(): void
  /** The stream that has begun broke off: a failure of the model, until another answer comes to its end. */
  cut(failure: HealthFailure): void
  failed(failure: HealthFailure): void
  /** Nobody waited for the outcome. */
  dropped(): void
}

/**
 * The health of providers, connections and models on connections, in memory. A target that fails is left alone for a while; then exactly
 * one request probes it, and its success makes all well. A change of a connection forgets what was held against it.
 */
export interface Health {
  /** `undefined` when the target may be used. */
  standingOf(target: HealthTarget): Standing | undefined
  begin(target: HealthTarget): Trial
  /**
   * For a request that has nothing else to try: its trial, or how the target stands after another request has just tried it. `left` settles
   * when nobody waits for it any more.
   */
  turn(target: HealthTarget, left: Promise<unknown>): Promise<Trial | Standing>
  /** What is not well about these connections. */
  list(connections: readonly HealthTarget['connection'][]): Promise<HealthEntry[]>
  /** Forgets what is held against one connection, its models and its provider, or against all. */
  reset(connectionId?: string): void
}

type Terms = Omit<Cooling, 'level'>

/** A provider is left alone after so many failures in a row at two or more of its connections. */
const PROVIDER: Terms = { after: 5, baseMs: 5_000, maxMs: 60_000 }
const PROVIDER_CONNECTIONS = 2
const ANY_MODEL = ''
/** Nothing that a provider asks for counts for longer. */
const MAX_ASKED_MS = 60 * 60 * 1_000
/** Providers may say a lot. */
const MAX_MESSAGE = 300
/** Back-offs are up to this much longer, so that instances do not probe in step. A wait that a provider asks for is kept as it is. */
const JITTER = 0.1

const NONE: HealthRecord[] = []

const isDue = ({ retryAt, probing }: HealthRecord, now: number) => retryAt !== undefined && retryAt <= now && !probing

/** Did it begin to cool after that call, which so can say nothing of it? */
const isNewer = ({ retryAt, cooledIn }: HealthRecord, began: number) => retryAt !== undefined && cooledIn > began

/** Does it take several failures in a row? */
const isUnsteady = (reason: FailureClass) => (coolings[reason]?.after ?? 1) > 1

/** Whoever says "now", or nearly, is believed once: a target that keeps saying so must be left alone all the same. */
const isBelieved = (asked: number | undefined, { baseMs }: Terms, { times }: HealthRecord): asked is number =>
  asked !== undefined && (asked >= baseMs || times === 1)

const backOff = ({ baseMs, maxMs }: Terms, { times }: HealthRecord) => Math.min(maxMs, baseMs * 2 ** (times - 1))

/** Health that begins with nothing held against anyone; `random` gives another number in [0, 1) with each call. */
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

    /** It is back, unless there is newer news. Of what fails now and then only a success tells that it no longer does. */
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

  /** A cooldown under way only grows: what ends sooner is no news. */
  function leaveAlone(record: HealthRecord, ms: number, failure: HealthFailure) {
    const now = clock.now()
    const until = now + Math.ceil(ms)
    if (record.retryAt !== undefined && until <= Math.max(now, record.retryAt)) return
    record.retryAt = until
    record.cooledIn = ++order
    record.reason = failure.class
    record.message = failure.message.slice(0, MAX_MESSAGE)
  }

  /** One bad model never takes its key with it, but two do whose calls break off. */
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
