import { startDeadline } from '../../lib/deadline.ts'
import type { Clock } from '../../types.ts'
import { type CooldownDependencies, createCooldowns, type HealthFailure, isConclusive, isNewer } from './cooldowns.ts'
import { type FailureClass, failureRules, type ScopedHealthSettings } from './failure-class.ts'
import {
  createHealthRecords,
  type HealthRecord,
  type HealthRecords,
  type Probe,
  type ProbeResult,
  startProbe,
} from './health-records.ts'
import type { HealthTarget } from './health-subject.ts'
import type { CircuitPermit, OutcomeReports, PermittedCall } from './permit.ts'

/** Why a target is skipped, and when that ends (epoch ms; infinite while another request probes it). */
export interface CooldownState {
  level: HealthRecord['level']
  class: FailureClass
  retryAt: number
  /** The end of its cooldown, even while a probe is in flight. */
  dueAt: number
  /**
   * Whether every call before then would fail, because the provider requested the wait, rejects the key, or lacks the model. Otherwise the target is
   * tried if no other is left.
   */
  isMandatory: boolean
}

/** The targets with recent failures. */
export interface UnhealthyTargets {
  records: HealthRecords
  /** Returns what the failures mean for requests under the given terms. */
  withTerms(terms: ScopedHealthSettings): FailureTerms
}

/** The effects of failures on requests with the same terms. */
export interface FailureTerms extends OutcomeReports {
  getCooldown(target: HealthTarget): CooldownState | undefined
  /** Returns the probe that a call to the target starts, or `undefined` if the target is healthy. */
  startProbe(target: HealthTarget): PermittedCall['probe']
  /** See `TargetHealth`. `begin` creates the permit. */
  takeTurn(target: HealthTarget, options: TurnOptions): Promise<CircuitPermit | CooldownState>
}

/** Creates the failure records and the cooldowns that they start. Lazy-loaded. */
export function createUnhealthyTargets(dependencies: Omit<CooldownDependencies, 'records'>): UnhealthyTargets {
  const records = createHealthRecords()
  return {
    records,
    withTerms: (terms) => createFailureTerms(terms, { ...dependencies, records }),
  }
}

function createFailureTerms(terms: ScopedHealthSettings, dependencies: CooldownDependencies): FailureTerms {
  const { combo } = terms
  const { records, clock } = dependencies
  const cooldowns = createCooldowns(terms, dependencies)

  function getCooldown(target: HealthTarget): CooldownState | undefined {
    if (records.isEmpty()) return undefined
    const now = clock.now()
    let worst: CooldownState | undefined
    for (const { level, retryAt: dueAt, isProbing, reason, isRequestedWait } of records.findRecords(target, combo)) {
      if (dueAt === undefined || (dueAt <= now && !isProbing)) continue
      const retryAt = isProbing ? Number.POSITIVE_INFINITY : dueAt
      const isMandatory = isRequestedWait === true || failureRules[reason].isLasting === true
      const cooldown = { level, class: reason, retryAt, dueAt, isMandatory }
      if (!worst || isMoreSevere(cooldown, worst)) worst = cooldown
    }
    return worst
  }

  /** Lists the records that began before the call. */
  const listOlderRecords = ({ target, callNumber }: PermittedCall): readonly HealthRecord[] =>
    records.isEmpty() ? NONE : records.findRecords(target, combo).filter((record) => !isNewer(record, callNumber))

  /** Clears a record's failures, unless it has newer ones. */
  function endFailures(record: HealthRecord, { target, callNumber }: PermittedCall): void {
    if (isNewer(record, callNumber)) return
    if (record.level === 'model' && isSporadic(record.reason)) delete record.retryAt
    else cooldowns.forget(record, target)
  }

  return {
    getCooldown,
    startProbe(target) {
      const unhealthy = records.isEmpty() ? NONE : records.findRecords(target, combo).filter(isInCooldown)
      if (unhealthy.length === 0) return undefined
      const now = clock.now()
      const probed = listDue(unhealthy, now)
      return { records: probed, end: startProbe({ unhealthy, probed, now }) }
    },
    takeTurn: (target, options) => takeTurn(target, { ...options, clock, combo, records, getCooldown }),
    hasCutStreams: (call) => listOlderRecords(call).some(({ isCut }) => isCut),
    succeed(call) {
      call.probe?.end('answered')
      for (const record of listOlderRecords(call))
        if (!call.hasBegun || record.isCut) cooldowns.forget(record, call.target)
    },
    beginStream(call) {
      call.probe?.end('answered')
      for (const record of listOlderRecords(call)) {
        if (record.isCut) delete record.retryAt
        else cooldowns.forget(record, call.target)
      }
    },
    breakOff({ target, callNumber, isCounted }, failure) {
      const { cooldown } = failureRules[failure.class]
      const failed = { ...failure, began: callNumber, isCounted }
      if (cooldown?.starts === 'at-once') cooldowns.fail(target, failed, cooldown)
      else if (cooldown) cooldowns.breakOff(target, failed)
    },
    fail(call, failure) {
      const { target, callNumber, probe } = call
      const { cooldown, fault } = failureRules[failure.class]
      if (failure.isOwnCredential && fault === 'account') return probe?.end('dropped')
      probe?.end(getProbeResult(failure, cooldown !== undefined))
      if (cooldown) cooldowns.fail(target, { ...failure, began: callNumber }, cooldown)
      else for (const record of probe?.records ?? NONE) endFailures(record, call)
    },
  }
}

