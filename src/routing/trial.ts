import { type Cooldowns, type HealthFailure, isNewer } from './cooldowns.ts'
import { coolings, type FailureClass } from './failure-class.ts'
import type { HealthRecord, HealthRecords, HealthTarget } from './health-records.ts'
import type { Ending } from './probe-call.ts'

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

/** What a trial knows of its beginning, and the records that it reports to. */
export interface TrialTerms {
  /** The place of its beginning in the order of calls and cooldowns. */
  began: number
  /** What stood against the target and is probed by it. */
  probed: readonly HealthRecord[]
  /** Ends the probe, where it is one. */
  end: ((ending: Ending) => void) | undefined
  records: HealthRecords
  cooldowns: Cooldowns
}

/** Begins a trial of a target. */
export const createTrial = (target: HealthTarget, terms: TrialTerms): Trial => new TargetTrial(target, terms)

class TargetTrial implements Trial {
  readonly #target: HealthTarget
  readonly #terms: TrialTerms
  #hasBegun = false

  constructor(target: HealthTarget, terms: TrialTerms) {
    this.#target = target
    this.#terms = terms
  }

  dropped(): void {
    this.#terms.end?.('dropped')
  }

  answered(): void {
    const { end, records } = this.#terms
    end?.('answered')
    for (const record of this.#heldAgainst()) if (!this.#hasBegun || record.isCut) records.forget(record)
  }

  begun(): void {
    const { end, records } = this.#terms
    this.#hasBegun = true
    end?.('answered')
    for (const record of this.#heldAgainst()) {
      if (record.isCut) delete record.retryAt
      else records.forget(record)
    }
  }

  cut(failure: HealthFailure): void {
    const { cooldowns, began } = this.#terms
    cooldowns.cut(this.#target, { ...failure, began })
  }

  failed(failure: HealthFailure): void {
    const { end, cooldowns, began, probed } = this.#terms
    const cooling = coolings[failure.class]
    end?.(cooling ? 'failed' : 'answered')
    if (cooling) cooldowns.failed(this.#target, { ...failure, began }, cooling)
    else for (const record of probed) this.#isBack(record)
  }

  /** The records that are not newer than the call. */
  #heldAgainst(): readonly HealthRecord[] {
    const { records, began } = this.#terms
    return records.isEmpty() ? NONE : olderThan(began, records.of(this.#target))
  }

  /** Ends the failures of a record, unless it has newer ones. */
  #isBack(record: HealthRecord): void {
    const { records, began } = this.#terms
    if (isNewer(record, began)) return
    if (record.level === 'model' && isUnsteady(record.reason)) delete record.retryAt
    else records.forget(record)
  }
}

const NONE: readonly HealthRecord[] = []

const olderThan = (began: number, records: readonly HealthRecord[]) =>
  records.filter((record) => !isNewer(record, began))

/** Does the class need several consecutive failures? */
const isUnsteady = (reason: FailureClass) => (coolings[reason]?.after ?? 1) > 1
