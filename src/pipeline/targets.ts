import { gatewayError } from '../errors.ts'
import type { Group, Route } from '../routing/group.ts'
import type { RouteTable, Visit } from '../routing/table.ts'
import { unreachableModel } from './unreachable-model.ts'

export interface Way {
  table: RouteTable
  visit: Visit
  /** Hears of each group that the way leads through. */
  onGroup?(group: Group): void
}

/**
 * The routes of a model name in the order in which to try them. Throws `MODEL_NOT_FOUND` when there are none, or `INVALID_REQUEST` when
 * there are only some for other requests.
 */
export async function* routesOf(model: string, { table, visit, onGroup }: Way): AsyncGenerator<Route, void, void> {
  let any = false
  let leftOut: Group | undefined
  const noting: Visit = async (group, prospect) => {
    onGroup?.(group)
    const chosen = await visit(group, prospect)
    if (chosen.entries.length < group.entries.length) leftOut ??= group
    return chosen
  }
  const resolved = table.resolve(model, noting)
  if (!resolved) {
    const { unknownModel } = await import('./unknown-model.ts')
    throw await unknownModel(model, table)
  }
  for await (const route of resolved) {
    any = true
    yield route
  }
  if (!any) throw leftOut ? notMeant(leftOut) : unreachableModel(model, table)
}

const notMeant = ({ name }: Group) =>
  gatewayError('INVALID_REQUEST', {
    message: `No model of the combo "${name}" that can be reached is for a request like this one: see the conditions ("when") of its models.`,
  })