function getProbeResult(failure: HealthFailure, affectsHealth: boolean): ProbeResult {
  if (!affectsHealth) return 'answered'
  return isConclusive(failure) ? 'failed' : 'dropped'
}

const NONE: readonly HealthRecord[] = []

const isInCooldown = ({ retryAt }: HealthRecord) => retryAt !== undefined
const listDue = (unhealthy: readonly HealthRecord[], now: number) => unhealthy.filter((record) => isDue(record, now))
const isDue = ({ retryAt, isProbing }: HealthRecord, now: number) =>
  retryAt !== undefined && retryAt <= now && !isProbing

/** Returns whether a cooldown of this class needs more than one failure. */
const isSporadic = (reason: FailureClass) => failureRules[reason].cooldown?.starts === 'by-share'

/** Returns whether the first cooldown is worse: mandatory ones are worse than others, and longer ones are worse than shorter ones. */
const isMoreSevere = (one: CooldownState, other: CooldownState) =>
  one.isMandatory === other.isMandatory ? one.retryAt > other.retryAt : one.isMandatory

/** The longest time that other requests wait for a call's outcome. */
const MAX_WAIT_MS = 5_000

interface TurnOptions {
  /** Settles when the client disconnects. */
  left: Promise<unknown>
  begin(target: HealthTarget): CircuitPermit
}

interface TurnDependencies extends TurnOptions {
  clock: Clock
  /** The combo whose own health rules apply to the request. */
  combo: string | undefined
  records: HealthRecords
  getCooldown(target: HealthTarget): CooldownState | undefined
}

/**
 * Waits for a request's turn if its only target is unhealthy. During a mandatory cooldown, one request at a time calls the target, and the others
 * wait for its outcome. After a success, all of them continue. After a failure that every call would have, they get the target's cooldown. After any
 * other failure, the next request calls the target. While a call has no outcome, one more may follow every five seconds, and the others get the
 * cooldown.
 */
async function takeTurn(
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
    const ending = await waitForProbe(since + MAX_WAIT_MS - now, { ended: current.result, left, clock })
    if (hasDisconnected) return cooldown
    const after = ending === 'failed' ? getCooldown(target) : undefined
    if (after) return after
  }
}

interface ProbeWait {
  ended: Probe['result']
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
