import type { GatewayError } from '../../errors.ts'
import { getSettledValue } from '../../lib/promises.ts'
import { isAmbiguous, unreadableCredential } from '../codec/call-failure.ts'
import type { Stop } from '../hook-records.ts'
import type { ModelRequest } from '../model-request.ts'
import type { Failed, RefusedTarget, Target } from '../outcome.ts'
import type { GroupSelection } from '../routing/chooser.ts'
import type { Route } from '../routing/group.ts'
import {
  type CoolingTarget,
  createTarget,
  findBarrier,
  isAmong,
  isSkipped,
  noteFailure,
  type Progress,
  wouldRepeatFailure,
} from './candidates.ts'
import { coolingTarget, findMandatoryTarget, findTargetToRetry } from './last-resort.ts'
import { loadNameErrors } from './no-target.ts'
import { resolveForEndpoint } from './resolution.ts'

/** Why there is no next target. */
export interface NoTarget {
  /** Attempts or retries are used up. */
  stop: Stop | undefined
  /** The first route that no attempt was left for. */
  untried: Route | undefined
  /** The error of the first target whose format cannot carry the request, or that a step has refused. */
  refusal: GatewayError | undefined
  /** The error by which the whole request is refused: by a step, or because it may use none of its targets. Nothing else is replied then. */
  refusalOfRequest: GatewayError | undefined
  /** The targets that were passed over as they cool. */
  cooling: readonly CoolingTarget[]
  /** The routes that were passed over as their connections are draining. */
  draining: readonly Route[]
}

/** The routes of a model name, and how the request chooses in the groups on the way; `undefined` where there are none. */
interface FoundRoutes {
  routes: AsyncIterator<Route, undefined> | Iterator<Route, undefined>
  selection: GroupSelection | undefined
}

/**
 * Which target to try next, given the outcomes so far. Cooling targets come after all others, the one that recovers first before the rest;
 * those whose cooldown is mandatory only when nothing was tried, and by one request at a time. A hedge never uses a cooling target, and does not
 * count against the retry budget.
 *
 * The attempt at a target that `next` gives counts. `noteBegun` follows once nothing has refused it, and `note` or `noteAnswer` its outcome.
 */
export class Targets {
  readonly #request: ModelRequest
  readonly #progress: Progress
  readonly #spares: Route[] = [] // left aside to keep the last attempt for another
  #found: FoundRoutes | undefined = undefined
  #attempts = 0 // in which a provider was called
  #retries = 0
  /** How the latest target was chosen. All ways but the first are used when no other target is left. */
  #choice: 'turn' | 'spare' | 'cooling' | 'mandatory' | 'again' = 'turn'
  #isCooling = false // the targets that are left are cooling, or were tried
  #isMandatory = false // one whose cooldown is mandatory was chosen
  #again: Route | undefined = undefined // whose target lacks the endpoint, so that the request is translated in the next attempt
  #paidFor: Route | undefined = undefined // by the retry budget, the latest
  #stop: Stop | undefined = undefined
  #isOver = false
  #refusalOfRequest: GatewayError | undefined = undefined // by a step
  #untried: Route | undefined = undefined

