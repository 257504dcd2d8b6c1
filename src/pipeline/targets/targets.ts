import type { GroupSelection } from '../../routing/chooser.ts'
import type { Route } from '../../routing/group.ts'
import { unreadableCredential } from '../failure.ts'
import type { CodecFor, Failed, ModelRequest, NoTarget, Target, TargetSequence } from '../types.ts'
import { isAmong, isMoreOfTheSame, isPassedOver, noteFailure, type Progress, targetOf } from './candidates.ts'
import { coolingTarget, firmTarget, targetAgain } from './last-resort.ts'
import { loadNameErrors } from './no-target.ts'

/** The targets of a request, in the order in which to try them. Rejects with `MODEL_NOT_FOUND` when its model name leads to none. */
export async function targetsOf(request: ModelRequest, codecFor: CodecFor): Promise<Targets> {
  const { table, call } = request
  const resolution = table.resolutionOf(call.model)
  if (!resolution) throw await (await loadNameErrors()).unknownModel(call.model, table)
  if ('strategy' in resolution)
    return new Targets(request, codecFor, (await request.context.choosing()).routesThrough(resolution, request))
  return new Targets(request, codecFor, { routes: resolution.values(), selection: undefined })
}

/** The routes of a model name, and how the request chooses in the groups on the way; `undefined` where there are none. */
interface FoundRoutes {
  routes: AsyncIterator<Route, undefined> | Iterator<Route, undefined>
  selection: GroupSelection | undefined
}

/**
 * Which target to try next, given the outcomes so far. Cooling targets come after all others, the one that recovers first before the rest;
 * those whose cooldown is firm only when nothing was tried, and by one request at a time. A hedge never uses a cooling target, and does not
 * count against the retry budget.
 */
export class Targets implements TargetSequence, AsyncIterable<Target> {
  readonly #routes: FoundRoutes['routes']
  readonly #selection: GroupSelection | undefined
  readonly #progress: Progress
  readonly #spares: Route[] = [] // left aside to keep the last attempt for another
  #attempts = 0 // in which a provider was called
  #retries = 0
  #isCooling = false // the targets that are left are cooling, or were tried
  #isFirm = false // a target whose cooldown is firm was tried, since no other was left
  #again: Route | undefined = undefined // whose target cannot compact, so that the gateway does it in the next attempt
  #stop: NoTarget['stop'] = undefined
  #untried: Route | undefined = undefined

  constructor(request: ModelRequest, codecFor: CodecFor, { routes, selection }: FoundRoutes) {
    this.#routes = routes
    this.#selection = selection
    const isPinned = (route: Route) => selection?.isPinned(route) ?? false
    this.#progress = {
      request,
      codecFor,
      isPinned,
      tried: [],
      failures: [],
      cooling: [],
      draining: [],
      refusal: undefined,
    }
  }

  [Symbol.asyncIterator](): AsyncIterator<Target, undefined> {
    const next = async (): Promise<IteratorResult<Target, undefined>> => {
      const value = await this.next()
      return value ? { value } : { value, done: true }
    }
    return { next }
  }

  async next({ hedge } = { hedge: false }): Promise<Target | undefined> {
    const { failures, request } = this.#progress
    if (this.#stop || failures.some(isClientsFault)) return undefined
    if (this.#attempts >= request.context.limits.maxAttempts) return hedge ? undefined : this.#outOfAttempts()
    const found = await this.#nextHealthy()
    if (hedge || !found) return this.#counted(found ?? (hedge ? undefined : await this.#lastResort()))
    return this.#counted(this.#affordable(found))
  }

  failed(failed: Failed): void {
    const { failure, route } = failed
    if (failure.isUncompacted) {
      this.#progress.request.context.compactions.noteLacking(route.target)
      this.#again = route
      this.#attempts -= 1
      return
    }
    noteFailure(failed, this.#progress)
    if (failure === unreadableCredential) this.#attempts -= 1
  }

  get failures(): readonly Failed[] {
    return this.#progress.failures
  }

  async settled(route: Route | undefined): Promise<void> {
    const { failures, cooling, draining } = this.#progress
    await this.#selection?.answered(route, [...[...failures, ...cooling].map(({ route }) => route), ...draining])
  }

  /** The attempt of the latest target begins: its load counts by itself now. */
  begun(): void {
    this.#selection?.begun()
  }

  /** The request is over: an empty answer that the client did not get counts against its target. */
  close(): void {
    this.begun()
    for (const { empty, failure } of this.failures) empty?.log.emptyAnswerDropped(failure)
  }

  verdict(): NoTarget {
    const { refusal, cooling, draining } = this.#progress
    return { stop: this.#stop, untried: this.#untried, refusal, cooling, draining }
  }

  /**
   * The next target that is not passed over. The last attempt is kept for one that is not more of the same, if there is one.
   */
  async #nextHealthy(): Promise<Target | undefined> {
    const progress = this.#progress
    const spares = this.#spares
    const { request, failures } = progress
    const isLastAttempt = this.#attempts > 0 && this.#attempts === request.context.limits.maxAttempts - 1
    const again = this.#again
    this.#again = undefined
    const compacted = again && (await targetOf(again, progress))
    if (compacted) return compacted
    for (let route = await this.#nextRoute(); route; route = await this.#nextRoute()) {
      if (isPassedOver(route, progress)) continue
      if (isLastAttempt && isMoreOfTheSame(route.target, progress)) {
        spares.push(route)
        continue
      }
      const target = await targetOf(route, progress)
      if (!target) continue
      for (const spare of spares.splice(0)) request.log.skipped(spare, failures.at(-1)?.failure.class ?? 'credentials')
      return target
    }
    const spare = spares.shift()
    return spare && targetOf(spare, progress)
  }

  async #nextRoute(): Promise<Route | undefined> {
    const next = this.#routes.next()
    return (await ('value' in next ? next : this.#progress.request.client.unlessGone(next))).value
  }

  /** When no other target is left: one that is cooling, else one that was tried before. */
  async #lastResort(): Promise<Target | undefined> {
    const progress = this.#progress
    const attempts = this.#attempts
    if (this.#isFirm || (attempts === 0 && progress.cooling.length === 0)) return undefined
    const cooling = await coolingTarget(progress)
    if (cooling) {
      this.#isCooling = true
      return this.#affordable(cooling)
    }
    const mayRetry = () => this.#mayRetry()
    if (attempts > 0) return targetAgain(progress, { times: this.#retries++, mayRetry })
    this.#isFirm = true
    return firmTarget(progress)
  }

  /** The target, if the retry budget has an attempt left for it; the first one needs none. */
  #affordable(target: Target): Target | undefined {
    if (this.#attempts === 0 || this.#mayRetry()) return target
    target.permit.dropped()
    return undefined
  }

  #mayRetry(): boolean {
    if (!this.#progress.request.context.retryBudget.spend({ isCooling: this.#isCooling })) this.#stop = 'retry-budget'
    return !this.#stop
  }

  #counted(target: Target | undefined): Target | undefined {
    if (!target) return undefined
    this.#attempts += 1
    this.#progress.tried.push(target.route.target)
    return target
  }

  /** Was there another target? */
  async #outOfAttempts(): Promise<undefined> {
    const { tried } = this.#progress
    do this.#untried = this.#spares.shift() ?? (await this.#routes.next()).value
    while (this.#untried && isAmong(tried, this.#untried.target))
    if (this.#untried) this.#stop = 'max-attempts'
  }
}

const isClientsFault = ({ failure }: Failed) => failure.class === 'client'
