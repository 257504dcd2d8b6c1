import { type GatewayError, isGatewayError } from '../../errors.ts'
import { isByteStream, type Reply } from '../../lib/exchange.ts'
import { findPricedTier, getWorstCase } from '../../pricing/worst-case.ts'
import type { AttemptRecord, RequestRecord } from '../../request/hook-records.ts'
import type { RouteRequest } from '../../request/route-request.ts'
import type { AttemptControls } from '../../request/steps.ts'
import type { LimitState, LimitUnit } from '../../types/limits.ts'
import type { Clock } from '../../types.ts'
import type { Amounts, Ledger, LimitedScope, LimitRejection, RequestedAmounts, Reservation } from './ledger/ledger.ts'
import { createCutOffError, createLimitError, type Holders } from './limit-errors.ts'
import { createLimitHeaders, dropProviderLimits } from './limit-headers.ts'
import {
  estimateRequestedAmounts,
  getMinimumAmount,
  isLimited,
  type LimitRules,
  REQUEST_AMOUNTS,
  requireKnownPrice,
  USAGE_UNITS,
} from './requested-amounts.ts'

interface GatedRequestOptions {
  ledger: Ledger
  clock: Clock
  /** The scopes with limits that apply to the request; at least one. */
  scopes: readonly LimitedScope[]
  holders: Holders
  rules: LimitRules
  /** Called with a target that a dollar limit rejects because its price is unknown. */
  warnAboutPrice(target: AttemptControls['target']): void
}

/**
 * A request with limits. The first attempt makes one reservation for everything that it may use; later attempts reserve only tokens and US dollars.
 * These settle when their attempt ends; `requests` and `parallel` settle when the request ends.
 */
export class GatedRequest {
  readonly #request: RouteRequest
  readonly #options: GatedRequestOptions
  /**
   * The units among tokens and US dollars that have limits. If either has one, attempts reserve both. If neither has one, both are counted only when
   * the request ends.
   */
  readonly #limitedUsageUnits: ReadonlySet<LimitUnit>
  /** The reservation for `requests` and `parallel`. `not-stored` if storage is unavailable and the settings allow such requests. */
  #requestReservation: Reservation | 'not-stored' | undefined = undefined
  /** The units of `#requestReservation` that settle when the request ends. */
  #requestUnits: readonly LimitUnit[] = []
  /** The number of attempts that weren't rejected by any step. */
  #allowedAttempts = 0
  /** The limits as of the latest reservation, and the tokens that have been released since then. */
  #limits: readonly LimitState[] = []
  #releasedTokens = 0
  #hasEnded = false

