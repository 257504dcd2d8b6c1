import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { NextRoute } from '../routing/follow.ts'
import type { Group, Route } from '../routing/group.ts'
import type { RouteTable } from '../routing/table.ts'

/**
 * The routes of a model name, in the order in which to try them; `through` finds those of a group. The first call rejects with
 * `MODEL_NOT_FOUND` when there are none.
 */
export function routesOf(model: string, table: RouteTable, through: (group: Group) => Awaitable<NextRoute>): NextRoute {
  const meaning = table.meaningOf(model)
  if (!meaning) return nowhere(model, table)
  return 'strategy' in meaning ? eachOf(meaning, through) : each(meaning)
}

function each(routes: readonly Route[]): NextRoute {
  let at = 0
  return () => routes[at++]
}

function eachOf(group: Group, through: (group: Group) => Awaitable<NextRoute>): NextRoute {
  let next: NextRoute | undefined

  function first(found: NextRoute): Awaitable<Route | undefined> {
    next = found
    return next()
  }

  return () => {
    if (next) return next()
    const opening = through(group)
    return isPromise(opening) ? opening.then(first) : first(opening)
  }
}

const nowhere =
  (model: string, table: RouteTable): NextRoute =>
  () =>
    unknown(model, table)

async function unknown(model: string, table: RouteTable): Promise<never> {
  const { unknownModel } = await import('./unknown-model.ts')
  throw await unknownModel(model, table)
}