  constructor(request: ModelRequest) {
    this.#request = request
    this.#progress = {
      request,
      isPinned: (route) => this.#found?.selection?.isPinned(route) ?? false,
      tried: [],
      failures: [],
      cooling: [],
      draining: [],
      refusal: undefined,
      barred: undefined,
    }
  }

  /**
   * The next target; `undefined` when there is none, the client is at fault, or the attempts or the retry budget are used up. `isHedge`: for an
   * attempt beside one that is in flight. Rejects with `MODEL_NOT_FOUND` when the model name leads to no target.
   */
  async next({ isHedge } = { isHedge: false }): Promise<Target | undefined> {
    const target = await this.#choose({ isHedge })
    return target && this.#count(target, { isHedge })
  }

  async #choose({ isHedge }: { isHedge: boolean }): Promise<Target | undefined> {
    const { failures, cooling } = this.#progress
    if (this.#stop || this.#isOver || failures.some((failed) => this.#isFinal(failed))) return undefined
    const request = this.#request
    if (!this.#found) {
      const { table, call, context, list } = request
      const resolution = list ?? resolveForEndpoint(call.endpoint, call.model, table)
      if (!resolution) throw await (await loadNameErrors()).unknownModel(call.model, table, call.endpoint)
      if ('strategy' in resolution) {
        const loading = context.choosing()
        this.#found = (getSettledValue(loading) ?? (await loading)).routesThrough(resolution, request)
      } else this.#found = { routes: resolution.values(), selection: undefined }
    }
    const { routes } = this.#found
    const { maxAttempts } = request.context.limits
    if (this.#attempts >= maxAttempts) return isHedge ? undefined : this.#outOfAttempts(routes)

    const again = this.#again
    this.#again = undefined
    this.#choice = 'turn'
    if (again) return createTarget(again, request)
    // The last attempt is kept for a target that is not more of the same, if there is one.
    const isLastAttempt = this.#attempts > 0 && this.#attempts === maxAttempts - 1
    for (;;) {
      const next = routes.next()
      const { value: route } = 'value' in next ? next : await request.client.scope.race(next)
      if (!route) break
      if (isSkipped(route, this.#progress)) continue
      if (!isLastAttempt || !wouldRepeatFailure(route.target, this.#progress)) return createTarget(route, request)
      this.#spares.push(route)
    }
    this.#choice = 'spare'
    const spare = this.#spares.shift()
    if (spare) return createTarget(spare, request)
    return isHedge || (this.#attempts === 0 && cooling.length === 0) ? undefined : this.#lastResort()
  }

  /** Is no other target of use after this failure, or would it be paid for twice? */
  #isFinal({ failure, route }: Failed): boolean {
    const { operation } = this.#request.call.endpoint
    if (operation.endsAt(failure)) return true
    if (!operation.isPaidOnAcceptance || !isAmbiguous(failure)) return false
    for (let step = route.via; step; step = step.before) if (step.group.retryAmbiguous) return false
    return true
  }

  /** Neither a step nor the target's format has refused the attempt. The targets that were left aside for the last one are not tried. */
  noteBegun(): void {
    if (this.#choice !== 'turn') return
    for (const spare of this.#spares.splice(0))
      this.#request.log.skipped(spare, this.failures.at(-1)?.failure.class ?? 'credentials')
  }

  /** The attempt at the target counts from now on; `undefined` if the retry budget is used up, so that it must not be made. */
  #count(target: Target, { isHedge }: { isHedge: boolean }): Target | undefined {
    const { route, permit } = target
    const isRetry = this.#attempts > 0 && !isHedge && this.#choice !== 'again' // which is paid for already
    if (isRetry && !this.#mayRetry()) {
      permit.drop()
      return undefined
    }
    if (isRetry) this.#paidFor = route
    this.#attempts += 1
    this.#progress.tried.push(route.target)
    this.#found?.selection?.releaseLoad() // the target's load counts by itself now
    return target
  }

  /** Takes note of an attempt that brought no answer. */
  note(outcome: Failed | RefusedTarget): void {
    const { route } = outcome
    if (outcome.kind === 'refused') {
      this.#attempts -= 1
      if (this.#paidFor === route) this.#request.context.retryBudget.giveBack()
      this.#withdraw(route, outcome.error)
      if (outcome.scope === 'format') this.#progress.tried.splice(this.#progress.tried.lastIndexOf(route.target), 1)
      if (outcome.scope === 'request') {
        this.#refusalOfRequest = outcome.error
        this.#isOver = true
      }
      return
    }
    const { failure } = outcome
    const { operation } = this.#request.call.endpoint
    if (failure.lacksEndpoint && operation.missing?.isTranslated) {
      this.#request.context.missingEndpoints.noteMissing(route.target, operation)
      this.#again = route
      this.#attempts -= 1
      return
    }
    noteFailure(outcome, this.#progress)
    if (failure === unreadableCredential) this.#attempts -= 1
  }

  /** The last failure of each target that was tried. */
  get failures(): readonly Failed[] {
    return this.#progress.failures
  }

  /** Takes note of the route whose answer the client gets, or of none: the groups on the way choose the next ones by that. */
  noteAnswer(route: Route | undefined): Promise<void> {
    const { failures, cooling, draining } = this.#progress
    const listSkipped = () => [...[...failures, ...cooling].map(({ route }) => route), ...draining]
    return this.#found?.selection?.settle(route, listSkipped()) ?? DONE
  }

  /** The request is over: an empty answer that the client did not get counts against its target. */
  close(): void {
    this.#found?.selection?.releaseLoad()
    for (const { empty, failure } of this.failures) empty?.log.emptyAnswerDropped(failure)
  }

  verdict(): NoTarget {
    const { tried, refusal, barred, cooling, draining } = this.#progress
    const isBarred = tried.length === 0 && !refusal && cooling.length === 0 && draining.length === 0
    const refusalOfRequest = this.#refusalOfRequest ?? (isBarred ? barred : undefined)
    return { stop: this.#stop, untried: this.#untried, refusal, refusalOfRequest, cooling, draining }
  }

  /** Neither this target nor a wait for it is of use to the request. */
  #withdraw(route: Route, error: GatewayError): void {
    const { cooling } = this.#progress
    this.#progress.refusal ??= error
    const at = cooling.findIndex((one) => one.route === route)
    if (at >= 0) cooling.splice(at, 1)
    this.#isOver ||= this.#choice === 'again'
  }

  /** When no other target is left: one that is cooling, else one that was tried before. */
  async #lastResort(): Promise<Target | undefined> {
    const progress = this.#progress
    const attempts = this.#attempts
    if (this.#isMandatory && progress.tried.length > 0) return undefined
    const cooling = coolingTarget(progress)
    if (cooling) {
      this.#choice = 'cooling'
      this.#isCooling = true
      return createTarget(cooling, this.#request)
    }
    if (attempts > 0) {
      this.#choice = 'again'
      return findTargetToRetry(progress, { times: this.#retries++, mayRetry: () => this.#mayRetry() })
    }
    this.#choice = 'mandatory'
    this.#isMandatory = true
    return findMandatoryTarget(progress)
  }

  #mayRetry(): boolean {
    if (!this.#request.context.retryBudget.spend({ isCooling: this.#isCooling })) this.#stop = 'retry-budget'
    return !this.#stop
  }

  /** Was there another target? */
  async #outOfAttempts(routes: FoundRoutes['routes']): Promise<undefined> {
    const { tried, request } = this.#progress
    const isExcluded = (route: Route) => isAmong(tried, route.target) || findBarrier(request, route) !== undefined
    do this.#untried = this.#spares.shift() ?? (await routes.next()).value
    while (this.#untried && isExcluded(this.#untried))
    if (this.#untried) this.#stop = 'max-attempts'
  }
}

const DONE = Promise.resolve()
