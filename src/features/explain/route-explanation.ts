import { type GatewayError, gatewayError, isGatewayError, toGatewayError } from '../../errors.ts'
import { encodeUtf8 } from '../../lib/bytes.ts'
import type { JsonObject } from '../../lib/json.ts'
import { getFormat } from '../../protocols/formats/formats.ts'
import { endpoints } from '../../protocols/kinds/kinds.ts'
import { getPriceOrigin } from '../../protocols/providers/catalog-model.ts'
import type { Caller } from '../../request/caller.ts'
import { pickCloserError } from '../../request/choose/candidates.ts'
import { createGroupRoutes, entryPolicyRule } from '../../request/choose/group-routing.ts'
import { createUnknownModelError } from '../../request/choose/unknown-model.ts'
import { createDrainingError } from '../../request/codec/call-failure.ts'
import type { CodecRequest } from '../../request/codec/codec.ts'
import { encodeRequest } from '../../request/codec/encode.ts'
import { parseModelCall } from '../../request/codec/model-call.ts'
import type { PipelineContext } from '../../request/context.ts'
import { addPolicies, type DataPolicy } from '../../request/data-policy.ts'
import { excludeEntries } from '../../request/function-conditions.ts'
import { redirectMediaCall } from '../../request/media-redirect.ts'
import { hasOwnSettings } from '../../request/read-request.ts'
import { readFacts } from '../../request/request-facts.ts'
import type { ChooseModels } from '../../request/route-call.ts'
import { checkComboKind } from '../../request/routing/combo-kinds.ts'
import type { ExplainedTarget, Explanation, SkippedEntry } from '../../request/routing/explanation.ts'
import type { Group, GroupChoice, GroupEntry, Route, RouteTarget } from '../../request/routing/group.ts'
import { formatVia, getRequestedName, serializeParams } from '../../request/routing/group.ts'
import type { RouteTable } from '../../request/routing/route-table.ts'
import { findUnmetPart } from '../../request/routing/routing-facts.ts'
import { explainChoice } from '../../request/routing/strategies.ts'
import type { CooldownState } from '../../request/routing/unhealthy-targets.ts'
import type { NameRule, RejectionPreview, TargetRule } from '../../request/steps.ts'
import type { Catalog, Kind } from '../../types.ts'
import { getCachingMode } from '../prompt-caching/caching-mode.ts'
import type { PromptCachingFeature } from '../prompt-caching/prompt-caching-feature.ts'
import { explainPromptCaching, hasContent } from './explain-prompt-caching.ts'

/** A request to explain. It isn't sent. */
export interface RoutingInput {
  model: string
  body: JsonObject
  /** Header values by lowercase name. */
  headers: ReadonlyMap<string, string>
  path: string
  caller: Caller
  /** The models and kinds that the caller may use; absent means all. */
  access?: CallerAccess | undefined
  /** Explains why the caller's limits would reject the request. */
  previewRejection?: RejectionPreview | undefined
  /** Calls the `route` function. Absent if there is none. */
  chooseModels?: ChooseModels | undefined
  promptCaching: Pick<PromptCachingFeature, 'load'>
}

/** The allowed models and kinds of a caller. */
interface CallerAccess {
  allowsKind(kind: Kind): boolean
  allowsModel(model: string, table: RouteTable): boolean
  allowsTarget(model: string, target: RouteTarget): boolean
  readonly policies: readonly DataPolicy[]
}

const knownPaths = endpoints.map(({ path }) => `"${path}"`).join(', ')

/** Combos can have thousands of targets, so the explanation is capped. */
const MAX_TARGETS = 1_000

/**
 * Explains how a request would be handled, without calling a provider or changing any state. Throws `INVALID_REQUEST` for a path that isn't a model
 * endpoint.
 */
