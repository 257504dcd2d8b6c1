import { gatewayError } from '../errors.ts'
import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { NextRoute, OnDeadEnd } from '../routing/follow.ts'
import type { Choice, Chosen, Entry, Group, Route } from '../routing/group.ts'
import type { Select } from '../routing/select.ts'
import type { RouteTable } from '../routing/table.ts'

/** How the routes of a name are looked up and chosen. */
export interface Way {
  table: RouteTable
  select: Select
  /** Called with each group on the way. */
  onGroup?(group: Group): void
  /** Called with each entry whose `when` the request does not meet. */
  onLeftOut?(entry: Entry, way: Pick<Choice, 'group' | 'before'>): void
  /** Called with each entry whose name leads nowhere, when its turn comes. */
  onDeadEnd?: OnDeadEnd
}

/**
 * The routes of a model name, in the order in which to try them. The first call rejects with `MODEL_NOT_FOUND` when there are none, and
 * with `INVALID_REQUEST` when conditions exclude all of them.
 */
export function routesOf(model: string, { table, select, onGroup, onLeftOut, onDeadEnd }: Way): NextRoute {
  let isAny = false
  let leftOut: Group | undefined
  const selected: Select = (group, lookahead, before) => {
    onGroup?.(group)
    const chosen = select(group, lookahead)
    const way = { group, before }
    return isPromise(chosen) ? chosen.then((known) => noting(way, known)) : noting(way, chosen)
  }
  const next = table.resolve(model, selected, onDeadEnd)

  function noting(way: Pick<Choice, 'group' | 'before'>, chosen: Chosen): Chosen {
    const { group } = way
    if (chosen.entries.length === group.entries.length) return chosen
    leftOut ??= group
    if (onLeftOut) for (const entry of group.entries) if (!chosen.entries.includes(entry)) onLeftOut(entry, way)
    return chosen
  }

  function checked(route: Route | undefined): Awaitable<Route | undefined> {
    if (!route && !isAny) {
      if (leftOut) throw notMeant(leftOut)
      return unreachable(model, table)
    }
    isAny = true
    return route
  }

  return () => {
    if (!next) return unknown(model, table)
    const route = next()
    return isPromise(route) ? route.then(checked) : checked(route)
  }
}

async function unreachable(model: string, table: RouteTable): Promise<never> {
  const { unreachableModel } = await import('./unreachable-model.ts')
  throw await unreachableModel(model, table)
}

async function unknown(model: string, table: RouteTable): Promise<never> {
  const { unknownModel } = await import('./unknown-model.ts')
  throw await unknownModel(model, table)
}

const notMeant = ({ name }: Group) =>
  gatewayError('INVALID_REQUEST', {
    message: `No model of the combo "${name}" that can be reached is for a request like this one: see the conditions ("when") of its models.`,
  })
