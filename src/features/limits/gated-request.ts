import { type GatewayError, isGatewayError } from '../../errors.ts'
import { isByteStream, type Reply } from '../../lib/exchange.ts'
import { getWorstCase } from '../../pricing/worst-case.ts'
import type { AttemptRecord, RequestRecord } from '../../request/hook-records.ts'
import type { RouteRequest } from '../../request/route-request.ts'
import type { SteppedAttempt } from '../../request/steps.ts'
import type { LimitState, LimitUnit } from '../../types/limits.ts'
import type { Clock } from '../../types.ts'
import type { Amounts, Ledger, LimitedScope, LimitRefusal, Reservation, WantedAmounts } from './ledger/ledger.ts'
import { createCutOffError, createRefusalError, type Holders } from './limit-errors.ts'
import { dropProviderLimits, limitHeaders } from './limit-headers.ts'
import {
  ENTRY,
  estimateWanted,
  getNeed,
  isLimited,
  type LimitRules,
  MEASURED,
  requireKnownPrice,
} from './wanted-amounts.ts'

interface GatedTerms {
  ledger: Ledger
  clock: Clock
  /** The limits that apply to the request; at least one. */
  scopes: readonly LimitedScope[]
  holders: Holders
  rules: LimitRules
}

/**
 * A request with limits. The first attempt makes a single reservation for everything that it may use; later attempts reserve only tokens and US
 * dollars. Tokens and US dollars settle when their attempt ends; `requests` and `parallel` settle when the request ends.
 */
export class GatedRequest {
  readonly #request: RouteRequest
  readonly #terms: GatedTerms
  /**
   * The limited units among tokens and US dollars. If there are any, attempts reserve both units; otherwise, both are only counted when the request
   * ends.
   */
  readonly #measured: ReadonlySet<LimitUnit>
  /** The reservation of `requests` and `parallel`; `unkept` if the storage was unavailable and the settings allow such requests. */
  #entry: Reservation | 'unkept' | undefined = undefined
  /** The units of `#entry` that settle when the request ends. */
  #endUnits: readonly LimitUnit[] = []
  /** The number of attempts that no step has rejected. */
  #through = 0
  /** The limits as of the latest reservation, and the tokens that have been released since then. */
  #limits: readonly LimitState[] = []
  #freed = 0
  #isOver = false

