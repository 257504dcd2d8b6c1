import { type Cooldowns, type HealthFailure, isConclusive, isNewer } from './cooldowns.ts'
import { type FailureClass, failureRules } from './failure-class.ts'
import type { HealthRecord, HealthRecords, HealthTarget, ProbeResult } from './health-records.ts'

/** Permission for one call to a target. Exactly one outcome must be reported, so a probe ends. */
export interface CircuitPermit {
  /** Reports a complete response; for a stream, only that it wasn't cut off. */
  succeed(): void
  /** Reports the beginning of a stream; `succeed` or `breakOff` follows. */
  beginStream(): void
  /**
   * Reports that the stream was cut off after it began. Counts against the model until another response is complete, unless its
   * class specifies otherwise.
   */
  breakOff(failure: HealthFailure): void
  fail(failure: HealthFailure): void
  /** Reports an unknown outcome, since the client didn't wait for it. */
  drop(): void
}

/** The start of a permit's call, and the records that it reports to. */
export interface PermitContext {
  /** The number of the call in the order of calls and cooldowns. */
  began: number
  /** The records that the call probes. */
  probed: readonly HealthRecord[]
  /** Ends the probe if the call is one. */
  end: ((ending: ProbeResult) => void) | undefined
  /** The combo whose own health terms apply to the call. */
  combo: string | undefined
  records: HealthRecords
  cooldowns: Cooldowns
}

/** Creates the permit for a new call. */
export const createPermit = (target: HealthTarget, options: PermitContext): CircuitPermit =>
  new TargetPermit(target, options)

class TargetPermit implements CircuitPermit {
  readonly #target: HealthTarget
  readonly #options: PermitContext
  #hasBegun = false
  #isCounted = false // as a successful call

  constructor(target: HealthTarget, options: PermitContext) {
    this.#target = target
    this.#options = options
  }

  drop(): void {
    this.#options.end?.('dropped')
  }

  succeed(): void {
    const { end, cooldowns } = this.#options
    end?.('answered')
    const held = this.#listOlderRecords()
    if (!this.#isCounted) cooldowns.succeed(this.#target)
    for (const record of held) if (!this.#hasBegun || record.isCut) cooldowns.forget(record, this.#target)
  }

  /** The beginning of a stream is treated as a success, unless earlier streams have been cut off. */
  beginStream(): void {
    const { end, cooldowns } = this.#options
    this.#hasBegun = true
    end?.('answered')
    const held = this.#listOlderRecords()
    this.#isCounted = !held.some(({ isCut }) => isCut)
    if (this.#isCounted) cooldowns.succeed(this.#target)
    for (const record of held) {
      if (record.isCut) delete record.retryAt
      else cooldowns.forget(record, this.#target)
    }
  }

  breakOff(failure: HealthFailure): void {
    const { cooldowns, began } = this.#options
    const { cooldown } = failureRules[failure.class]
    const failed = { ...failure, began, isCounted: this.#isCounted }
    if (cooldown?.starts === 'at-once') cooldowns.fail(this.#target, failed, cooldown)
    else if (cooldown) cooldowns.breakOff(this.#target, failed)
  }

  fail(failure: HealthFailure): void {
    const { end, cooldowns, began, probed } = this.#options
    const rule = failureRules[failure.class].cooldown
    end?.(!rule ? 'answered' : isConclusive(failure) ? 'failed' : 'dropped')
    if (rule) cooldowns.fail(this.#target, { ...failure, began }, rule)
    else for (const record of probed) this.#endFailures(record)
  }

  #listOlderRecords(): readonly HealthRecord[] {
    const { records, began, combo } = this.#options
    return records.isEmpty() ? NONE : filterOlder(began, records.findRecords(this.#target, combo))
  }

  /** Ends the failures of a record, unless it has newer ones. */
  #endFailures(record: HealthRecord): void {
    const { cooldowns, began } = this.#options
    if (isNewer(record, began)) return
    if (record.level === 'model' && isSporadic(record.reason)) delete record.retryAt
    else cooldowns.forget(record, this.#target)
  }
}

const NONE: readonly HealthRecord[] = []

const filterOlder = (began: number, records: readonly HealthRecord[]) =>
  records.filter((record) => !isNewer(record, began))

/** Returns whether a cooldown of this class needs more than one failure. */
const isSporadic = (reason: FailureClass) => failureRules[reason].cooldown?.starts === 'by-share'
