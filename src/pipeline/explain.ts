import type { AskedRequest } from '../codec/codec.ts'
import { encode } from '../codec/encode.ts'
import { allDraining } from '../codec/failure.ts'
import { parseModelCall } from '../codec/model-call.ts'
import { type GatewayError, gatewayError, isGatewayError, toGatewayError } from '../errors.ts'
import { formatOf } from '../formats/formats.ts'
import { endpoints } from '../kinds/kinds.ts'
import { encodeUtf8 } from '../lib/bytes.ts'
import type { JsonObject } from '../lib/json.ts'
import { type Access, accessOf, askedName } from '../routing/allowed-models.ts'
import type { ExplainedTarget, Explanation, LeftOut } from '../routing/explanation.ts'
import type { RequestFacts } from '../routing/facts.ts'
import { unmet } from '../routing/facts.ts'
import type { Group, GroupChoice, GroupEntry, Route } from '../routing/group.ts'
import { paramsText, viaOf } from '../routing/group.ts'
import type { CooldownState } from '../routing/health.ts'
import { reasonOf } from '../routing/strategies.ts'
import type { PresentedKey } from '../store/keyring.ts'
import { mediaCall } from './asked-media.ts'
import type { PipelineContext } from './context.ts'
import { factsOf } from './facts.ts'
import { bringsTerms } from './read.ts'
import type { NameRule } from './steps.ts'
import { routesOfGroup } from './targets/groups.ts'
import { resolutionAt } from './targets/resolution.ts'
import { unknownModel } from './targets/unknown-model.ts'

/** A request to explain, which is not made. */
export interface Question {
  model: string
  body: JsonObject
  /** By name in lower case. */
  headers: ReadonlyMap<string, string>
  path: string
  /** The key of the client; absent: none, which may ask for everything. */
  key?: PresentedKey | undefined
}

const known = endpoints.map(({ path }) => `"${path}"`).join(', ')

/** A combo may lead to very many targets. */
const MAX_TARGETS = 1_000

/**
 * Explains what would become of a request, without calling a provider or changing any state. Throws `INVALID_REQUEST` for a path that is no
 * model endpoint.
 */
export async function explain(question: Question, gateway: PipelineContext): Promise<Explanation> {
  const { model, body, headers, path, key } = question
  const endpoint = endpoints.find((one) => one.path === path)
  if (!endpoint) throw gatewayError('INVALID_REQUEST', { message: `"path" must be one of ${known}.` })
  const format = formatOf(endpoint.format)
  const header = (name: string) => headers.get(name.toLowerCase())
  const isBeside = endpoint.headers !== undefined || path.includes('{model}')
  const text = JSON.stringify(isBeside ? body : { ...body, model })
  const read = parseModelCall(encodeUtf8(text), endpoint, isBeside ? { model } : {})
  const leftOut: LeftOut[] = []
  const routes: Route[] = []
  const access = accessOf(key, gateway.catalog)
  try {
    const table = await gateway.routes()
    const call = endpoint.format === 'gemini' ? await mediaCall(read, '?alt=sse', table) : read
    for (const { operation } of [endpoint, call.endpoint])
      if (access?.allowsKind(operation.kind) === false)
        throw gatewayError('MODEL_NOT_ALLOWED', {
          message: `The API key may not ask for models of the kind "${operation.kind}".`,
        })
    const settings = await gateway.settings()
    const unsent = { header, copyHeaders() {}, query: '' } // nothing is sent
    const log = { nameRule: nameRuleOf(access) }
    const source = { call, exchange: unsent, context: gateway, table, settings, log }
    const own = bringsTerms(source) ? await gateway.ownTerms(source) : undefined
    const { exchange = unsent, list } = own ?? {}
    const facts = factsOf(read, (name) => exchange.header(name))
    const context = gateway.underRules(gateway, settings, list ?? table.ruledCombo(model))
    const resolver = {
      table,
      select: (await context.choosing()).previewFor(facts, context.health),
      onGroup: (group: Group) => leftOut.push(...leftOutOf(group, facts)),
      onDeadEnd: ({ name }: GroupEntry, way: Pick<GroupChoice, 'group'>) =>
        leftOut.push({ combo: way.group.name, model: name, unmet: 'unreachable' }),
    }
    const resolution = list ?? resolutionAt(call.endpoint, model, table)
    if (!resolution) throw await unknownModel(model, table, endpoint)
    const found = 'strategy' in resolution ? routesOfGroup(resolution, model, resolver) : resolution
    for await (const route of found) {
      routes.push(route)
      if (routes.length === MAX_TARGETS) break
    }
    const asked: UnsentRequest = { call, format, context, table, exchange, owner: '', ...(list && { list }) }
    return { model, ...(await explainTargets(routes, asked, access)), leftOut }
  } catch (thrown) {
    const { status, code, message } = toGatewayError(thrown)
    if (status >= 500) throw thrown
    return { model, targets: [], leftOut, error: { status, code, message } }
  }
}

