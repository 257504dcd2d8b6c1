import { gatewayError, toGatewayError } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'
import { unmet } from '../routing/condition.ts'
import type { ExplainedTarget, Explanation, LeftOut } from '../routing/explanation.ts'
import type { RequestFacts } from '../routing/facts.ts'
import type { Choice, Group, Route } from '../routing/group.ts'
import { reasonOf } from '../routing/reason.ts'
import { viaOf } from '../routing/via.ts'
import type { PipelineContext } from './context.ts'
import { endpoints } from './endpoints.ts'
import { factsOf } from './facts.ts'
import { routesOf } from './targets.ts'

/** A request that is not made. */
export interface Question {
  model: string
  body: JsonObject
  /** By name in lower case. */
  headers: ReadonlyMap<string, string>
  path: string
}

const known = endpoints.map((endpoint) => `"${endpoint.path}"`).join(', ')

/** A combo may lead to very many. */
const MAX_TARGETS = 1_000

/** Says what would become of a request, without calling anyone or moving any turn. Throws `INVALID_REQUEST` for a path that is no endpoint. */
export async function explain(question: Question, context: PipelineContext): Promise<Explanation> {
  const { model, body, headers, path } = question
  if (!endpoints.some((one) => one.path === path))
    throw gatewayError('INVALID_REQUEST', { message: `"path" must be one of ${known}.` })
  const bytes = new TextEncoder().encode(JSON.stringify(body)).length
  const facts = factsOf({ model, stream: body.stream === true, bytes, body }, (name) => headers.get(name.toLowerCase()))
  const leftOut: LeftOut[] = []
  const routes: Route[] = []
  try {
    const way = {
      table: await context.routes(),
      visit: context.chooser.glanceFor(facts),
      onGroup: (group: Group) => leftOut.push(...leftOutOf(group, facts)),
    }
    for await (const route of routesOf(model, way)) if (routes.push(route) === MAX_TARGETS) break
  } catch (thrown) {
    const { status, code, message } = toGatewayError(thrown)
    if (status >= 500) throw thrown
    return { model, targets: [], leftOut, error: { status, code, message } }
  }
  return { model, targets: explained(routes, context), leftOut }
}

function leftOutOf({ name, entries }: Group, facts: RequestFacts): LeftOut[] {
  return entries.flatMap(({ name: model, when }) => {
    const condition = when && unmet(facts, when)
    return condition === undefined ? [] : [{ combo: name, model, unmet: condition }]
  })
}

function explained(routes: readonly Route[], { health, limits }: PipelineContext): ExplainedTarget[] {
  const standings = routes.map(({ target }) => health.standingOf(target))
  const retryAt = Math.min(...standings.map((standing) => standing?.retryAt ?? Number.POSITIVE_INFINITY))
  const isAllCooling = standings.every(Boolean)
  const lastResort = isAllCooling
    ? Math.max(
        0,
        standings.findIndex((standing) => standing?.retryAt === retryAt),
      )
    : -1
  let used = 0
  return routes.map(({ target, via }, at) => {
    const { provider, model, connection } = target
    const standing = standings[at]
    const place = standing ? undefined : used++
    const why = standing
      ? `${standing.level} is cooling after "${standing.class}" ${untilOf(standing.retryAt)}`
      : reasonsOf(via) || `by the priority of its connection`
    const usable = place === 0 ? 'first' : (place ?? 0) < limits.maxAttempts ? 'next' : 'beyond'
    const use = place !== undefined ? usable : at === lastResort ? 'last-resort' : 'skipped'
    const explained: ExplainedTarget = {
      provider,
      model,
      connectionId: connection.id,
      connection: connection.name,
      use,
      why,
    }
    return via ? { ...explained, via: viaOf(via) } : explained
  })
}

const untilOf = (retryAt: number) =>
  Number.isFinite(retryAt) ? `until ${new Date(retryAt).toISOString()}` : 'and a request that probes it is under way'

/** From the outside in. */
function reasonsOf(choice: Choice | undefined): string {
  if (!choice) return ''
  const outer = reasonsOf(choice.before)
  return `${outer && `${outer}; `}${choice.group.name}: ${reasonOf(choice)}`
}
