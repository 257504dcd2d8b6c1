import type { Clock, HealthTerms } from '../../types.ts'
import type { CallCounts, CallWindows } from './call-windows.ts'
import {
  type CooldownRule,
  type FailureClass,
  failureRules,
  type HealthLevel,
  rejectedKeyCooldown,
  type ScopedHealthSettings,
} from './failure-class.ts'
import type { HealthRecord, HealthRecords } from './health-records.ts'
import { type HealthTarget, levels, type SubjectLevel } from './health-subject.ts'

/** The parts of a failure that affect health. */
export interface HealthFailure {
  class: FailureClass
  /** The level that the failure counts against. Default: its class's level. */
  level?: HealthLevel
  /** Whether every other call would fail as well, in which case the cooldown starts immediately. */
  isCertain?: boolean
  message: string
  /** The ID of the client's key; empty or absent if there is none. */
  owner?: string
  /** Whether the call used the caller's own credential, so that account failures don't count for others. */
  isOwnCredential?: boolean
  /** The wait that the provider requested. */
  retryAfterMs?: number | undefined
}

/** A failed call. */
interface FailedCall extends HealthFailure {
  /** The call's position in the order of all calls and cooldowns. */
  callNumber: number
  /** Whether the call was counted as a success when its stream began. */
  isCounted?: boolean
}

/** Counts failed calls, and sets the cooldowns in health records. */
export interface Cooldowns {
  /** Counts a failed call at every level that the failure affects. `rule` is its class's cooldown. */
  fail(target: HealthTarget, failure: FailedCall, rule: CooldownRule): void
  /** Counts a stream that was cut off after it had begun. */
  failStream(target: HealthTarget, failure: FailedCall): void
  /** Forgets a record's failures, and the calls that led to its cooldown. */
  forget(record: HealthRecord, target: HealthTarget): void
}

/** How long a target is out of use after one kind of failure. */
interface Backoff {
  baseMs: number
  maxMs: number
}

/** A provider's maximum cooldown, in ms. */
const PROVIDER_MAX_MS = 60_000
const MIN_PROVIDER_CONNECTIONS = 2
const MIN_REJECTED_CLIENTS = 3
const ANY_MODEL = ''
/** Maximum wait that a provider may request, in ms. */
const MAX_REQUESTED_MS = 60 * 60 * 1_000
/** Maximum length of a stored message, in characters. */
const MAX_MESSAGE_LENGTH = 300
/**
 * Maximum random extension of a back-off, as a fraction, so that instances don't probe simultaneously. Waits that a provider requests are used
 * exactly.
 */
const JITTER_SHARE = 0.1

/** Returns whether the cooldown began after the call. If so, the call's outcome reveals nothing about it. */
export const isNewerThanCall = ({ retryAt, cooldownNumber }: HealthRecord, callNumber: number): boolean =>
  retryAt !== undefined && cooldownNumber > callNumber

/**
 * Returns whether the next call would certainly fail in the same way: the key or the connection was rejected, or the wait that the provider requested
 * isn't over.
 */
export const isConclusive = ({ class: failureClass, isCertain, retryAfterMs }: HealthFailure): boolean =>
  isCertain === true || retryAfterMs !== undefined || failureRules[failureClass].isPersistent === true

/**
 * Returns whether to use the wait that the provider requested. A wait shorter than the first back-off is only used once, because a target that keeps
 * requesting it must still get longer cooldowns.
 */
const shouldUseWait = (
  retryAfterMs: number | undefined,
  { baseMs }: Backoff,
  { cooldownCount }: HealthRecord,
): retryAfterMs is number => retryAfterMs !== undefined && (retryAfterMs >= baseMs || cooldownCount === 1)

const getBackoffMs = ({ baseMs, maxMs }: Backoff, { cooldownCount }: HealthRecord) =>
  Math.min(Math.max(baseMs, maxMs), baseMs * 2 ** (cooldownCount - 1))

/** The state that cooldowns change. `nextOrder` returns the next number in the order of all calls and cooldowns. */
export interface CooldownDependencies {
  clock: Clock
  random: () => number
  records: HealthRecords
  windows: CallWindows
  nextOrder: () => number
}

