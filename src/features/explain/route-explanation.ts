import { gatewayError, toGatewayError } from '../../errors.ts'
import { encodeUtf8 } from '../../lib/bytes.ts'
import type { JsonObject } from '../../lib/json.ts'
import { getFormat } from '../../protocols/formats/formats.ts'
import { endpoints } from '../../protocols/kinds/kinds.ts'
import type { Caller } from '../../request/caller.ts'
import { createGroupRoutes, entryPolicyRule } from '../../request/choose/group-routing.ts'
import { createUnknownModelError } from '../../request/choose/unknown-model.ts'
import { parseModelCall } from '../../request/codec/model-call.ts'
import type { PipelineContext } from '../../request/context.ts'
import { addPolicies, type DataPolicy } from '../../request/data-policy.ts'
import { excludeEntries } from '../../request/function-conditions.ts'
import { redirectMediaCall } from '../../request/media-redirect.ts'
import { hasOwnSettings } from '../../request/read-request.ts'
import { readFacts } from '../../request/request-facts.ts'
import type { ChooseModels } from '../../request/route-call.ts'
import { checkComboKind } from '../../request/routing/combo-kinds.ts'
import type { Explanation, SkippedEntry } from '../../request/routing/explanation.ts'
import type { Group, GroupChoice, GroupEntry, Route, RouteTarget } from '../../request/routing/group.ts'
import { getRequestedName } from '../../request/routing/group.ts'
import type { RouteTable } from '../../request/routing/route-table.ts'
import { findUnmetPart } from '../../request/routing/routing-facts.ts'
import type { NameRule, RejectionPreview, TargetRule } from '../../request/steps.ts'
import type { Kind } from '../../types.ts'
import { getCachingMode } from '../prompt-caching/caching-mode.ts'
import type { PromptCachingFeature } from '../prompt-caching/prompt-caching-feature.ts'
import { createNotAllowedError, TargetExplainer, type UnsentRequest } from './target-explainer.ts'

/** A request to explain without sending it. */
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

/** The models and kinds that a caller may use. */
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
  const skippedEntries: SkippedEntry[] = []
  const routes: Route[] = []
  let decision: Pick<Explanation, 'route'> = {}
  let failure: string | undefined // why one of the app's functions failed
  try {
    const table = await gateway.loadRoutes()
    const call = endpoint.format === 'gemini' ? await redirectMediaCall(parsedCall, '?alt=sse', table) : parsedCall
    for (const { operation } of [endpoint, call.endpoint])
      if (access?.allowsKind(operation.kind) === false)
        throw gatewayError('MODEL_NOT_ALLOWED', {
          message: `The ${subject} is not allowed to use models of kind "${operation.kind}".`,
        })
    const settings = await gateway.readSettings()
    const unsentExchange = { header, copyHeaders() {}, query: '' } // the explanation sends no headers and no query
    const targetRules: TargetRule[] = [entryPolicyRule]
    const log = { nameRules: listNameRules(access, subject), targetRules, caller, tags: undefined }
    addPolicies(access?.policies ?? [], log)
    const source = { call, exchange: unsentExchange, context: gateway, table, settings, log }
    const requestSettings = hasOwnSettings(source) ? await gateway.readRequestSettings(source) : undefined
    const { exchange = unsentExchange, list: requestList } = requestSettings ?? {}
    const excludedEntries = new Set<GroupEntry>()
    const { clock } = gateway
    const { code } = table
    const onError = (error: unknown) => {
      failure = toGatewayError(error).message
    }
    const evaluate = (group: Group) =>
      excludeEntries(group, excludedEntries, { id: '', call: parsedCall, exchange, caller, clock, code, onError })
    const functions = code.conditions.length > 0 ? { excludedEntries, evaluate } : undefined
    const facts = readFacts(parsedCall, { owner, header: (name) => exchange.header(name), functions })
    const isAllowed = (target: RouteTarget, ...names: string[]) =>
      !access || names.some((name) => access.allowsTarget(name, target))
    const requestContext = gateway.withRules(gateway, settings, requestList ?? table.findRuledCombo(model))
    const routableRequest = {
      ...{ id: '', call, caller, exchange, table, settings, context: requestContext, unruled: gateway },
      ...(requestList && { list: requestList }),
      isAllowed: (target: RouteTarget, name: string) => isAllowed(target, model, name),
    }
    const routedModels = await chooseModels?.(routableRequest, (error) => {
      decision = { route: { error: toGatewayError(error).message } }
    })
    if (chooseModels) decision = { route: routedModels ? { models: [...routedModels.names] } : (decision.route ?? {}) }
    const chosenList = routedModels?.group ?? requestList
    const context = routedModels ? gateway.withRules(gateway, settings, chosenList) : requestContext
    const resolver = {
      table,
      select: (await context.loadGroupRouting()).previewSelection(facts, context.health),
      onExcluded: (entry: GroupEntry, { group }: Pick<GroupChoice, 'group'>) => {
        const unmetCondition = findUnmetPart(facts, entry)
        if (unmetCondition !== undefined)
          skippedEntries.push({ combo: group.name, model: entry.name, unmet: unmetCondition })
      },
      onUnresolved: ({ name }: GroupEntry, choice: Pick<GroupChoice, 'group'>) =>
        skippedEntries.push({ combo: choice.group.name, model: name, unmet: 'unreachable' }),
    }
    const resolution = chosenList ?? table.resolveModel(model, undefined, call.endpoint.service)
    if (!resolution) throw await createUnknownModelError(model, table, endpoint)
    if (resolution !== chosenList && 'strategy' in resolution) checkComboKind(resolution, call.endpoint, table)
    const candidateRoutes = 'strategy' in resolution ? createGroupRoutes(resolution, model, resolver) : resolution
    for await (const route of candidateRoutes) {
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
      subject,
      previewRejection,
      isAllowed: (route) =>
        routedModels
          ? isAllowed(route.target, model, routedModels.getName(route))
          : isAllowed(route.target, getRequestedName(route, { call, list: chosenList })),
      targetRules,
      promptCaching,
      getCachingMode: (route) => getCachingMode({ call, settings, exchange, log }, route),
    }
    return {
      model,
      ...decision,
      ...(await new TargetExplainer(routes, unsentRequest).explain()),
      leftOut: skippedEntries,
    }
  } catch (error) {
    const { status, code, message } = toGatewayError(error)
    if (status >= 500 && code !== 'ROUTE_FAILED') throw error
    return {
      model,
      ...decision,
      targets: [],
      leftOut: skippedEntries,
      error: { status, code, message: failure ?? message },
    }
  }
}

const listNameRules = (access: CallerAccess | undefined, subject: string): NameRule[] =>
  access ? [(name, table) => (access.allowsModel(name, table) ? undefined : createNotAllowedError(subject, name))] : []