  constructor(request: RouteRequest, options: GatedRequestOptions) {
    this.#request = request
    this.#options = options
    this.#limitedUsageUnits = new Set(USAGE_UNITS.filter((unit) => isLimited(unit, options.scopes)))
    request.log.onEnd((record) => this.#settle(record))
  }

  /** Whether tokens or US dollars are limited. */
  get hasUsageLimits(): boolean {
    return this.#limitedUsageUnits.size > 0
  }

  /** Reserves `requests` and `parallel`. Called before any step that can respond in place of a provider. */
  async reserveRequest(): Promise<void> {
    await this.#request.log.client.scope.race(this.#reserveRequest())
  }

  /** Reserves a charge by the request's route. Throws the error for the client if it doesn't fit. */
  async reserveCharge(usd: number): Promise<void> {
    const reservation = this.#requestReservation
    if (!reservation || reservation === 'not-stored') return
    const rejection = await this.#extend(reservation, { tokens: 0, usd })
    if (rejection) throw this.#createLimitError(rejection, usd)
  }

  /** Wraps each attempt of the request. */
  async aroundAttempt(attempt: AttemptControls, next: () => Promise<AttemptRecord>): Promise<void> {
    if (this.hasUsageLimits) await this.#reserveAttempt(attempt)
    else if (!this.#requestReservation) await this.#reserveRequest().catch((error) => attempt.failRequest(error))
    this.#allowedAttempts += 1
    attempt.onSettled(({ outcome }) => {
      if (outcome === 'refused') this.#allowedAttempts -= 1
    })
    await next()
  }

  /** Adds the headers that show the client's remaining limits. Counts the response if the gateway produced it without an attempt. */
  async completeReply(reply: Reply): Promise<Reply> {
    if (this.#allowedAttempts === 0 && reply.status < 400) {
      if (!this.#requestReservation)
        await this.reserveRequest().catch((error) => {
          if (isByteStream(reply.body)) reply.body.cancel()
          throw error
        })
      this.#allowedAttempts += 1
    }
    dropProviderLimits(reply.headers)
    Object.assign(reply.headers, this.#createHeaders(this.#getCurrentLimits()))
    return reply
  }

  /** Reserves the attempt's worst case. If that doesn't fit, caps the target's output. */
  async #reserveAttempt(attempt: AttemptControls): Promise<void> {
    const isFirst = !this.#requestReservation
    const worstCase = getWorstCase(attempt.request, attempt.target)
    const { rules, warnAboutPrice } = this.#options
    const isPriced = this.#limitedUsageUnits.has('usd')
    if (isPriced && !worstCase.usd && rules.whenPriceUnknown !== 'allow') warnAboutPrice(attempt.target)
    const requestedAmounts = estimateRequestedAmounts(attempt, worstCase, { isPriced, rules })
    if (isPriced) {
      const { request, target } = attempt
      attempt.beforeCall(({ findSurcharge }) =>
        requireKnownPrice(target, findSurcharge(findPricedTier(request, target)), rules),
      )
    }
    if (isFirst) Object.assign(requestedAmounts.fixed, REQUEST_AMOUNTS)
    const reservation = await this.#reserve(requestedAmounts).catch((error) => attempt.failRequest(error))
    if (!reservation) return
    if (reservation.kind === 'rejected') {
      const { unit } = reservation.limit
      const error = this.#createLimitError(reservation, getMinimumAmount(unit, requestedAmounts))
      if (unit === 'requests' || unit === 'parallel') attempt.failRequest(error)
      throw error
    }
    if (isFirst) this.#setRequestReservation(reservation, REQUEST_UNITS)
    this.#limits = reservation.limits
    this.#releasedTokens = 0
    const { outputTokens = worstCase.outputTokens } = reservation
    const usdPerToken = requestedAmounts.output?.usdPerToken ?? 0
    const reservedUsd = (requestedAmounts.fixed.usd ?? 0) + outputTokens * usdPerToken
    let reservedTokens = (requestedAmounts.fixed.tokens ?? 0) + outputTokens
    attempt.onSettled((record) => {
      const spent = sumSpending([record])
      if (record.usage && record.costUsd === undefined) spent.usd = reservedUsd // the price of some usage is unknown
      reservation.settle(spent, USAGE_UNITS)
      this.#releasedTokens += reservedTokens - spent.tokens
    })
    if (outputTokens < worstCase.outputTokens) attempt.limitOutput(Math.floor(outputTokens / worstCase.choices))

    let reservedOutput = outputTokens
    attempt.allowOutput({
      tokens: reservedOutput,
      extend: async (textTokens) => {
        const minTokens = Math.max(1, Math.ceil(textTokens) - reservedOutput)
        const extension = await this.#reserveMoreOutput(reservation, {
          minTokens,
          usdPerToken,
          allowsLess: textTokens <= getMaxStreamSize(outputTokens),
        })
        reservedOutput += extension
        reservedTokens += extension
        return reservedOutput
      },
    })
    let coveredUsage = { tokens: 0, usd: 0 } // usage of the attempt's earlier calls; reserved again, so the next call has the full worst case available
    attempt.beforeFollowUp(async (spending) => {
      if (!spending) return
      const spent = sumSpending([spending])
      const extraUsage = { tokens: spent.tokens - coveredUsage.tokens, usd: spent.usd - coveredUsage.usd }
      coveredUsage = spent
      if (extraUsage.tokens <= 0 && extraUsage.usd <= 0) return
      const rejection = await this.#extend(reservation, extraUsage)
      if (rejection) throw createCutOffError(rejection.limit, this.#options.holders)
      reservedTokens += extraUsage.tokens
    })
  }

  /**
   * Reserves at least `minTokens` more output tokens for a stream, and up to `EXTRA_OUTPUT_TOKENS` if the limits allow it. Because the estimate may be
   * too high, a stream gets some tokens even if none remain. All streams together exceed a limit by at most `SLACK_TOKENS`. Throws the error for the
   * client.
   */
  async #reserveMoreOutput(
    reservation: Reservation,
    { minTokens, usdPerToken, allowsLess }: { minTokens: number; usdPerToken: number; allowsLess: boolean },
  ): Promise<number> {
    const toAmounts = (tokens: number) => ({ tokens, usd: tokens * usdPerToken })
    let extraTokens = Math.max(minTokens, EXTRA_OUTPUT_TOKENS)
    let rejection = await this.#extend(reservation, toAmounts(extraTokens))
    while (rejection) {
      const { unit, remaining } = rejection.limit
      extraTokens = Math.min(extraTokens - 1, unit === 'usd' ? Math.floor(remaining / usdPerToken) : remaining)
      if (extraTokens < minTokens) break
      rejection = await this.#extend(reservation, toAmounts(extraTokens))
    }
    if (!rejection) return extraTokens
    const slack = Math.max(minTokens, SLACK_STEP_TOKENS)
    if (allowsLess && !(await this.#extend(reservation, toAmounts(slack), toAmounts(SLACK_TOKENS)))) return slack
    throw createCutOffError(rejection.limit, this.#options.holders)
  }

  /**
   * Reserves more for an in-flight attempt. Reservations may exceed the limits by at most `slack`. Resolves to the rejection if that isn't enough.
   */
  async #extend(
    reservation: Reservation,
    extraAmounts: UsedAmounts,
    slack?: UsedAmounts,
  ): Promise<LimitRejection | undefined> {
    try {
      return await reservation.extend(extraAmounts, slack)
    } catch (error) {
      if (!isGatewayError(error, 'STORAGE_UNAVAILABLE') || this.#rejectsWithoutStorage()) throw error
      return undefined
    }
  }

  /** Reserves only `requests` and `parallel`. Throws the error for the client if they don't fit. */
  async #reserveRequest(): Promise<void> {
    const reservation = await this.#reserve({ fixed: REQUEST_AMOUNTS })
    if (!reservation) return
    if (reservation.kind === 'rejected') throw this.#createLimitError(reservation, 1)
    this.#setRequestReservation(reservation, ALL_UNITS)
    this.#limits = reservation.limits
  }

  /** Stores the reservation. `units` settle when the request ends. */
  #setRequestReservation(reservation: Reservation, units: readonly LimitUnit[]): void {
    this.#requestReservation = reservation
    this.#requestUnits = units
    if (this.#hasEnded) reservation.settle({}, units) // the client has disconnected in the meantime
  }

  /** Makes a reservation. Resolves to `undefined` if storage is unavailable and the settings allow the request anyway. */
  async #reserve(requestedAmounts: RequestedAmounts): Promise<Reservation | LimitRejection | undefined> {
    const { ledger, scopes } = this.#options
    try {
      return await ledger.reserve(scopes, requestedAmounts)
    } catch (error) {
      if (!isGatewayError(error, 'STORAGE_UNAVAILABLE') || this.#rejectsWithoutStorage()) throw error
      this.#requestReservation ??= 'not-stored'
      return undefined
    }
  }

  /** Returns whether the settings reject a request with these limits while storage is unavailable. */
  #rejectsWithoutStorage(): boolean {
    const { scopes, rules } = this.#options
    return ALL_UNITS.some((unit) => {
      const action = rules.onStorageUnavailable?.[unit] ?? UNAVAILABLE_DEFAULTS[unit]
      return action === 'refuse' && isLimited(unit, scopes)
    })
  }

  #createLimitError(rejection: LimitRejection, neededAmount: number): GatewayError {
    const { holders, clock } = this.#options
    const limitsOutput = this.#request.route.limitsOutput === true
    const headers = this.#createHeaders([rejection.limit])
    return createLimitError(rejection, { neededAmount, limitsOutput, holders, now: clock.now(), headers })
  }

  /** Settles the request when it ends. Counts one request if any attempt was allowed, and the usage of attempts that reserved nothing. */
  #settle({ attempts, guardUsd = 0, chargedUsd = 0 }: RequestRecord): void {
    this.#hasEnded = true
    if (this.#requestReservation && this.#requestReservation !== 'not-stored') {
      const requests = this.#allowedAttempts > 0 ? 1 : 0
      this.#requestReservation.settle(
        {
          requests,
          ...(this.#requestUnits === ALL_UNITS &&
            sumSpending([...(this.hasUsageLimits ? [] : attempts), { costUsd: guardUsd + chargedUsd }])),
        },
        this.#requestUnits,
      )
    }
    const { exchange } = this.#request
    exchange.waitUntil?.(this.#options.ledger.waitForWrites())
  }

