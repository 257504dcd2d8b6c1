import { createInputError } from '../../admin/input.ts'
import { parseRouteResult } from '../../admin/request-models.ts'
import type { Reply } from '../../lib/exchange.ts'
import { isObject } from '../../lib/json.ts'
import { getPrice } from '../../protocols/providers/catalog-model.ts'
import { callDecider, type DeciderOptions } from '../../request/call-decider.ts'
import type { CallRequest } from '../../request/call-steps.ts'
import {
  type ChooseModels,
  type RoutableRequest,
  RouteCallFacts,
  type RouteCandidate,
  type RoutedModels,
} from '../../request/route-call.ts'
import { requireComboKind, requireOneModel } from '../../request/routing/combo-kinds.ts'
import { type GroupEntry, getRequestedName, type Route, type RouteTarget } from '../../request/routing/group.ts'
import { getEntryLookup } from '../../request/routing/group-reach.ts'
import { findMissingProviders } from '../../request/routing/known-names.ts'
import { getCallableName } from '../../request/routing/route-table.ts'
import type { CallChange, TargetRule } from '../../request/steps.ts'
import type { RequestModels } from '../../types.ts'
import { addEntryParams, createListGroup, readCallOptions, rejectForOtherKinds } from './request-list.ts'
import type { RouteFeatureOptions } from './route-feature.ts'

/** Calls the `route` function. */
export interface Routing {
  choose: ChooseModels
  /** Serves a model call with the chosen models. */
  handleCall(call: CallRequest, next: (change?: CallChange) => Promise<Reply>): Promise<Reply>
}

export function createRouting(
  { route, onRouteError }: RouteFeatureOptions,
  { clock, onError }: Pick<DeciderOptions, 'clock' | 'onError'>,
): Routing {
  const choose: ChooseModels = (request, report) =>
    callDecider(
      async (signal) => {
        const facts = new RouteCallFacts(request)
        const { account, key } = facts
        const candidates = (models?: string | readonly string[]) => listCandidates(request, models)
        const result = await route?.(facts, { account, plan: account?.plan, key, candidates, signal })
        return result === undefined ? undefined : chooseGroup(readResult(result), request)
      },
      {
        ...{ clock, onError: report, name: '"route"' },
        ignoresErrors: onRouteError === 'ignore',
        model: request.call.model,
        signal: request.signal,
      },
    )
  return { choose, handleCall: (call, next) => serveRoutedCall(call, next, (request) => choose(request, onError)) }
}

/** Lists the models' allowed targets, each only once. */
function listCandidates(request: RoutableRequest, models?: string | readonly string[]): RouteCandidate[] {
  const { call, context, table, list } = request
  const { catalog, health, targetStats } = context
  const names = models ?? list?.entries.map(({ name }) => name) ?? call.model
  const { listTargets } = getEntryLookup(table)
  const candidates = new Map<string, RouteCandidate>()
  for (const requested of typeof names === 'string' ? [names] : names)
    for (const target of listTargets(toEntry(requested))) {
      const { provider, model, connection } = target
      const targetKey = JSON.stringify([connection.id, model])
      if (candidates.has(targetKey) || !request.isAllowed(target, requested)) continue
      const price = getPrice(catalog, target)
      const latencyMs = targetStats.getAverage(target, call.stream)
      candidates.set(targetKey, {
        name: `${getCallableName(target, table)}/${model}`,
        ...{ provider, model, connectionId: connection.id },
        ...(connection.tags && { tags: connection.tags }),
        isCooling: health.getCooldown(target) !== undefined,
        ...(price && { price }),
        ...(latencyMs !== undefined && { latencyMs }),
      })
    }
  return [...candidates.values()]
}

const toEntry = (name: string): GroupEntry => ({ index: 0, name, weight: 1 })

function readResult(result: unknown): RequestModels {
  if (typeof result !== 'string' && !isObject(result) && !Array.isArray(result))
    throw createInputError(
      `It must return a model name, a list of models, or undefined, not ${result === null ? 'null' : `a ${typeof result}`}.`,
    )
  return parseRouteResult(
    typeof result === 'string' ? { models: [result] } : Array.isArray(result) ? { models: result } : result,
  )
}

/**
 * Returns the group for the chosen models. A single combo keeps its own rules; a list gets the request's limits. Throws if one of the names doesn't
 * exist or if none of them is available.
 */
function chooseGroup(chosenModels: RequestModels, request: RoutableRequest): RoutedModels {
  const { call, table, unruled, settings, list } = request
  const { operation, service } = call.endpoint
  const names = chosenModels.models.map((entry) => (typeof entry === 'string' ? entry : entry.model))
  const resolutions = names.map((name) => table.resolveModel(name, undefined, service))
  for (const resolution of resolutions)
    if (resolution && 'strategy' in resolution) requireComboKind(resolution, call.endpoint)
  const unknownName = names.find((name, index) => !resolutions[index] && findMissingProviders(name, table).length === 0)
  if (unknownName !== undefined) throw createInputError(`It returned the model "${unknownName}", which does not exist.`)
  const { listTargets } = getEntryLookup(table)
  const isAvailable = (name: string) => [...listTargets(toEntry(name))].length > 0
  if (!names.some(isAvailable))
    throw createInputError(`No active connection serves ${names.map((name) => `"${name}"`).join(' or ')}.`)
  const [only] = resolutions
  const isSingleModel =
    resolutions.length === 1 && typeof chosenModels.models[0] === 'string' && Object.keys(chosenModels).length === 1
  if (isSingleModel && !list && only && 'strategy' in only) {
    if (only.kind === 'embedding') requireOneModel(only, table)
    return { names, group: only, getName: () => names[0] ?? '' }
  }
  rejectForOtherKinds(operation.kind, 'Its result is not valid: "', { models: chosenModels.models })
  const { params } = readCallOptions(call)
  const models = params ? chosenModels.models.map((entry) => addEntryParams(params, entry)) : chosenModels.models
  const { limits } = list ? request.context : unruled.withRules(unruled, settings, undefined)
  const options = { call, table, name: 'route', limits, log: { nameRules: [] } }
  const group = createListGroup({ ...chosenModels, models }, options)
  return { names, group, getName: (route) => getRequestedName(route, { call, list: group }) }
}

async function serveRoutedCall(
  call: CallRequest,
  next: (change?: CallChange) => Promise<Reply>,
  choose: (request: RoutableRequest) => Promise<RoutedModels | undefined>,
): Promise<Reply> {
  const { request, caller, id, signal } = call
  const rules = request.log.targetRules
  const { list: _, ...requestFields } = request
  const isAllowed = (target: RouteTarget, model: string) =>
    rules.every((rule) => !applyRule(rule, { request: requestFields, route: { target }, model }))
  const routedModels = await choose({ ...request, caller, id, signal, isAllowed })
  if (!routedModels) return next()
  const { group, getName } = routedModels
  for (const rule of rules.splice(0))
    rules.push(({ list: _, ...presentFields }, _target, route) =>
      applyRule(rule, { request: presentFields, route, model: getName(route) }),
    )
  const { arrangement } = request.list ?? {}
  return next({ list: arrangement ? { ...group, arrangement } : group })
}

/** Returns a rule's error for the requested model, or `undefined` if the rule allows that model or the chosen one. */
function applyRule(
  rule: TargetRule,
  { request, route, model }: { request: Parameters<TargetRule>[0]; route: Route; model: string },
): ReturnType<TargetRule> {
  const rejection = rule(request, route.target, route)
  const chosenRequest = { ...request, call: { ...request.call, model } }
  return rejection && rule(chosenRequest, route.target, route) ? rejection : undefined
}
