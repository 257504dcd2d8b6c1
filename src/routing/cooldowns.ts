import type { Clock } from '../types.ts'
import { type Cooling, type FailureClass, type HealthLevel, ofProvider, unsteady } from './failure-class.ts'
import type { HealthRecord, HealthRecords, HealthTarget } from './health-records.ts'

/** The parts of a failure that health uses. */
export interface HealthFailure {
  class: FailureClass
  /** What it counts against; default: that of its class. */
  level?: HealthLevel
  message: string
  /** The wait that the provider asked for. */
  retryAfterMs?: number | undefined
}

/** A failure, and the number of its call in the order of all calls and cooldowns. */
type FailedCall = HealthFailure & { began: number }

/** Counts failures in the records of health, and sets their cooldowns. */
export interface Cooldowns {
  /** A call has failed; `cooling` is that of its class. It counts at every level that it says something about. */
  failed(target: HealthTarget, failure: FailedCall, cooling: Cooling): void
  /** A stream broke off after its beginning. */
  cut(target: HealthTarget, failure: FailedCall): void
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

/** Did the cooldown begin after that call, whose outcome then says nothing about it? */
export const isNewer = ({ retryAt, cooledIn }: HealthRecord, began: number): boolean =>
  retryAt !== undefined && cooledIn > began

/** A wait shorter than the first back-off is believed once: a target that keeps asking for it must still get longer cooldowns. */
const isBelieved = (asked: number | undefined, { baseMs }: Terms, { times }: HealthRecord): asked is number =>
  asked !== undefined && (asked >= baseMs || times === 1)

const backOff = ({ baseMs, maxMs }: Terms, { times }: HealthRecord) => Math.min(maxMs, baseMs * 2 ** (times - 1))

/** Makes the cooldowns of some records. `nextOrder`: the next number in the order of all calls and cooldowns. */
export function createCooldowns({
  clock,
  random,
  records,
  nextOrder,
}: {
  clock: Clock
  random: () => number
  records: HealthRecords
  nextOrder: () => number
}): Cooldowns {
  function count(record: HealthRecord, cooling: Terms, failure: FailedCall) {
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
    record.cooledIn = nextOrder()
    record.reason = failure.class
    record.message = failure.message.slice(0, MAX_MESSAGE)
  }

  /** Counts a failure against the connection as well: a failing model alone does not, but calls of two models that break off do. */
  function countForConnection(target: HealthTarget, failure: FailedCall) {
    const record = records.at(target, 'connection')
    record.models.add(target.model)
    const after = record.models.size > 1 ? unsteady.after : Number.POSITIVE_INFINITY
    count(record, { ...unsteady, after }, { ...failure, retryAfterMs: undefined })
  }

  function countForProvider(target: HealthTarget, failure: FailedCall) {
    const record = records.at(target, 'provider')
    record.connections.set(target.connection.id, target.connection.updatedAt)
    record.models.add(failure.level === 'connection' ? ANY_MODEL : target.model)
    const isOfMany = record.models.size > 1 || record.models.has(ANY_MODEL) // one bad model takes no other with it
    const isWide = isOfMany && record.connections.size >= PROVIDER_CONNECTIONS
    count(record, isWide ? PROVIDER : { ...PROVIDER, after: Number.POSITIVE_INFINITY }, {
      ...failure,
      retryAfterMs: undefined,
    })
  }

  return {
    failed(target, failure, cooling) {
      const level = failure.level ?? cooling.level
      count(records.at(target, level), cooling, failure)
      if (failure.class === 'network' && level === 'model') countForConnection(target, failure)
      if (ofProvider.has(failure.class)) countForProvider(target, failure)
    },
    cut(target, failure) {
      const record = records.at(target, 'model')
      record.isCut = true
      count(record, unsteady, failure)
    },
  }
}
