import { gatewayError } from '../../errors.ts'
import { findEntryPolicyError } from '../data-policy.ts'
import type { ModelRequest } from '../model-request.ts'
import { readFacts } from '../request-facts.ts'
import type { GroupSelection } from '../routing/chooser.ts'
import { checkComboKind } from '../routing/combo-kinds.ts'
import { type EntryListener, walkRoutes } from '../routing/follow.ts'
import type { Group, GroupEntry, Route } from '../routing/group.ts'
import { formatVia } from '../routing/group.ts'
import { createGroupChooser, type GroupChooser, type GroupChooserDependencies } from '../routing/group-chooser.ts'
import { getEntryLookup, resolveEntry } from '../routing/group-reach.ts'
import type { RouteTable } from '../routing/route-table.ts'
import { type EntryFunctions, findUnmetPart } from '../routing/routing-facts.ts'
import type { Select } from '../routing/select.ts'
import type { TargetRule } from '../steps.ts'
import type { arrangeRoutes } from './arrange-routes.ts'
import { loadNameErrors } from './no-target.ts'

/** Finds the routes of requests within groups. */
export interface GroupRouting extends GroupChooser {
  /** Returns the routes for a request with a model name that refers to a group. Throws `INVALID_REQUEST` for a combo of another kind. */
  getGroupRoutes(group: Group, request: ModelRequest): GroupRoutes
}

/** A group's routes in the order in which to try them, and the selection that produced them. */
interface GroupRoutes {
  routes: AsyncIterator<Route, undefined>
  selection: GroupSelection
}

/** Creates the routing within groups, with the groups' state. */
export function createGroupRouting(dependencies: GroupChooserDependencies): GroupRouting {
  const chooser = createGroupChooser(dependencies)
  return {
    ...chooser,
    getGroupRoutes(group, request) {
      const { call, exchange, table, context, log, owner, list } = request
      if (group !== list) checkComboKind(group, call.endpoint, table)
      const functions = table.code.conditions.length > 0 ? createEntryFunctions(request) : undefined
      const facts = readFacts(call, { owner, header: (name) => exchange.header(name), functions })
      log.targetRules.push(entryPolicyRule)
      const selection = chooser.startSelection(facts, context.health)
      const routes = createGroupRoutes(group, call.model, {
        table,
        select: selection.select,
        onExcluded: (entry, choice) =>
          log.recordExclusion(entry.name, `when.${findUnmetPart(facts, entry)}`, formatVia(choice)),
        onUnresolved: ({ name }, choice) => log.recordExclusion(name, 'unreachable', formatVia(choice)),
      })
      return { routes, selection }
    },
  }
}

/** Rejects targets that don't meet the `where` of the entries that led to them. */
export const entryPolicyRule: TargetRule = ({ call }, _, route) => findEntryPolicyError(route, call.model)

function createEntryFunctions({ log, call, exchange, client, context, table }: ModelRequest): EntryFunctions {
  const excludedEntries = new Set<GroupEntry>()
  const { clock, onError } = context
  return {
    excludedEntries,
    async evaluate(group) {
      const { excludeEntries } = await import('../function-conditions.ts')
      const conditionSource = {
        id: log.id,
        call,
        exchange,
        caller: client.caller,
        signal: client.signal,
        clock,
        onError,
      }
      await excludeEntries(group, excludedEntries, { ...conditionSource, code: table.code })
    },
  }
}

/** The dependencies for looking up and choosing routes. */
export interface GroupResolver {
  table: RouteTable
  select: Select
  /** Called with each entry that has a `when` that the request doesn't match. */
  onExcluded?: EntryListener
  /** Called when an entry's turn comes, but its name doesn't resolve. */
  onUnresolved?: EntryListener
}

/**
 * Returns the routes of the group that `model` refers to, in the order in which to try them. Rejects with `MODEL_NOT_FOUND` if there are none, and
 * with `INVALID_REQUEST` if conditions exclude all of them.
 */
export function createGroupRoutes(
  outermost: Group,
  model: string,
  { table, select, onExcluded, onUnresolved }: GroupResolver,
): AsyncIterableIterator<Route, undefined> {
  let excludingGroup: Group | undefined
  const routes = walkRoutes(outermost, {
    entryLookup: getEntryLookup(table),
    resolveEntry: (entry, parent) => resolveEntry(table, entry, parent),
    select,
    onExcluded(entry, choice) {
      excludingGroup ??= choice.group
      onExcluded?.(entry, choice)
    },
    onUnresolved,
    async onEmpty() {
      if (excludingGroup) throw createConditionError(excludingGroup)
      throw await (await loadNameErrors()).createUnreachableModelError(model, table, outermost)
    },
  })
  const { arrangement } = outermost
  return arrangement ? arrangeLazily(routes, arrangement, { table, select }) : routes
}

/** Loads the code that arranges routes on demand, because few requests need it. */
async function* arrangeLazily(...args: Parameters<typeof arrangeRoutes>): AsyncGenerator<Route, undefined> {
  const { arrangeRoutes } = await import('./arrange-routes.ts')
  return yield* arrangeRoutes(...args)
}

const createConditionError = ({ name, label }: Group) =>
  gatewayError('INVALID_REQUEST', {
    message: `No reachable model in the ${label === 'list' ? 'list' : 'combo'} "${name}" matches this request. Check the conditions ("when") of its models.`,
  })
