import type { ModelRequest } from '../model-request.ts'
import type { FailedAttempt, RejectedAttempt, Target } from '../outcome.ts'
import type { Route } from '../routing/group.ts'
import { type FoundRoutes, findRoutes } from './found-routes.ts'
import type { FirstRoute, FurtherTargets } from './further-targets.ts'
import { loadFurtherTargets } from './no-target.ts'
import { createTarget, isUsable } from './usable-target.ts'

/**
 * Chooses a request's targets. Most requests get a response from the first one. The code that chooses further ones is lazy-loaded when the first one
 * can't be used or fails.
 *
 * Each target that `next` returns is for one attempt. Call `recordStart` unless the attempt is rejected before its provider is called, and then
 * `recordOutcome` or `finish`.
 */
export class Targets {
  readonly #request: ModelRequest
  #foundRoutes: FoundRoutes | undefined = undefined
  #firstRoute: FirstRoute | undefined = undefined
  #furtherTargets: FurtherTargets | undefined = undefined

  constructor(request: ModelRequest) {
    this.#request = request
  }

  /**
   * Returns the next target. Returns `undefined` if there is none, if the client is at fault, or if the attempts or the retry budget are used up.
   * `isHedge` requests a target for a second attempt in parallel. Rejects with `MODEL_NOT_FOUND` if the model name has no target.
   */
  next({ isHedge } = { isHedge: false }): Promise<Target | undefined> {
    return this.#firstRoute
      ? this.loadFurther().then((furtherTargets) => furtherTargets.next({ isHedge }))
      : this.#chooseFirst()
  }

  async #chooseFirst(): Promise<Target | undefined> {
    const request = this.#request
    const lookup = findRoutes(request)
    this.#foundRoutes = 'routes' in lookup ? lookup : await lookup
    const { routes, selection } = this.#foundRoutes
    const next = routes.next()
    const { value: route } = 'value' in next ? next : await request.client.scope.race(next)
    if (!route || !isUsable(route, request, (candidate) => selection?.isPinned(candidate) ?? false)) {
      this.#firstRoute = { route, isTried: false }
      return (await this.loadFurther()).next()
    }
    this.#firstRoute = { route, isTried: true }
    const target = createTarget(route, request)
    selection?.releaseLoad() // from now on, the request itself counts as load
    return target
  }

  /** Loads the code that chooses further targets. */
  async loadFurther(): Promise<FurtherTargets> {
    const { FurtherTargets } = await loadFurtherTargets()
    const foundRoutes = this.#foundRoutes ?? { routes: [].values(), selection: undefined }
    this.#furtherTargets ??= new FurtherTargets(
      this.#request,
      foundRoutes,
      this.#firstRoute ?? { route: undefined, isTried: false },
    )
    return this.#furtherTargets
  }

  /** Records that neither a step nor the target's format has rejected the attempt. Targets set aside for the last attempt won't be tried. */
  recordStart(): void {
    this.#furtherTargets?.recordStart()
  }

  /** Records an attempt without a response. */
  async recordOutcome(outcome: FailedAttempt | RejectedAttempt): Promise<void> {
    const furtherTargets = await this.loadFurther()
    furtherTargets.recordOutcome(outcome)
  }

  /** Records which route's response the client gets, if any. The groups on the path use it for their next choice. */
  finish(route: Route | undefined): Promise<void> {
    return this.#foundRoutes?.selection?.finish(route, this.#furtherTargets?.listSkipped() ?? []) ?? RESOLVED
  }

  /** Ends the request. An empty response that the client didn't get counts against its target. */
  close(): void {
    this.#foundRoutes?.selection?.releaseLoad()
    this.#furtherTargets?.close()
  }
}

const RESOLVED = Promise.resolve()
