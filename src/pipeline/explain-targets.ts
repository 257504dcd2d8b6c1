import { type GatewayError, isGatewayError } from '../errors.ts'
import type { ExplainedTarget, Explanation } from '../routing/explanation.ts'
import type { Choice, Route } from '../routing/group.ts'
import type { Standing } from '../routing/health.ts'
import { reasonOf } from '../routing/reason.ts'
import { viaOf } from '../routing/via.ts'
import type { SpokenRequest } from './model-request.ts'
import { allDraining } from './still-cooling.ts'
import { transformFor } from './transform-for.ts'

/** What a request would do with each of its routes, and the error that its client would get when no target's format can carry it. */
export async function explainTargets(
  routes: readonly Route[],
  request: SpokenRequest,
): Promise<Pick<Explanation, 'targets' | 'error'>> {
  const { context, call } = request
  const { health, limits } = context
  const standings = routes.map(({ target }) => health.standingOf(target))
  const refusals = new Map<Route, GatewayError | undefined>()
  const targets: ExplainedTarget[] = []
  let used = 0
  let only: string | undefined // the model of all that are used so far
  const seen = new Set<string>()
  const cooling: Cooling[] = []
  let refusal: GatewayError | undefined
  let isDraining = false

  async function refused(route: Route): Promise<GatewayError | undefined> {
    if (!refusals.has(route)) refusals.set(route, await refusalOf(request, route))
    return refusals.get(route)
  }

  /** Is there another model behind it, for which the last attempt is kept? */
  async function isBeforeAnother(at: number): Promise<boolean> {
    for (const [later, route] of routes.entries())
      if (later > at && isFree(route, standings[later]) && modelOf(route) !== only && !(await refused(route)))
        return true
    return false
  }

  for (const [at, route] of routes.entries()) {
    const standing = standings[at]
    const { connection, model } = route.target
    const place = `${connection.id}/${model}`
    if (seen.has(place)) {
      targets.push(explained(route, 'skipped', 'it stands in this list already'))
      continue
    }
    seen.add(place)
    if (connection.draining) {
      isDraining = true
      targets.push(
        explained(route, 'skipped', 'its connection is draining, and takes new requests of its own sessions only'),
      )
      continue
    }
    if (standing) {
      cooling.push({ at, route, standing })
      targets.push(explained(route, 'skipped', isCooling(standing)))
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
  for (const { at, route, standing } of cooling.sort(byRecovery)) {
    if (used > 0 && (standing.isFirm || used >= limits.maxAttempts)) continue
    const reason = await refused(route)
    refusal ??= reason
    targets[at] = reason
      ? explained(route, 'skipped', cannotCarry(reason))
      : explained(route, 'last-resort', isCooling(standing))
    if (!reason) used++
  }
  const isEstimated = call.endpoint.operation === 'count-tokens' && refusal?.data.param !== 'model'
  if (used === 0 && !refusal && isDraining) refusal = allDraining(call.model)
  if (used > 0 || !refusal || isEstimated) return { targets }
  const { status, code, message } = refusal
  return { targets, error: { status, code, message } }
}

interface Cooling {
  at: number
  route: Route
  standing: Standing
}

const isFree = ({ target }: Route, standing: Standing | undefined) => !standing && !target.connection.draining

/** Those whose cooldown is firm come after all others. */
const byRecovery = ({ standing: one }: Cooling, { standing: other }: Cooling) =>
  Number(one.isFirm) - Number(other.isFirm) || one.dueAt - other.dueAt

const modelOf = ({ target }: Route) => `${target.provider}/${target.model}`

/** Why the target's format cannot carry the request. Not checked for a body without contents, which only sketches a request. */
async function refusalOf(request: SpokenRequest, { target }: Route): Promise<GatewayError | undefined> {
  if (!CONTENTS.some((name) => Object.hasOwn(request.call.body, name))) return undefined
  try {
    await transformFor(request, target)
    return undefined
  } catch (thrown) {
    if (isGatewayError(thrown, 'INVALID_REQUEST') || isGatewayError(thrown, 'FORMAT_MISMATCH')) return thrown
    throw thrown
  }
}

/** The fields for the contents of a request in each format. */
const CONTENTS = ['messages', 'input', 'contents', 'prompt']

const cannotCarry = ({ message }: GatewayError) => `its format cannot carry the request: ${message}`

function isCooling({ level, class: failure, retryAt }: Standing): string {
  const until = Number.isFinite(retryAt)
    ? `until ${new Date(retryAt).toISOString()}`
    : 'and a request that probes it is under way'
  return `${level} is cooling after "${failure}" ${until}`
}

const whyOf = ({ via }: Route) => (via ? reasonsOf(via) : 'by the priority of its connection')

/** The reasons of the groups, outermost first. */
const reasonsOf = (choice: Choice): string =>
  `${choice.before ? `${reasonsOf(choice.before)}; ` : ''}${choice.group.name}: ${reasonOf(choice)}`

function explained({ target, via }: Route, use: ExplainedTarget['use'], why: string): ExplainedTarget {
  const { provider, model, connection } = target
  const where = { provider, model, connectionId: connection.id, connection: connection.name }
  return { ...where, use, why, ...(via && { via: viaOf(via) }) }
}
