import type { GatewayError } from '../../errors.ts'
import { isAmbiguous } from '../codec/call-failure.ts'
import type { StopReason } from '../hook-records.ts'
import type { ModelRequest } from '../model-request.ts'
import type { FailedAttempt, RejectedAttempt, Target } from '../outcome.ts'
import type { Route } from '../routing/group.ts'
import {
  type CoolingTarget,
  findCoolingTarget,
  includesTarget,
  type Progress,
  recordFailure,
  shouldSkip,
  wouldRepeatFailure,
} from './candidates.ts'
import type { FoundRoutes } from './found-routes.ts'
import { findMandatoryTarget, findTargetToRetry } from './last-resort.ts'
import { createTarget, findRuleViolation } from './usable-target.ts'

/** Why there is no next target. */
export interface NoTarget {
  /** Set if the attempts or retries are used up. */
  stopReason: StopReason | undefined
  /** The first route that couldn't be tried because no attempt was left. */
  untriedRoute: Route | undefined
  /** The error of the first target whose format doesn't support the request, or that a step rejected. */
  rejection: GatewayError | undefined
  /**
   * The error that rejects the entire request: from a step, or because it isn't allowed to use any of its targets. The client always gets this one.
   */
  requestRejection: GatewayError | undefined
  /** The skipped targets that are in cooldown. */
  cooling: readonly CoolingTarget[]
  /** The skipped routes with draining connections. */
  draining: readonly Route[]
}

/** A request's first route, and whether it was tried. */
export interface FirstRoute {
  route: Route | undefined
  isTried: boolean
}

/**
 * Chooses targets after the first one, based on the outcomes so far. Targets in cooldown come after all others, ordered by recovery; those in a
 * mandatory cooldown are only tried if nothing else was, by one request at a time. A hedge never uses a target in cooldown, and doesn't count against
 * the retry budget.
 */
export class FurtherTargets {
  readonly #request: ModelRequest
  readonly #progress: Progress
  readonly #reservedRoutes: Route[] = [] // routes set aside to keep the last attempt for a different target
  readonly #foundRoutes: FoundRoutes
  #uncheckedRoute: Route | undefined // the first route, if it wasn't tried
  #attemptCount: number // the number of attempts in which a provider was called
  #retryCount = 0
  /** How the latest target was chosen. Any value except the first one means that no other target was left. */
  #choice: 'turn' | 'spare' | 'cooling' | 'mandatory' | 'again' = 'turn'
  #isCooling = false // whether all remaining targets are in cooldown or were tried
  #isMandatory = false // whether a target in a mandatory cooldown was chosen
  #translatedRetry: Route | undefined = undefined // set if the target lacks the endpoint, so the next attempt translates the request
  #chargedRoute: Route | undefined = undefined // the latest retry that was charged to the retry budget
  #stopReason: StopReason | undefined = undefined
  #hasEnded = false
  #requestRejection: GatewayError | undefined = undefined // the error of a step that rejected the request
  #untriedRoute: Route | undefined = undefined