  /** Returns the limits as of the latest reservation, with the tokens that have been released since then added back. */
  #getCurrentLimits(): readonly LimitState[] {
    if (this.#releasedTokens === 0) return this.#limits
    return this.#limits.map((limit) => {
      if (limit.unit !== 'tokens') return limit
      return { ...limit, remaining: Math.max(0, Math.min(limit.limit, limit.remaining + this.#releasedTokens)) }
    })
  }

  #createHeaders(limits: readonly LimitState[]): Record<string, string> {
    return createLimitHeaders(limits, { format: this.#request.route.format, now: this.#options.clock.now() })
  }
}

/**
 * Returns the highest possible estimate, in tokens, for a response of at most `output` tokens. With long words, the estimate can be twice the actual
 * count, and that must not cut off a stream that stays within its maximum.
 */
const getMaxStreamSize = (output: number) => output * 2.5 + 64

/** How many tokens a stream reserves at a time once its output exceeds its reservation, if the limits allow it. */
const EXTRA_OUTPUT_TOKENS = 1_024
/**
 * How many tokens all streams together may reserve beyond a limit. Including the output that a stream has sent by then, this is less than
 * `EXTRA_OUTPUT_TOKENS`.
 */
const SLACK_TOKENS = 768
/** How many tokens a stream reserves at a time beyond a limit. */
const SLACK_STEP_TOKENS = 128
const REQUEST_UNITS: readonly LimitUnit[] = ['requests', 'parallel']
const ALL_UNITS: readonly LimitUnit[] = [...REQUEST_UNITS, ...USAGE_UNITS]

const UNAVAILABLE_DEFAULTS: Readonly<Record<LimitUnit, 'refuse' | 'allow'>> = {
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
