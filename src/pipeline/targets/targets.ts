import type { GroupSelection } from '../../routing/chooser.ts'
import type { Route } from '../../routing/group.ts'
import { unreadableCredential } from '../failure.ts'
import type { CodecFor, Failed, ModelRequest, NoTarget, Target, TargetSequence } from '../types.ts'
import { isAmong, isMoreOfTheSame, isPassedOver, noteFailure, type Progress, targetOf } from './candidates.ts'
import { coolingTarget, firmTarget, targetAgain } from './last-resort.ts'
import { loadNameErrors } from './no-target.ts'

/** The routes of a model name, and how the request chooses in the groups on the way; `undefined` where there are none. */
interface FoundRoutes {
  routes: AsyncIterator<Route, undefined> | Iterator<Route, undefined>
  selection: GroupSelection | undefined
}

/** Rejects with `MODEL_NOT_FOUND` when the model name of the request leads to no target. */
async function routesFor(request: ModelRequest): Promise<FoundRoutes> {
  const { table, call, context } = request
  const resolution = table.resolutionOf(call.model)
  if (!resolution) throw await (await loadNameErrors()).unknownModel(call.model, table)
  if ('strategy' in resolution) return (await context.choosing()).routesThrough(resolution, request)
  return { routes: resolution.values(), selection: undefined }
}

/**
 * Which target to try next, given the outcomes so far. Cooling targets come after all others, the one that recovers first before the rest;
 * those whose cooldown is firm only when nothing was tried, and by one request at a time. A hedge never uses a cooling target, and does not
 * count against the retry budget.
 */
export class Targets implements TargetSequence {
  readonly #progress: Progress
  readonly #spares: Route[] = [] // left aside to keep the last attempt for another
  #found: FoundRoutes | undefined = undefined
  #attempts = 0 // in which a provider was called
  #retries = 0
  #isCooling = false // the targets that are left are cooling, or were tried
  #isFirm = false // a target whose cooldown is firm was tried, since no other was left
  #again: Route | undefined = undefined // whose target cannot compact, so that the gateway does it in the next attempt
  #stop: NoTarget['stop'] = undefined
  #untried: Route | undefined = undefined

  constructor(request: ModelRequest, codecFor: CodecFor) {
    this.#progress = {
      request,
      codecFor,
      isPinned: (route) => this.#found?.selection?.isPinned(route) ?? false,
      tried: [],
      failures: [],
      cooling: [],
      draining: [],
      refusal: undefined,
    }
  }

  async next({ hedge } = { hedge: false }): Promise<Target | undefined> {
    const { request, failures, tried } = this.#progress
    if (this.#stop || failures.some(isClientsFault)) return undefined
    this.#found ??= await routesFor(request)
    const { routes } = this.#found
    if (this.#attempts >= request.context.limits.maxAttempts) return hedge ? undefined : this.#outOfAttempts(routes)
    const healthy = await this.#nextHealthy(routes)
    const target = hedge ? healthy : healthy ? this.#affordable(healthy) : await this.#lastResort()
    if (!target) return undefined
    this.#attempts += 1
    tried.push(target.route.target)
    return target
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

  settled(route: Route | undefined): Promise<void> {
    const { failures, cooling, draining } = this.#progress
    const passedOver = () => [...[...failures, ...cooling].map(({ route }) => route), ...draining]
    return this.#found?.selection?.answered(route, passedOver()) ?? DONE
  }

  /** The attempt of the latest target begins: its load counts by itself now. */
  begun(): void {
    this.#found?.selection?.begun()
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
  async #nextHealthy(routes: FoundRoutes['routes']): Promise<Target | undefined> {
    const progress = this.#progress
    const spares = this.#spares
    const { request, failures } = progress
    const isLastAttempt = this.#attempts > 0 && this.#attempts === request.context.limits.maxAttempts - 1
    const again = this.#again
    this.#again = undefined
    const compacted = again && (await targetOf(again, progress))
    if (compacted) return compacted
    for (;;) {
      const next = routes.next()
      const { value: route } = 'value' in next ? next : await request.client.unlessGone(next)
      if (!route) break
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

  /** Was there another target? */
  async #outOfAttempts(routes: FoundRoutes['routes']): Promise<undefined> {
    const { tried } = this.#progress
    do this.#untried = this.#spares.shift() ?? (await routes.next()).value
    while (this.#untried && isAmong(tried, this.#untried.target))
    if (this.#untried) this.#stop = 'max-attempts'
  }
}

const DONE = Promise.resolve()

const isClientsFault = ({ failure }: Failed) => failure.class === 'client'
