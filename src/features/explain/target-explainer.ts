import { type GatewayError, gatewayError, isGatewayError } from '../../errors.ts'
import { getPriceOrigin } from '../../protocols/providers/catalog-model.ts'
import { pickCloserError } from '../../request/choose/candidates.ts'
import { createDrainingError } from '../../request/codec/call-failure.ts'
import type { CodecRequest } from '../../request/codec/codec.ts'
import { encodeRequest } from '../../request/codec/encode.ts'
import type { PipelineContext } from '../../request/context.ts'
import type { ExplainedTarget, Explanation } from '../../request/routing/explanation.ts'
import type { GroupChoice, Route } from '../../request/routing/group.ts'
import { formatVia, serializeParams } from '../../request/routing/group.ts'
import { explainChoice } from '../../request/routing/strategies.ts'
import type { CooldownState } from '../../request/routing/unhealthy-targets.ts'
import type { RejectionPreview, TargetRule } from '../../request/steps.ts'
import type { Catalog } from '../../types.ts'
import type { getCachingMode } from '../prompt-caching/caching-mode.ts'
import type { PromptCachingFeature } from '../prompt-caching/prompt-caching-feature.ts'
import { explainPromptCaching, hasContent } from './explain-prompt-caching.ts'

/** A request that is only explained, not sent. */
export interface UnsentRequest extends CodecRequest {
  context: PipelineContext
  /** How the explanation refers to the caller: `API key` or `account`. */
  subject: string
  isAllowed(route: Route): boolean
  targetRules: readonly TargetRule[]
  /** Explains why the caller's limits would reject the request. */
  previewRejection: RejectionPreview | undefined
  promptCaching: Pick<PromptCachingFeature, 'load'>
  getCachingMode(route: Route): ReturnType<typeof getCachingMode>
}

export const createNotAllowedError = (subject: string, name: string) =>
  gatewayError('MODEL_NOT_ALLOWED', { message: `The ${subject} is not allowed to use the model "${name}".` })

/** Explains how a request would use each of its routes and which error the client would get if none of them works. */
export class TargetExplainer {
  readonly #routes: readonly Route[]
  readonly #request: UnsentRequest
  readonly #maxAttempts: number
  readonly #cooldowns: ReadonlyArray<CooldownState | undefined>
  readonly #rejections = new Map<Route, RouteRejection | undefined>()
  readonly #targets: ExplainedTarget[] = []
  readonly #seenTargets = new Set<string>()
  readonly #coolingRoutes: CoolingRoute[] = []
  #usedCount = 0
  /** The model that all targets so far have in common, if any. */
  #sharedModel: string | undefined
  #rejection: RouteRejection | undefined
  #hasDrainingTarget = false
  #forbiddenError: GatewayError | undefined

  constructor(routes: readonly Route[], request: UnsentRequest) {
    const { health, limits } = request.context
    this.#routes = routes
    this.#request = request
    this.#maxAttempts = limits.maxAttempts
    this.#cooldowns = routes.map(({ target }) => health.getCooldown(target))
  }