export async function explainRouting(routing: RoutingInput, gateway: PipelineContext): Promise<Explanation> {
  const { model, body, headers, path, caller, access, previewRejection, chooseModels, promptCaching } = routing
  const { owner } = caller
  const subject = caller.key ? 'API key' : 'account'
  const endpoint = endpoints.find((endpoint) => endpoint.path === path)
  if (!endpoint) throw gatewayError('INVALID_REQUEST', { message: `"path" must be one of ${knownPaths}.` })
  const format = getFormat(endpoint.format)
  const header = (name: string) => headers.get(name.toLowerCase())
  const isModelOutsideBody = endpoint.headers !== undefined || path.includes('{model}')
  const text = JSON.stringify(isModelOutsideBody ? body : { ...body, model })
  const parsedCall = parseModelCall(encodeUtf8(text), endpoint, isModelOutsideBody ? { model } : {})
  const leftOut: SkippedEntry[] = []
  const routes: Route[] = []
  let decision: Pick<Explanation, 'route'> = {}
  let failure: string | undefined // why one of the app's functions failed
  try {
    const table = await gateway.routes()
    const call = endpoint.format === 'gemini' ? await redirectMediaCall(parsedCall, '?alt=sse', table) : parsedCall
    for (const { operation } of [endpoint, call.endpoint])
      if (access?.allowsKind(operation.kind) === false)
        throw gatewayError('MODEL_NOT_ALLOWED', {
          message: `The ${subject} is not allowed to use models of kind "${operation.kind}".`,
        })
    const settings = await gateway.settings()
    const unsent = { header, copyHeaders() {}, query: '' } // the explanation sends no headers and no query
    const targetRules: TargetRule[] = [entryPolicyRule]
    const log = { nameRules: listNameRules(access, subject), targetRules, caller, tags: undefined }
    addPolicies(access?.policies ?? [], log)
    const source = { call, exchange: unsent, context: gateway, table, settings, log }
    const requestSettings = hasOwnSettings(source) ? await gateway.readRequestSettings(source) : undefined
    const { exchange = unsent, list: ownList } = requestSettings ?? {}
    const excluded = new Set<GroupEntry>()
    const { clock } = gateway
    const { code } = table
    const onError = (error: unknown) => {
      failure = toGatewayError(error).message
    }
    const evaluate = (group: Group) =>
      excludeEntries(group, excluded, { id: '', call: parsedCall, exchange, caller, clock, code, onError })
    const functions = code.conditions.length > 0 ? { excluded, evaluate } : undefined
    const facts = readFacts(parsedCall, { owner, header: (name) => exchange.header(name), functions })
    const isAllowed = (target: RouteTarget, ...names: string[]) =>
      !access || names.some((name) => access.allowsTarget(name, target))
    const ownContext = gateway.withRules(gateway, settings, ownList ?? table.findRuledCombo(model))
    const routable = {
      ...{ id: '', call, caller, exchange, table, settings, context: ownContext, unruled: gateway },
      ...(ownList && { list: ownList }),
      isAllowed: (target: RouteTarget, name: string) => isAllowed(target, model, name),
    }
    const routed = await chooseModels?.(routable, (error) => {
      decision = { route: { error: toGatewayError(error).message } }
    })
    if (chooseModels) decision = { route: routed ? { models: [...routed.names] } : (decision.route ?? {}) }
    const list = routed?.group ?? ownList
    const context = routed ? gateway.withRules(gateway, settings, list) : ownContext
    const resolver = {
      table,
      select: (await context.loadGroupRouting()).previewSelection(facts, context.health),
      onExcluded: (entry: GroupEntry, { group }: Pick<GroupChoice, 'group'>) => {
        const unmet = findUnmetPart(facts, entry)
        if (unmet !== undefined) leftOut.push({ combo: group.name, model: entry.name, unmet })
      },
      onUnresolved: ({ name }: GroupEntry, choice: Pick<GroupChoice, 'group'>) =>
        leftOut.push({ combo: choice.group.name, model: name, unmet: 'unreachable' }),
    }
    const resolution = list ?? table.resolveModel(model, undefined, call.endpoint.service)
    if (!resolution) throw await createUnknownModelError(model, table, endpoint)
    if (resolution !== list && 'strategy' in resolution) checkComboKind(resolution, call.endpoint, table)
    const found = 'strategy' in resolution ? createGroupRoutes(resolution, model, resolver) : resolution
    for await (const route of found) {
      routes.push(route)
      if (routes.length === MAX_TARGETS) break
    }
    const unsentRequest: UnsentRequest = {
      call,
      format,
      context,
      table,
      exchange,
      owner,
      subject: subject,
      previewRejection,
      isAllowed: (route) =>
        routed
          ? isAllowed(route.target, model, routed.getName(route))
          : isAllowed(route.target, getRequestedName(route, { call, list })),
      targetRules,
      promptCaching,
      getCachingMode: (route) => getCachingMode({ call, settings, exchange, log }, route),
    }
    return { model, ...decision, ...(await explainTargets(routes, unsentRequest)), leftOut }
  } catch (error) {
    const { status, code, message } = toGatewayError(error)
    if (status >= 500 && code !== 'ROUTE_FAILED') throw error
    return { model, ...decision, targets: [], leftOut, error: { status, code, message: failure ?? message } }
  }
}

