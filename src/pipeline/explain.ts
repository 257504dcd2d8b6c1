import { gatewayError, toGatewayError } from '../errors.ts'
import { endpoints, formatOf } from '../formats/formats.ts'
import { encodeUtf8 } from '../lib/bytes.ts'
import type { JsonObject } from '../lib/json.ts'
import { unmet } from '../routing/condition.ts'
import type { Explanation, LeftOut } from '../routing/explanation.ts'
import type { RequestFacts } from '../routing/facts.ts'
import type { Choice, Entry, Group, Route } from '../routing/group.ts'
import { parseModelCall } from './call.ts'
import type { PipelineContext } from './context.ts'
import { explainTargets } from './explain-targets.ts'
import { factsOf } from './facts.ts'
import { routesThrough } from './group-routes.ts'
import { routesOf } from './targets.ts'

/** A request to explain, which is not made. */
export interface Question {
  model: string
  body: JsonObject
  /** By name in lower case. */
  headers: ReadonlyMap<string, string>
  path: string
}

const known = endpoints.map(({ path }) => `"${path}"`).join(', ')

/** A combo may lead to very many targets. */
const MAX_TARGETS = 1_000

/**
 * Explains what would become of a request, without calling a provider or changing any state. Throws `INVALID_REQUEST` for a path that is no
 * model endpoint.
 */
export async function explain(question: Question, gateway: PipelineContext): Promise<Explanation> {
  const { model, body, headers, path } = question
  const endpoint = endpoints.find((one) => one.path === path)
  if (!endpoint) throw gatewayError('INVALID_REQUEST', { message: `"path" must be one of ${known}.` })
  const format = formatOf(endpoint.format)
  const header = (name: string) => headers.get(name.toLowerCase())
  const isInPath = path.includes('{model}')
  const text = JSON.stringify(isInPath ? body : { ...body, model })
  const call = parseModelCall(encodeUtf8(text), endpoint, isInPath ? model : undefined)
  const facts = factsOf(call, header)
  const leftOut: LeftOut[] = []
  const routes: Route[] = []
  try {
    const table = await gateway.routes()
    const context = await gateway.contextFor(gateway, model, table)
    const way = {
      table,
      select: (await context.choosing()).previewFor(facts, context.health),
      onGroup: (group: Group) => leftOut.push(...leftOutOf(group, facts)),
      onDeadEnd: ({ name }: Entry, way: Pick<Choice, 'group'>) =>
        leftOut.push({ combo: way.group.name, model: name, unmet: 'unreachable' }),
    }
    const next = routesOf(model, way.table, (group) => routesThrough(group, model, way))
    for (let route = await next(); route && routes.length < MAX_TARGETS; route = await next()) routes.push(route)
    const exchange = { header, copyHeaders() {}, query: '' } // nothing is sent
    const asked = { call, format, context, exchange, owner: '' }
    return { model, ...(await explainTargets(routes, asked)), leftOut }
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