function leftOutOf({ name, entries }: Group, facts: RequestFacts): LeftOut[] {
  return entries.flatMap(({ name: model, when }) => {
    const condition = when && unmet(facts, when)
    return condition === undefined ? [] : [{ combo: name, model, unmet: condition }]
  })
}

/** A request that is not made. */
type UnsentRequest = AskedRequest & { context: PipelineContext; list?: Group }

const nameRuleOf =
  (access: Access | undefined): NameRule =>
  (name, table) =>
    access?.allowsModel(name, table) === false ? notAllowed(name) : undefined

const notAllowed = (name: string) =>
  gatewayError('MODEL_NOT_ALLOWED', { message: `The API key may not use the model "${name}".` })

/** What a request would do with each of its routes, and the error that its client would get when no target's format can carry it. */
async function explainTargets(
  routes: readonly Route[],
  request: UnsentRequest,
  access: Access | undefined,
): Promise<Pick<Explanation, 'targets' | 'error'>> {
  const { context, call } = request
  const { health, limits } = context
  const cooldowns = routes.map(({ target }) => health.cooldownOf(target))
  const refusals = new Map<Route, GatewayError | undefined>()
  const targets: ExplainedTarget[] = []
  let used = 0
  let only: string | undefined // the model of all that are used so far
  const seen = new Set<string>()
  const cooling: CoolingRoute[] = []
  let refusal: GatewayError | undefined
  let isDraining = false
  let isBarred = false

  async function refused(route: Route): Promise<GatewayError | undefined> {
    if (!refusals.has(route)) refusals.set(route, await refusalOf(request, route))
    return refusals.get(route)
  }

  const isAllowed = (route: Route) => access?.allowsTarget(askedName(route, request), route.target) !== false

  /** Does another model follow it, for which the last attempt is kept? */
  async function isBeforeAnother(at: number): Promise<boolean> {
    for (const [later, route] of routes.entries())
      if (
        later > at &&
        isAllowed(route) &&
        isFree(route, cooldowns[later]) &&
        modelOf(route) !== only &&
        !(await refused(route))
      )
        return true
    return false
  }

  for (const [at, route] of routes.entries()) {
    const cooldown = cooldowns[at]
    const { connection, model } = route.target
    const place = JSON.stringify([connection.id, model, paramsText(route.target)])
    if (seen.has(place)) {
      targets.push(explained(route, 'skipped', 'it stands in this list already'))
      continue
    }
    seen.add(place)
    if (!isAllowed(route)) {
      isBarred = true
      targets.push(explained(route, 'skipped', 'the API key may not use it'))
      continue
    }
    if (connection.draining) {
      isDraining = true
      targets.push(
        explained(route, 'skipped', 'its connection is draining, and takes new requests of its own sessions only'),
      )
      continue
    }
    if (cooldown) {
      cooling.push({ at, route, cooldown })
      targets.push(explained(route, 'skipped', isCooling(cooldown)))
      continue
    }
    if (used > 0 && used === limits.maxAttempts - 1 && modelOf(route) === only && (await isBeforeAnother(at))) {
      targets.push(explained(route, 'beyond', `${whyOf(route)}; the last attempt is kept for another model`))
      continue
    }
    const reason = used < limits.maxAttempts ? await refused(route) : undefined
    refusal ??= reason
    const usable = used === 0 ? 'first' : used < limits.maxAttempts ? 'next' : 'beyond'
    targets.push(reason ? explained(route, 'skipped', cannotCarry(reason)) : explained(route, usable, whyOf(route)))
    if (!reason) only = used++ === 0 || only === modelOf(route) ? modelOf(route) : undefined
  }
  for (const { at, route, cooldown } of cooling.sort(byRecovery)) {
    if (used > 0 && (cooldown.isFirm || used >= limits.maxAttempts)) continue
    const reason = await refused(route)
    refusal ??= reason
    targets[at] = reason
      ? explained(route, 'skipped', cannotCarry(reason))
      : explained(route, 'last-resort', isCooling(cooldown))
    if (!reason) used++
  }
  const hasOwnAnswer = call.endpoint.operation.missing?.ownAnswer !== undefined && refusal?.data.param !== 'model'
  if (used === 0 && !refusal && isDraining) refusal = allDraining(call.model)
  if (used === 0 && !refusal && isBarred) refusal = notAllowed(call.model)
  if (used > 0 || !refusal || hasOwnAnswer) return { targets }
  const { status, code, message } = refusal
  return { targets, error: { status, code, message } }
}