/** Creates the cooldowns for requests with the given rules. */
export function createCooldowns(
  { combo, ...terms }: ScopedHealthSettings,
  dependencies: CooldownDependencies,
): Cooldowns {
  const { records, windows } = dependencies
  const { windowMs } = terms
  const termsBackoff: Backoff = { baseMs: terms.cooldownMs, maxMs: terms.maxCooldownMs }
  const providerBackoff: Backoff = { ...termsBackoff, maxMs: Math.min(termsBackoff.maxMs, PROVIDER_MAX_MS) }

  const getCounts = (target: HealthTarget, level: SubjectLevel) => windows.getCounts({ target, level, combo })

  const count = (record: HealthRecord, failure: FailedCall, options: CountOptions) =>
    countFailure(record, failure, options, dependencies)

  /**
   * Counts a 403 without a reason, which may be about the key or about one client's prompt. It counts against the key if several clients get a 403
   * with no successful call in between.
   */
  function countForKey(target: HealthTarget, failure: FailedCall) {
    if (!failure.owner) return
    const record = records.getRecord(target, 'connection')
    record.rejectedClients.add(failure.owner)
    const startsCooldown = record.rejectedClients.size >= MIN_REJECTED_CLIENTS
    count(record, startsCooldown ? { ...failure, class: 'credentials' } : failure, {
      backoff: rejectedKeyCooldown,
      startsCooldown,
    })
  }

  /**
   * Counts a network failure against the connection as well: one failing model doesn't affect the entire connection, but network failures for two
   * models do.
   */
  function countForConnection(target: HealthTarget, failure: FailedCall) {
    const record = records.getRecord(target, 'connection', combo)
    record.models.add(target.model)
    const startsCooldown = record.models.size > 1 && isDown(getCounts(target, 'connection'), terms)
    count(record, { ...failure, retryAfterMs: undefined, isCertain: false }, { backoff: termsBackoff, startsCooldown })
  }

  function countForProvider(target: HealthTarget, failure: FailedCall) {
    const record = records.getRecord(target, 'provider', combo)
    record.connections.set(target.connection.id, target.connection.updatedAt)
    record.models.add(failure.level === 'connection' ? ANY_MODEL : target.model)
    const affectsManyModels = record.models.size > 1 || record.models.has(ANY_MODEL) // one failing model must not affect other models
    const affectsProvider = affectsManyModels && record.connections.size >= MIN_PROVIDER_CONNECTIONS
    const startsCooldown = affectsProvider && isDown(getCounts(target, 'provider'), terms)
    count(
      record,
      { ...failure, retryAfterMs: undefined, isCertain: false },
      { backoff: providerBackoff, startsCooldown },
    )
  }

  return {
    fail(target, failure, rule) {
      const level = failure.level ?? rule.level
      const isNetwork = failure.class === 'network'
      const affectsProvider = failureRules[failure.class].affectsProvider === true
      // Clients may send any name, and models that don't exist must not replace the counts of real ones.
      if (failure.class !== 'model-not-found')
        windows.recordAtAllLevels(target, {
          ...{ combo, windowMs, isRecount: failure.isCounted ?? false },
          failedLevels: { model: true, connection: isNetwork || level === 'connection', provider: affectsProvider },
        })
      const startsImmediately = isConclusive(failure) || rule.starts === 'at-once'
      const { baseMs, maxMs } = rule
      count(records.getRecord(target, level, startsImmediately ? undefined : combo), failure, {
        backoff: baseMs !== undefined && maxMs !== undefined ? { baseMs, maxMs } : termsBackoff,
        startsCooldown: failure.isCertain || rule.starts === 'at-once' || isFailing(getCounts(target, level), terms),
      })
      if (isNetwork && level === 'model') countForConnection(target, failure)
      if (affectsProvider) countForProvider(target, failure)
      if (failure.class === 'forbidden') countForKey(target, failure)
    },
    failStream(target, failure) {
      const { isCounted: isRecount = false } = failure
      windows.record({ target, level: 'model', combo }, { isFailure: true, isRecount, windowMs })
      const record = records.getRecord(target, 'model', combo)
      record.hasCutStreams = true
      count(record, failure, { backoff: termsBackoff, startsCooldown: isFailing(getCounts(target, 'model'), terms) })
    },
    forget(record, target) {
      records.forget(record)
      if (record.retryAt === undefined) return
      for (const level of levels.slice(levels.indexOf(record.level))) windows.forget({ target, level, combo })
    },
  }
}

interface CountOptions {
  backoff: Backoff
  /** Whether the failure starts a cooldown if none is active. */
  startsCooldown: boolean
}

/** Counts a failure in a record, and starts or extends its cooldown, but never shortens one. */
function countFailure(
  record: HealthRecord,
  failure: FailedCall,
  { backoff, startsCooldown }: CountOptions,
  { clock, random, nextOrder }: CooldownDependencies,
): void {
  const now = clock.now()
  const { retryAfterMs } = failure
  const requestedMs = retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, MAX_REQUESTED_MS)
  const cause: Pick<HealthRecord, 'reason' | 'message'> = {
    reason: failure.class,
    message: failure.message.slice(0, MAX_MESSAGE_LENGTH),
  }
  if (record.failures === 0) record.since = now
  record.failures += 1
  const { retryAt } = record
  const isActive =
    retryAt !== undefined && (retryAt > now || record.isProbing || isNewerThanCall(record, failure.callNumber))
  let cooldownMs = requestedMs
  if (!isActive) {
    Object.assign(record, cause)
    if (retryAt === undefined && !startsCooldown && !requestedMs) return
    record.cooldownCount += 1
    if (!shouldUseWait(cooldownMs, backoff, record))
      cooldownMs = getBackoffMs(backoff, record) * (1 + JITTER_SHARE * random())
  }
  if (cooldownMs === undefined) return
  const cooldownEnd = now + Math.ceil(cooldownMs)
  if (retryAt !== undefined && cooldownEnd <= Math.max(now, retryAt)) return
  Object.assign(record, cause)
  record.retryAt = cooldownEnd
  record.isRequestedWait = retryAfterMs !== undefined
  record.isCertain = isConclusive(failure) || failureRules[failure.class].cooldown?.starts === 'at-once'
  record.cooldownNumber = nextOrder()
}

/** This many consecutive failures start a cooldown, even after successes earlier in the window. */
const MAX_CONSECUTIVE_FAILURES = 10

/** Returns whether the failure rate starts a cooldown. */
const isFailing = (counts: CallCounts, { failureShare, minCalls }: HealthTerms): boolean =>
  counts.calls >= minCalls && (counts.failures / counts.calls >= failureShare || isDown(counts, { minCalls }))

/** Returns whether enough consecutive calls have failed that the subject seems to be down. */
const isDown = ({ consecutiveFailures }: CallCounts, { minCalls }: Pick<HealthTerms, 'minCalls'>): boolean =>
  consecutiveFailures >= Math.max(MAX_CONSECUTIVE_FAILURES, minCalls)
