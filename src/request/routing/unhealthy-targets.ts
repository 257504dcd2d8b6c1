import { startDeadline } from '../../lib/deadline.ts'
import type { Clock } from '../../types.ts'
import {
  type CooldownDependencies,
  createCooldowns,
  type HealthFailure,
  isConclusive,
  isNewerThanCall,
} from './cooldowns.ts'
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
import type { CircuitPermit, OutcomeHandler, PermittedCall } from './permit.ts'

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
export interface FailureTerms extends OutcomeHandler {
  getCooldown(target: HealthTarget): CooldownState | undefined
  /** Returns the probe that a call to the target starts, or `undefined` if the target is healthy. */
  startProbe(target: HealthTarget): PermittedCall['probe']
  /** See `TargetHealth`. `beginCall` creates the permit. */
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
      const isMandatory = isRequestedWait === true || failureRules[reason].isPersistent === true
      const cooldown = { level, class: reason, retryAt, dueAt, isMandatory }
      if (!worst || isMoreSevere(cooldown, worst)) worst = cooldown
    }
    return worst
  }

  /** Lists the records that began before the call. */
  const listOlderRecords = ({ target, callNumber }: PermittedCall): readonly HealthRecord[] =>
    records.isEmpty()
      ? NO_RECORDS
      : records.findRecords(target, combo).filter((record) => !isNewerThanCall(record, callNumber))

  /** Clears a record's failures, unless it has newer ones. */
  function endFailures(record: HealthRecord, { target, callNumber }: PermittedCall): void {
    if (isNewerThanCall(record, callNumber)) return
    if (record.level === 'model' && isSporadic(record.reason)) delete record.retryAt
    else cooldowns.forget(record, target)
  }

  return {
    getCooldown,
    startProbe(target) {
      const coolingRecords = records.isEmpty() ? NO_RECORDS : records.findRecords(target, combo).filter(isInCooldown)
      if (coolingRecords.length === 0) return undefined
      const now = clock.now()
      const probedRecords = listDueRecords(coolingRecords, now)
      return { records: probedRecords, end: startProbe({ coolingRecords, probedRecords, now }) }
    },
    takeTurn: (target, options) => takeTurn(target, { ...options, clock, combo, records, getCooldown }),
    hasCutStreams: (call) => listOlderRecords(call).some(({ hasCutStreams }) => hasCutStreams),
    succeed(call) {
      call.probe?.end('answered')
      for (const record of listOlderRecords(call))
        if (!call.hasStreamBegun || record.hasCutStreams) cooldowns.forget(record, call.target)
    },
    beginStream(call) {
      call.probe?.end('answered')
      for (const record of listOlderRecords(call)) {
        if (record.hasCutStreams) delete record.retryAt
        else cooldowns.forget(record, call.target)
      }
    },
    failStream({ target, callNumber, isCounted }, failure) {
      const { cooldown } = failureRules[failure.class]
      const failedCall = { ...failure, callNumber, isCounted }
      if (cooldown?.starts === 'at-once') cooldowns.fail(target, failedCall, cooldown)
      else if (cooldown) cooldowns.failStream(target, failedCall)
    },
    fail(call, failure) {
      const { target, callNumber, probe } = call
      const { cooldown, fault } = failureRules[failure.class]
      if (failure.isOwnCredential && fault === 'account') return probe?.end('dropped')
      probe?.end(getProbeResult(failure, cooldown !== undefined))
      if (cooldown) cooldowns.fail(target, { ...failure, callNumber }, cooldown)
      else for (const record of probe?.records ?? NO_RECORDS) endFailures(record, call)
    },
  }
}

function getProbeResult(failure: HealthFailure, affectsHealth: boolean): ProbeResult {
  if (!affectsHealth) return 'answered'
  return isConclusive(failure) ? 'failed' : 'dropped'
}

const NO_RECORDS: readonly HealthRecord[] = []

const isInCooldown = ({ retryAt }: HealthRecord) => retryAt !== undefined
const listDueRecords = (coolingRecords: readonly HealthRecord[], now: number) =>
  coolingRecords.filter((record) => isDue(record, now))
const isDue = ({ retryAt, isProbing }: HealthRecord, now: number) =>
  retryAt !== undefined && retryAt <= now && !isProbing

/** Returns whether a cooldown of this class needs more than one failure. */
const isSporadic = (reason: FailureClass) => failureRules[reason].cooldown?.starts === 'by-share'

/** Returns whether the first cooldown is worse: mandatory ones are worse than others, and longer ones are worse than shorter ones. */
const isMoreSevere = (first: CooldownState, second: CooldownState) =>
  first.isMandatory === second.isMandatory ? first.retryAt > second.retryAt : first.isMandatory

/** The longest time that other requests wait for a call's outcome. */
const MAX_WAIT_MS = 5_000

interface TurnOptions {
  /** Settles when the client disconnects. */
  disconnected: Promise<unknown>
  beginCall(target: HealthTarget): CircuitPermit
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
  { disconnected, clock, combo, records, getCooldown, beginCall }: TurnDependencies,
): Promise<CircuitPermit | CooldownState> {
  const startedAt = clock.now()
  let hasDisconnected = false
  void disconnected.then(() => {
    hasDisconnected = true
  })
  const findProbe = () => records.findRecords(target, combo).find((record) => record.probeCall)?.probeCall
  for (;;) {
    const cooldown = getCooldown(target)
    const currentProbe = cooldown?.isMandatory && findProbe()
    if (!currentProbe) return beginCall(target)
    const now = clock.now()
    if (now - startedAt >= MAX_WAIT_MS) {
      if (now - currentProbe.startedAt < MAX_WAIT_MS) return cooldown
      records.endProbe(target, combo)
      return beginCall(target)
    }
    const result = await waitForProbe(startedAt + MAX_WAIT_MS - now, {
      result: currentProbe.result,
      disconnected,
      clock,
    })
    if (hasDisconnected) return cooldown
    const newCooldown = result === 'failed' ? getCooldown(target) : undefined
    if (newCooldown) return newCooldown
  }
}

interface ProbeWait {
  result: Probe['result']
  disconnected: Promise<unknown>
  clock: Clock
}

function waitForProbe(timeoutMs: number, { result, disconnected, clock }: ProbeWait): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const cancelDeadline = startDeadline(clock, timeoutMs, () => resolve('dropped'))
    function finish(ending: ProbeResult) {
      cancelDeadline()
      resolve(ending)
    }
    void result.then(finish)
    void disconnected.then(() => finish('dropped'))
  })
}