  async explain(): Promise<Pick<Explanation, 'targets' | 'error'>> {
    for (const [index, route] of this.#routes.entries()) this.#targets.push(await this.#explainRoute(index, route))
    for (const coolingRoute of this.#coolingRoutes.sort(compareRecoveries)) await this.#explainLastResort(coolingRoute)
    await this.#addPromptCaching()
    const error = this.#findError()
    if (!error) return { targets: this.#targets }
    const { status, code, message } = error
    return { targets: this.#targets, error: { status, code, message } }
  }

  async #explainRoute(index: number, route: Route): Promise<ExplainedTarget> {
    const cooldown = this.#cooldowns[index]
    const { connection, model } = route.target
    const targetKey = JSON.stringify([connection.id, model, serializeParams(route.target)])
    if (this.#seenTargets.has(targetKey)) return this.#explainTarget(route, 'skipped', 'already in this list')
    this.#seenTargets.add(targetKey)
    const obstacle = this.#findObstacle(route)
    if (obstacle) {
      this.#forbiddenError = pickCloserError(this.#forbiddenError, obstacle.error)
      return this.#explainTarget(route, 'skipped', obstacle.why)
    }
    if (connection.draining) {
      this.#hasDrainingTarget = true
      return this.#explainTarget(route, 'skipped', DRAINING_REASON)
    }
    if (cooldown) {
      this.#coolingRoutes.push({ index, route, cooldown })
      return this.#explainTarget(route, 'skipped', describeCooldown(cooldown))
    }
    const usedCount = this.#usedCount
    const isLastAttempt = usedCount > 0 && usedCount === this.#maxAttempts - 1
    if (isLastAttempt && formatModel(route) === this.#sharedModel && (await this.#hasLaterModel(index)))
      return this.#explainTarget(
        route,
        'beyond',
        `${explainRoute(route)}; the last attempt is reserved for another model`,
      )
    const reason = usedCount < this.#maxAttempts ? await this.#getRejection(route) : undefined
    if (!this.#rejection || reason?.rejectsRequest) this.#rejection = reason
    if (reason) return this.#explainTarget(route, 'skipped', reason.why)
    const sharesModel = usedCount === 0 || this.#sharedModel === formatModel(route)
    this.#sharedModel = sharesModel ? formatModel(route) : undefined
    this.#usedCount++
    const use = usedCount === 0 ? 'first' : usedCount < this.#maxAttempts ? 'next' : 'beyond'
    return this.#explainTarget(route, use, explainRoute(route))
  }

  /** Explains a target in cooldown, which is called only if no other target is left. */
  async #explainLastResort({ index, route, cooldown }: CoolingRoute): Promise<void> {
    if (this.#usedCount > 0 && (cooldown.isMandatory || this.#usedCount >= this.#maxAttempts)) return
    const reason = await this.#getRejection(route)
    if (!this.#rejection || reason?.rejectsRequest) this.#rejection = reason
    this.#targets[index] = reason
      ? this.#explainTarget(route, 'skipped', reason.why)
      : this.#explainTarget(route, 'last-resort', describeCooldown(cooldown))
    if (!reason) this.#usedCount++
  }

  async #addPromptCaching(): Promise<void> {
    const { promptCaching: cachingFeature } = this.#request
    for (const [index, route] of this.#routes.entries()) {
      const target = this.#targets[index]
      if (!target || target.use === 'skipped' || target.use === 'beyond') continue
      const mode = this.#request.getCachingMode(route)
      const promptCaching =
        mode && (await explainPromptCaching(this.#request, route, { mode, promptCaching: cachingFeature }))
      if (promptCaching) this.#targets[index] = { ...target, promptCaching }
    }
  }

  /** Returns the error that the client would get, or `undefined` if a target can be called or there is a default response. */
  #findError(): GatewayError | undefined {
    const { call } = this.#request
    const rejection = this.#rejection
    const { missing } = call.endpoint.operation
    const hasDefaultResponse = missing?.getResponse !== undefined && rejection?.error.data.param !== 'model'
    if (this.#usedCount > 0 || (hasDefaultResponse && !rejection?.rejectsRequest)) return undefined
    return rejection?.error ?? (this.#hasDrainingTarget ? createDrainingError(call.model) : this.#forbiddenError)
  }

  #explainTarget(route: Route, use: ExplainedTarget['use'], why: string): ExplainedTarget {
    return explainRouteTarget(route, this.#request.context.catalog, { use, why })
  }

  async #getRejection(route: Route): Promise<RouteRejection | undefined> {
    if (this.#rejection?.rejectsRequest) return this.#rejection
    if (!this.#rejections.has(route)) this.#rejections.set(route, await findRejection(this.#request, route))
    return this.#rejections.get(route)
  }

  /** Returns why the request may not use the route: the error that the client would get, and the reason as worded in the explanation. */
  #findObstacle(route: Route): { error: GatewayError; why: string } | undefined {
    const { subject, call, isAllowed, targetRules } = this.#request
    if (!isAllowed(route))
      return { error: createNotAllowedError(subject, call.model), why: `the ${subject} is not allowed to use it` }
    for (const rule of targetRules) {
      const error = rule({ call }, route.target, route)
      if (error) return { error, why: error.message }
    }
    return undefined
  }

  /** Returns whether a target with a different model follows. If so, the last attempt is reserved for that target. */
  async #hasLaterModel(index: number): Promise<boolean> {
    for (const [later, route] of this.#routes.entries())
      if (
        later > index &&
        !this.#findObstacle(route) &&
        isAvailable(route, this.#cooldowns[later]) &&
        formatModel(route) !== this.#sharedModel &&
        !(await this.#getRejection(route))
      )
        return true
    return false
  }
}

const DRAINING_REASON = 'its connection is draining and only accepts requests from its existing sessions'

interface CoolingRoute {
  index: number
  route: Route
  cooldown: CooldownState
}

const isAvailable = ({ target }: Route, cooldown: CooldownState | undefined) => !cooldown && !target.connection.draining

/** Sorts targets in a mandatory cooldown last. */
const compareRecoveries = ({ cooldown: a }: CoolingRoute, { cooldown: b }: CoolingRoute) =>
  Number(a.isMandatory) - Number(b.isMandatory) || a.dueAt - b.dueAt

const formatModel = ({ target }: Route) => `${target.provider}/${target.model}`

/** Why a target isn't called. */
interface RouteRejection {
  error: GatewayError
  /** The reason, as worded in the explanation. */
  why: string
  /** Whether the entire request is rejected, regardless of the target. */
  rejectsRequest: boolean
}

async function findRejection(request: UnsentRequest, route: Route): Promise<RouteRejection | undefined> {
  const error = await findFormatError(request, route)
  if (error) return { error, why: `its format does not support the request: ${error.message}`, rejectsRequest: false }
  const limitRejection = await request.previewRejection?.(request, route.target)
  if (!limitRejection) return undefined
  const { advice, ...rejection } = limitRejection
  return { ...rejection, why: [rejection.error.message, advice].filter(Boolean).join(' ') }
}

/** Returns why the target's format doesn't support the request. Skips the check for a body without content, which only outlines a request. */
async function findFormatError(request: CodecRequest, { target }: Route): Promise<GatewayError | undefined> {
  if (!hasContent(request)) return undefined
  try {
    await encodeRequest(request, target)
    return undefined
  } catch (error) {
    if (isGatewayError(error, 'INVALID_REQUEST') || isGatewayError(error, 'FORMAT_MISMATCH')) return error
    throw error
  }
}

function describeCooldown({ level, class: failure, retryAt }: CooldownState): string {
  const until = Number.isFinite(retryAt)
    ? `until ${new Date(retryAt).toISOString()}`
    : 'and is being probed by another request'
  return `${level} is in cooldown after "${failure}" ${until}`
}

const explainRoute = ({ via }: Route) => (via ? explainChoices(via) : 'ordered by connection priority')

/** Returns why each group chose its entry, outermost group first. */
const explainChoices = (choice: GroupChoice): string =>
  `${choice.parent ? `${explainChoices(choice.parent)}; ` : ''}${choice.group.name}: ${explainChoice(choice)}`

function explainRouteTarget(
  { target, via, on }: Route,
  catalog: Catalog,
  { use, why }: Pick<ExplainedTarget, 'use' | 'why'>,
): ExplainedTarget {
  const { provider, model, connection, params } = target
  const targetFields = { provider, model, connectionId: connection.id, connection: connection.name }
  const price = getPriceOrigin(catalog, target)
  return {
    ...targetFields,
    use,
    why,
    ...(on && { on: [...on] }),
    ...(params && { params }),
    ...(price && { price }),
    ...(via && { via: formatVia(via) }),
  }
}