interface CoolingRoute {
  at: number
  route: Route
  cooldown: CooldownState
}

const isFree = ({ target }: Route, cooldown: CooldownState | undefined) => !cooldown && !target.connection.draining

/** Those whose cooldown is firm come after all others. */
const byRecovery = ({ cooldown: one }: CoolingRoute, { cooldown: other }: CoolingRoute) =>
  Number(one.isFirm) - Number(other.isFirm) || one.dueAt - other.dueAt

const modelOf = ({ target }: Route) => `${target.provider}/${target.model}`

/** Why the target's format cannot carry the request. Not checked for a body without contents, which only sketches a request. */
async function refusalOf(request: AskedRequest, { target }: Route): Promise<GatewayError | undefined> {
  if (!CONTENTS.some((name) => Object.hasOwn(request.call.body, name))) return undefined
  try {
    await encode(request, target)
    return undefined
  } catch (thrown) {
    if (isGatewayError(thrown, 'INVALID_REQUEST') || isGatewayError(thrown, 'FORMAT_MISMATCH')) return thrown
    throw thrown
  }
}

/** The fields for the contents of a request in each format. */
const CONTENTS = ['messages', 'input', 'contents', 'prompt', 'texts', 'content', 'requests', 'query', 'url', 'urls']

const cannotCarry = ({ message }: GatewayError) => `its format cannot carry the request: ${message}`

function isCooling({ level, class: failure, retryAt }: CooldownState): string {
  const until = Number.isFinite(retryAt)
    ? `until ${new Date(retryAt).toISOString()}`
    : 'and a request that probes it is under way'
  return `${level} is cooling after "${failure}" ${until}`
}

const whyOf = ({ via }: Route) => (via ? reasonsOf(via) : 'by the priority of its connection')

/** The reasons of the groups, outermost first. */
const reasonsOf = (choice: GroupChoice): string =>
  `${choice.before ? `${reasonsOf(choice.before)}; ` : ''}${choice.group.name}: ${reasonOf(choice)}`

function explained({ target, via }: Route, use: ExplainedTarget['use'], why: string): ExplainedTarget {
  const { provider, model, connection, params } = target
  const where = { provider, model, connectionId: connection.id, connection: connection.name }
  return { ...where, use, why, ...(params && { params }), ...(via && { via: viaOf(via) }) }
}
