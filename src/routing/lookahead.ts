import { createFirsts, type Meaning } from './firsts.ts'
import type { Entry, Group, RouteTarget } from './group.ts'
import type { Lookahead } from './select.ts'
import type { RouteTable } from './table.ts'

/** How far `reach` looks. */
const MAX_REACH = 100

const lookaheads = new WeakMap<RouteTable, Lookahead>()

/** The look-ups about the entries of a table's groups. They cache, so each table has its own. */
export function lookaheadOf(table: RouteTable): Lookahead {
  const known = lookaheads.get(table)
  if (known) return known
  const made = createLookahead(table)
  lookaheads.set(table, made)
  return made
}

/** What an entry means in a group where `within` decides how connections are chosen. */
export const meaningOfEntry = (table: RouteTable, { target, name }: Entry, within?: Group): Meaning =>
  target ? [{ target }] : table.meaningOf(name, within)

function createLookahead(table: RouteTable): Lookahead {
  function* reach(entry: Entry, look = { left: MAX_REACH }): Generator<RouteTarget> {
    if (look.left-- <= 0) return // in a circle, too
    const meaning = meaningOfEntry(table, entry)
    if (meaning && 'strategy' in meaning) for (const inner of meaning.entries) yield* reach(inner, look)
    else for (const { target } of meaning ?? []) yield target
  }

  return { ...createFirsts(table.catalog, table.meaningOf), reach: (entry) => reach(entry) }
}