  constructor(request: RouteRequest, terms: GatedTerms) {
    this.#request = request
    this.#terms = terms
    this.#measured = new Set(MEASURED.filter((unit) => isLimited(unit, terms.scopes)))
    request.log.onEnd((record) => this.#end(record))
  }

  /** Whether tokens or US dollars are limited. */
  get isMeasured(): boolean {
    return this.#measured.size > 0
  }

  /** Reserves `requests` and `parallel`. Called before any step can respond in place of a provider. */
  async admit(): Promise<void> {
    await this.#request.log.client.scope.race(this.#enter())
  }

  /** Runs as the step around each attempt of the request. */
  async attempt(attempt: SteppedAttempt, next: () => Promise<AttemptRecord>): Promise<void> {
    if (this.isMeasured) await this.#reserveFor(attempt)
    else if (!this.#entry) await this.#enter().catch((error) => attempt.refuseRequest(error))
    this.#through += 1
    attempt.onSettled(({ outcome }) => {
      if (outcome === 'refused') this.#through -= 1
    })
    await next()
  }

  /** Adds the headers that tell the client what remains of its limits. Counts a response that the gateway produced without an attempt. */
  async replied(reply: Reply): Promise<Reply> {
    if (this.#through === 0 && reply.status < 400) {
      if (!this.#entry)
        await this.admit().catch((error) => {
          if (isByteStream(reply.body)) reply.body.cancel()
          throw error
        })
      this.#through += 1
    }
    dropProviderLimits(reply.headers)
    Object.assign(reply.headers, this.#headers(this.#limitsNow()))
    return reply
  }

  /** Reserves the attempt's worst case, and caps the target's output accordingly. */
  async #reserveFor(attempt: SteppedAttempt): Promise<void> {
    const isFirst = !this.#entry
    const worstCase = getWorstCase(attempt.request, attempt.target)
    const { rules } = this.#terms
    const isPriced = this.#measured.has('usd')
    const wanted = estimateWanted(attempt, worstCase, { isPriced, rules })
    if (isPriced) attempt.beforeCall(({ surchargeField }) => requireKnownPrice(attempt.target, surchargeField(), rules))
    if (isFirst) Object.assign(wanted.fixed, ENTRY)
    const reservation = await this.#reserve(wanted).catch((error) => attempt.refuseRequest(error))
    if (!reservation) return
    if (reservation.kind === 'refused') {
      const { unit } = reservation.limit
      const error = this.#refusal(reservation, getNeed(unit, wanted))
      if (unit === 'requests' || unit === 'parallel') attempt.refuseRequest(error)
      throw error
    }
    if (isFirst) this.#entered(reservation, ENTRY_UNITS)
    this.#limits = reservation.limits
    this.#freed = 0
    const { outputTokens = worstCase.outputTokens } = reservation
    const usdPerToken = wanted.output?.usdPerToken ?? 0
    const reservedUsd = (wanted.fixed.usd ?? 0) + outputTokens * usdPerToken
    let reserved = (wanted.fixed.tokens ?? 0) + outputTokens
    attempt.onSettled((record) => {
      const spent = sumSpending([record])
      if (record.usage && record.costUsd === undefined) spent.usd = reservedUsd // the price of some usage is unknown
      reservation.settle(spent, MEASURED)
      this.#freed += reserved - spent.tokens
    })
    if (outputTokens < worstCase.outputTokens) attempt.limitOutput(Math.floor(outputTokens / worstCase.answers))

    let output = outputTokens
    attempt.allowOutput({
      tokens: output,
      extend: async (text) => {
        const least = Math.max(1, Math.ceil(text) - output)
        const more = await this.#moreOutput(reservation, {
          least,
          usdPerToken,
          mayBeLess: text <= getMaxStreamSize(outputTokens),
        })
        output += more
        reserved += more
        return output
      },
    })
    let covered = { tokens: 0, usd: 0 } // the usage of the attempt's earlier calls, so that the full worst case is available for the next one
    attempt.beforeFollowUp(async (spending) => {
      if (!spending) return
      const spent = sumSpending([spending])
      const by = { tokens: spent.tokens - covered.tokens, usd: spent.usd - covered.usd }
      covered = spent
      if (by.tokens <= 0 && by.usd <= 0) return
      const refusal = await this.#extend(reservation, by)
      if (refusal) throw createCutOffError(refusal.limit, this.#terms.holders)
      reserved += by.tokens
    })
  }

  /**
   * Reserves at least `least` more output tokens for a stream, and up to `MORE_OUTPUT` if the limits allow it. The estimate may be too high, so a
   * stream gets some tokens even if nothing remains; all streams together exceed a limit by at most `SLACK`. Throws the error for the client.
   */
  async #moreOutput(
    reservation: Reservation,
    { least, usdPerToken, mayBeLess }: { least: number; usdPerToken: number; mayBeLess: boolean },
  ): Promise<number> {
    const toAmounts = (tokens: number) => ({ tokens, usd: tokens * usdPerToken })
    let more = Math.max(least, MORE_OUTPUT)
    let refusal = await this.#extend(reservation, toAmounts(more))
    while (refusal) {
      const { unit, remaining } = refusal.limit
      more = Math.min(more - 1, unit === 'usd' ? Math.floor(remaining / usdPerToken) : remaining)
      if (more < least) break
      refusal = await this.#extend(reservation, toAmounts(more))
    }
    if (!refusal) return more
    const beyond = Math.max(least, SLACK_STEP)
    if (mayBeLess && !(await this.#extend(reservation, toAmounts(beyond), toAmounts(SLACK)))) return beyond
    throw createCutOffError(refusal.limit, this.#terms.holders)
  }

  /** Reserves more for an in-flight attempt, exceeding its limits by at most `beyond`. Resolves to the refusal if that isn't possible. */
  async #extend(reservation: Reservation, by: UsedAmounts, beyond?: UsedAmounts): Promise<LimitRefusal | undefined> {
    try {
      return await reservation.extend(by, beyond)
    } catch (thrown) {
      if (!isGatewayError(thrown, 'STORAGE_UNAVAILABLE') || this.#rejectsWithoutStorage()) throw thrown
      return undefined
    }
  }

  /** Reserves only `requests` and `parallel`. Throws the error for the client if the reservation is rejected. */
  async #enter(): Promise<void> {
    const reservation = await this.#reserve({ fixed: ENTRY })
    if (!reservation) return
    if (reservation.kind === 'refused') throw this.#refusal(reservation, 1)
    this.#entered(reservation, UNITS)
    this.#limits = reservation.limits
  }

  /** Stores the reservation. `units` settle when the request ends. */
  #entered(reservation: Reservation, units: readonly LimitUnit[]): void {
    this.#entry = reservation
    this.#endUnits = units
    if (this.#isOver) reservation.settle({}, units) // the client has disconnected in the meantime
  }

  /** Makes a reservation. Resolves to `undefined` if the storage is unavailable and the settings allow the request anyway. */
  async #reserve(wanted: WantedAmounts): Promise<Reservation | LimitRefusal | undefined> {
    const { ledger, scopes } = this.#terms
    try {
      return await ledger.reserve(scopes, wanted)
    } catch (thrown) {
      if (!isGatewayError(thrown, 'STORAGE_UNAVAILABLE') || this.#rejectsWithoutStorage()) throw thrown
      this.#entry ??= 'unkept'
      return undefined
    }
  }

  /** Whether a request with these limits is rejected while the storage is unavailable. */
  #rejectsWithoutStorage(): boolean {
    const { scopes, rules } = this.#terms
    return UNITS.some((unit) => {
      const verdict = rules.onStorageUnavailable?.[unit] ?? WITHOUT_STORAGE[unit]
      return verdict === 'refuse' && isLimited(unit, scopes)
    })
  }

  #refusal(refusal: LimitRefusal, need: number): GatewayError {
    const { holders, clock } = this.#terms
    const limitsOutput = this.#request.route.outputLimit !== undefined
    const headers = this.#headers([refusal.limit])
    return createRefusalError(refusal, { need, limitsOutput, holders, now: clock.now(), headers })
  }

  /** Settles the request when it ends. Counts one request if any attempt was allowed, and the usage of attempts that reserved nothing. */
  #end({ attempts }: RequestRecord): void {
    this.#isOver = true
    if (this.#entry && this.#entry !== 'unkept') {
      const requests = this.#through > 0 ? 1 : 0
      this.#entry.settle(
        { requests, ...(this.#endUnits === UNITS && !this.isMeasured && sumSpending(attempts)) },
        this.#endUnits,
      )
    }
    const { exchange } = this.#request
    exchange.waitUntil?.(this.#terms.ledger.flushed())
  }

  /** Returns the limits as last read, plus the tokens that have been released since then. */
  #limitsNow(): readonly LimitState[] {
    if (this.#freed === 0) return this.#limits
    return this.#limits.map((one) => {
      if (one.unit !== 'tokens') return one
      return { ...one, remaining: Math.max(0, Math.min(one.limit, one.remaining + this.#freed)) }
    })
  }

  #headers(limits: readonly LimitState[]): Record<string, string> {
    return limitHeaders(limits, { format: this.#request.route.format, now: this.#terms.clock.now() })
  }
}

/**
 * Returns the highest estimate, in tokens, for a response of at most `output` tokens. For long words, the estimate can be twice the actual count, and
 * a stream that stays within its maximum must not be cut off because of that.
 */
const getMaxStreamSize = (output: number) => output * 2.5 + 64

/** How many tokens a stream reserves at a time after its output exceeds its reservation, if the limits allow it. */
const MORE_OUTPUT = 1_024
/**
 * How many tokens streams may reserve in total beyond the remaining amount. This is less than `MORE_OUTPUT`, including what a stream has sent by
 * then.
 */
const SLACK = 768
/** How many of these tokens a stream reserves at a time. */
const SLACK_STEP = 128
const ENTRY_UNITS: readonly LimitUnit[] = ['requests', 'parallel']
const UNITS: readonly LimitUnit[] = [...ENTRY_UNITS, ...MEASURED]

const WITHOUT_STORAGE: Readonly<Record<LimitUnit, 'refuse' | 'allow'>> = {
  requests: 'allow',
  parallel: 'allow',
  tokens: 'refuse',
  usd: 'refuse',
}

type UsedAmounts = Required<Pick<Amounts, 'tokens' | 'usd'>>

/** Sums the usage of attempts: input (including cached tokens) and output. */
function sumSpending(attempts: ReadonlyArray<Pick<AttemptRecord, 'usage' | 'costUsd'>>): UsedAmounts {
  const spent = { tokens: 0, usd: 0 }
  for (const { usage, costUsd = 0 } of attempts) {
    if (usage) spent.tokens += usage.inputTokens + usage.outputTokens
    spent.usd += costUsd
  }
  return spent
}