  constructor(request: ModelRequest, foundRoutes: FoundRoutes, { route, isTried }: FirstRoute) {
    this.#request = request
    this.#foundRoutes = foundRoutes
    this.#attemptCount = Number(isTried)
    this.#uncheckedRoute = isTried ? undefined : route
    this.#progress = {
      request,
      isPinned: (route) => foundRoutes.selection?.isPinned(route) ?? false,
      triedTargets: route && isTried ? [route.target] : [],
      failures: [],
      coolingTargets: [],
      drainingRoutes: [],
      rejection: undefined,
      ruleViolation: undefined,
    }
  }

  /**
   * Returns the next target. Returns `undefined` if there is none, if the client is at fault, or if the attempts or the retry budget are used up.
   * `isHedge` requests a target for a second attempt in parallel.
   */
  async next({ isHedge } = { isHedge: false }): Promise<Target | undefined> {
    const target = await this.#choose({ isHedge })
    return target && this.#countAttempt(target, { isHedge })
  }

  async #choose({ isHedge }: { isHedge: boolean }): Promise<Target | undefined> {
    const { failures, coolingTargets } = this.#progress
    if (this.#stopReason || this.#hasEnded || failures.some((failed) => this.#isFinal(failed))) return undefined
    const request = this.#request
    const { routes } = this.#foundRoutes
    const { maxAttempts } = request.context.limits
    if (this.#attemptCount >= maxAttempts) return isHedge ? undefined : this.#stopWithoutAttempts(routes)

    const retryRoute = this.#translatedRetry
    this.#translatedRetry = undefined
    this.#choice = 'turn'
    if (retryRoute) return createTarget(retryRoute, request)
    // Keeps the last attempt for a target that wouldn't repeat the same failure, if there is one.
    const isLastAttempt = this.#attemptCount > 0 && this.#attemptCount === maxAttempts - 1
    for (;;) {
      const next = this.#uncheckedRoute ? { value: this.#uncheckedRoute } : routes.next()
      this.#uncheckedRoute = undefined
      const { value: route } = 'value' in next ? next : await request.client.scope.race(next)
      if (!route) break
      if (shouldSkip(route, this.#progress)) continue
      if (!isLastAttempt || !wouldRepeatFailure(route.target, this.#progress)) return createTarget(route, request)
      this.#reservedRoutes.push(route)
    }
    this.#choice = 'spare'
    const spareRoute = this.#reservedRoutes.shift()
    if (spareRoute) return createTarget(spareRoute, request)
    return isHedge || (this.#attemptCount === 0 && coolingTargets.length === 0) ? undefined : this.#chooseLastResort()
  }

  /** Returns whether this failure ends the request, because no other target can help or because the work might be charged twice. */
  #isFinal({ failure, route }: FailedAttempt): boolean {
    const { operation } = this.#request.call.endpoint
    if (operation.isFinal(failure)) return true
    if (!operation.isPaidOnAcceptance || !isAmbiguous(failure)) return false
    for (let choice = route.via; choice; choice = choice.parent) if (choice.group.retryAmbiguous) return false
    return true
  }

  /** Records that neither a step nor the target's format has rejected the attempt. Targets set aside for the last attempt won't be tried. */
  recordStart(): void {
    if (this.#choice !== 'turn') return
    for (const reservedRoute of this.#reservedRoutes.splice(0))
      this.#request.log.recordSkip(reservedRoute, this.failures.at(-1)?.failure.class ?? 'credentials')
  }

  /** Counts the attempt at the target. Returns `undefined` if the retry budget is used up, so the attempt must not be made. */
  #countAttempt(target: Target, { isHedge }: { isHedge: boolean }): Target | undefined {
    const { route, permit } = target
    const isRetry = this.#attemptCount > 0 && !isHedge && this.#choice !== 'again' // `again` retries are already charged
    if (isRetry && !this.#spendRetry()) {
      permit.drop()
      return undefined
    }
    if (isRetry) this.#chargedRoute = route
    this.#attemptCount += 1
    this.#progress.triedTargets.push(route.target)
    this.#foundRoutes.selection?.releaseLoad() // from now on, the request itself counts as load
    return target
  }

  /** Records an attempt without a response. */
  recordOutcome(outcome: FailedAttempt | RejectedAttempt): void {
    const { route } = outcome
    if (outcome.kind === 'rejected') {
      this.#attemptCount -= 1
      if (this.#chargedRoute === route) this.#request.context.retryBudget.refund()
      this.#exclude(route, outcome.error)
      if (outcome.scope === 'format')
        this.#progress.triedTargets.splice(this.#progress.triedTargets.lastIndexOf(route.target), 1)
      if (outcome.scope === 'request') {
        this.#requestRejection = outcome.error
        this.#hasEnded = true
      }
      return
    }
    const { failure } = outcome
    const { operation } = this.#request.call.endpoint
    if (failure.lacksEndpoint && operation.missing?.isTranslated) {
      this.#request.context.missingEndpoints.recordMissing(route.target, operation)
      this.#translatedRetry = route
      this.#attemptCount -= 1
      return
    }
    recordFailure(outcome, this.#progress)
    if (failure.lacksCredential) this.#attemptCount -= 1
  }

  /** The last failure of each target that was tried. */
  get failures(): readonly FailedAttempt[] {
    return this.#progress.failures
  }

  /** Lists the routes that were skipped or have failed. */
  listSkipped(): Route[] {
    const { failures, coolingTargets, drainingRoutes } = this.#progress
    return [...[...failures, ...coolingTargets].map(({ route }) => route), ...drainingRoutes]
  }

  /** Counts empty responses that the client didn't get against their targets. */
  close(): void {
    for (const { unusedAttempt, failure } of this.failures) unusedAttempt?.log.recordEmptyDropped(failure)
  }

  getVerdict(): NoTarget {
    const { triedTargets, rejection, ruleViolation, coolingTargets, drainingRoutes } = this.#progress
    const isForbidden =
      triedTargets.length === 0 && !rejection && coolingTargets.length === 0 && drainingRoutes.length === 0
    const requestRejection = this.#requestRejection ?? (isForbidden ? ruleViolation : undefined)
    return {
      stopReason: this.#stopReason,
      untriedRoute: this.#untriedRoute,
      rejection,
      requestRejection,
      cooling: coolingTargets,
      draining: drainingRoutes,
    }
  }

  /** Excludes the target for the rest of the request: neither calling it nor waiting for it can help. */
  #exclude(route: Route, error: GatewayError): void {
    const { coolingTargets } = this.#progress
    this.#progress.rejection ??= error
    const index = coolingTargets.findIndex((entry) => entry.route === route)
    if (index >= 0) coolingTargets.splice(index, 1)
    this.#hasEnded ||= this.#choice === 'again'
  }

  /** Returns the target to try when no other is left: one in cooldown, or else one that was tried before. */
  async #chooseLastResort(): Promise<Target | undefined> {
    const progress = this.#progress
    const attemptCount = this.#attemptCount
    if (this.#isMandatory && progress.triedTargets.length > 0) return undefined
    const coolingRoute = findCoolingTarget(progress)
    if (coolingRoute) {
      this.#choice = 'cooling'
      this.#isCooling = true
      return createTarget(coolingRoute, this.#request)
    }
    if (attemptCount > 0) {
      this.#choice = 'again'
      return findTargetToRetry(progress, { retries: this.#retryCount++, spendRetry: () => this.#spendRetry() })
    }
    this.#choice = 'mandatory'
    this.#isMandatory = true
    return findMandatoryTarget(progress)
  }

  #spendRetry(): boolean {
    if (!this.#request.context.retryBudget.spend({ isCooling: this.#isCooling })) this.#stopReason = 'retry-budget'
    return !this.#stopReason
  }

  /** Stops the request, and determines whether there was another target to try. */
  async #stopWithoutAttempts(routes: FoundRoutes['routes']): Promise<undefined> {
    const { triedTargets, request } = this.#progress
    const isExcluded = (route: Route) =>
      includesTarget(triedTargets, route.target) || findRuleViolation(request, route) !== undefined
    do this.#untriedRoute = this.#reservedRoutes.shift() ?? (await routes.next()).value
    while (this.#untriedRoute && isExcluded(this.#untriedRoute))
    if (this.#untriedRoute) this.#stopReason = 'max-attempts'
  }
}
