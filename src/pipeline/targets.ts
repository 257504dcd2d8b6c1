import { gatewayError } from '../errors.ts'
import { targetName } from '../providers/target.ts'
import type { Group, Route, RouteTarget } from '../routing/group.ts'
import type { RouteTable, Visit } from '../routing/table.ts'
import type { WireFormat } from '../types.ts'
import type { ModelCall } from './call.ts'
import { endpoints } from './endpoints.ts'
import { unknownModel } from './unknown-model.ts'
import { unreachableModel } from './unreachable-model.ts'

/**
 * The routes of a request to targets that speak its format, in the order in which to try them. Throws `MODEL_NOT_FOUND` when there are
 * none, `INVALID_REQUEST` when there are only some for other requests, or `FORMAT_MISMATCH` when there are targets but none speaks the format.
 */
export async function* routesOf(
  call: Pick<ModelCall, 'model' | 'endpoint'>,
  { table, visit }: { table: RouteTable; visit: Visit },
): AsyncGenerator<Route, void, void> {
  const { model, endpoint } = call
  let mismatch: RouteTarget | undefined
  let any = false
  let leftOut: Group | undefined
  const noting: Visit = async (group, prospect) => {
    const chosen = await visit(group, prospect)
    if (chosen.entries.length < group.entries.length) leftOut ??= group
    return chosen
  }
  const resolved = table.resolve(model, noting)
  if (!resolved) throw await unknownModel(model, table)
  for await (const route of resolved) {
    if (route.target.format === endpoint.format) {
      any = true
      yield route
    } else mismatch ??= route.target
  }
  if (any) return
  if (mismatch) throw formatMismatch(model, mismatch, endpoint.format)
  throw leftOut ? notMeant(leftOut) : unreachableModel(model, table)
}

const notMeant = ({ name }: Group) =>
  gatewayError('INVALID_REQUEST', {
    message: `No model of the combo "${name}" that can be reached is for a request like this one: see the conditions ("when") of its models.`,
  })

function formatMismatch(model: string, target: RouteTarget, asked: WireFormat) {
  const call = endpoints.find((endpoint) => endpoint.format === target.format)
  const hint = call ? ` Send it to POST ${call.path} in that format.` : ''
  return gatewayError('FORMAT_MISMATCH', {
    message: `The request is in the format "${asked}", but the target of "${model}", ${targetName(target)}, speaks "${target.format}".${hint}`,
  })
}