/** A request that isn't sent. */
type UnsentRequest = CodecRequest &
  Pick<RoutingInput, 'previewRejection' | 'promptCaching'> & {
    context: PipelineContext
    subject: string
    isAllowed(route: Route): boolean
    targetRules: readonly TargetRule[]
    getCachingMode(route: Route): ReturnType<typeof getCachingMode>
  }

const listNameRules = (access: CallerAccess | undefined, subject: string): NameRule[] =>
  access ? [(name, table) => (access.allowsModel(name, table) ? undefined : createNotAllowedError(subject, name))] : []

const createNotAllowedError = (subject: string, name: string) =>
  gatewayError('MODEL_NOT_ALLOWED', { message: `The ${subject} is not allowed to use the model "${name}".` })

/** Explains how a request would use each of its routes, and which error the client would get if none of them works. */
async function explainTargets(
  routes: readonly Route[],
  request: UnsentRequest,
): Promise<Pick<Explanation, 'targets' | 'error'>> {
  const { context, call } = request
  const { health, limits } = context
  const cooldowns = routes.map(({ target }) => health.getCooldown(target))
  const rejections = new Map<Route, RouteRejection | undefined>()
  const targets: ExplainedTarget[] = []
  let usedCount = 0
  let sharedModel: string | undefined // the model of all targets so far, unless they differ
  const seen = new Set<string>()
  const cooling: CoolingRoute[] = []
  let rejection: RouteRejection | undefined
  let hasDrainingTarget = false
  let forbiddenError: GatewayError | undefined

  const explainTarget = (route: Route, use: ExplainedTarget['use'], reason: string) =>
    explainRouteTarget(route, context.catalog, { use, why: reason })

  async function getRejection(route: Route): Promise<RouteRejection | undefined> {
    if (rejection?.rejectsRequest) return rejection
    if (!rejections.has(route)) rejections.set(route, await findRejection(request, route))
    return rejections.get(route)
  }

  /** Returns why the request may not use the route: the error for its client, and the reason in the explanation's words. */
  function findBarrier(route: Route): { error: GatewayError; why: string } | undefined {
    if (!request.isAllowed(route))
      return {
        error: createNotAllowedError(request.subject, call.model),
        why: `the ${request.subject} is not allowed to use it`,
      }
    for (const rule of request.targetRules) {
      const error = rule({ call }, route.target, route)
      if (error) return { error, why: error.message }
    }
    return undefined
  }

  /** Whether a target with a different model follows. If so, the last attempt is reserved for that target. */
  async function hasLaterModel(index: number): Promise<boolean> {
    for (const [later, route] of routes.entries())
      if (
        later > index &&
        !findBarrier(route) &&
        isAvailable(route, cooldowns[later]) &&
        formatModel(route) !== sharedModel &&
        !(await getRejection(route))
      )
        return true
    return false
  }

  for (const [index, route] of routes.entries()) {
    const cooldown = cooldowns[index]
    const { connection, model } = route.target
    const targetKey = JSON.stringify([connection.id, model, serializeParams(route.target)])
    if (seen.has(targetKey)) {
      targets.push(explainTarget(route, 'skipped', 'already in this list'))
      continue
    }
    seen.add(targetKey)
    const barrier = findBarrier(route)
    if (barrier) {
      forbiddenError = pickCloserError(forbiddenError, barrier.error)
      targets.push(explainTarget(route, 'skipped', barrier.why))
      continue
    }
    if (connection.draining) {
      hasDrainingTarget = true
      targets.push(
        explainTarget(
          route,
          'skipped',
          'its connection is draining and only accepts requests from its existing sessions',
        ),
      )
      continue
    }
    if (cooldown) {
      cooling.push({ at: index, route, cooldown })
      targets.push(explainTarget(route, 'skipped', describeCooldown(cooldown)))
      continue
    }
    if (
      usedCount > 0 &&
      usedCount === limits.maxAttempts - 1 &&
      formatModel(route) === sharedModel &&
      (await hasLaterModel(index))
    ) {
      targets.push(
        explainTarget(route, 'beyond', `${explainRoute(route)}; the last attempt is reserved for another model`),
      )
      continue
    }
    const reason = usedCount < limits.maxAttempts ? await getRejection(route) : undefined
    if (!rejection || reason?.rejectsRequest) rejection = reason
    const use = usedCount === 0 ? 'first' : usedCount < limits.maxAttempts ? 'next' : 'beyond'
    targets.push(reason ? explainTarget(route, 'skipped', reason.why) : explainTarget(route, use, explainRoute(route)))
    if (!reason) sharedModel = usedCount++ === 0 || sharedModel === formatModel(route) ? formatModel(route) : undefined
  }
  for (const { at, route, cooldown } of cooling.sort(compareRecoveries)) {
    if (usedCount > 0 && (cooldown.isMandatory || usedCount >= limits.maxAttempts)) continue
    const reason = await getRejection(route)
    if (!rejection || reason?.rejectsRequest) rejection = reason
    targets[at] = reason
      ? explainTarget(route, 'skipped', reason.why)
      : explainTarget(route, 'last-resort', describeCooldown(cooldown))
    if (!reason) usedCount++
  }
  for (const [index, route] of routes.entries()) {
    const target = targets[index]
    if (!target || target.use === 'skipped' || target.use === 'beyond') continue
    const mode = request.getCachingMode(route)
    const promptCaching =
      mode && (await explainPromptCaching(request, route, { mode, promptCaching: request.promptCaching }))
    if (promptCaching) targets[index] = { ...target, promptCaching }
  }
  const { missing } = call.endpoint.operation
  const hasDefaultResponse = missing?.getResponse !== undefined && rejection?.error.data.param !== 'model'
  if (usedCount > 0 || (hasDefaultResponse && !rejection?.rejectsRequest)) return { targets }
  const error = rejection?.error ?? (hasDrainingTarget ? createDrainingError(call.model) : forbiddenError)
  if (!error) return { targets }
  const { status, code, message } = error
  return { targets, error: { status, code, message } }
}

interface CoolingRoute {
  at: number
  route: Route
  cooldown: CooldownState
}

const isAvailable = ({ target }: Route, cooldown: CooldownState | undefined) => !cooldown && !target.connection.draining

/** Sorts targets in a mandatory cooldown last. */
const compareRecoveries = ({ cooldown: one }: CoolingRoute, { cooldown: other }: CoolingRoute) =>
  Number(one.isMandatory) - Number(other.isMandatory) || one.dueAt - other.dueAt

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

/** Returns the reasons of the groups, outermost first. */
const explainChoices = (choice: GroupChoice): string =>
  `${choice.before ? `${explainChoices(choice.before)}; ` : ''}${choice.group.name}: ${explainChoice(choice)}`

function explainRouteTarget(
  { target, via, on }: Route,
  catalog: Catalog,
  { use, why }: Pick<ExplainedTarget, 'use' | 'why'>,
): ExplainedTarget {
  const { provider, model, connection, params } = target
  const where = { provider, model, connectionId: connection.id, connection: connection.name }
  const price = getPriceOrigin(catalog, target)
  return {
    ...where,
    use,
    why,
    ...(on && { on: [...on] }),
    ...(params && { params }),
    ...(price && { price }),
    ...(via && { via: formatVia(via) }),
  }
}
