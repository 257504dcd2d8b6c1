import type { AliasRecord } from '../store/store.ts'
import type { Combo, ComboModel } from '../types.ts'

/** What leads from one model name to others. */
export interface Names {
  combos: readonly Combo[]
  aliases: readonly AliasRecord[]
}

/** The names by which `start` leads back to itself, both ends included; a combo goes before an alias of the same name, as in routing. */
export function findCycle(start: string, { combos, aliases }: Names): string[] | undefined {
  const next = new Map<string, readonly string[]>()
  for (const { alias, model } of aliases) if (alias !== model || !isDirect(model)) next.set(alias, [model])
  for (const { name, models } of combos) next.set(name, models.map(modelOf))
  const cameFrom = new Map<string, string>()
  const open = [start]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const model of next.get(name) ?? []) {
      if (model === start) return wayTo(name, { start, cameFrom })
      if (cameFrom.has(model)) continue
      cameFrom.set(model, name)
      open.push(model)
    }
  }
  return undefined
}

/** `<provider>/<model>` as an alias of itself publishes the model and leads to it; any other name would lead nowhere. */
const isDirect = (model: string) => /.\/./.test(model)

/** As `a → b → a`. */
export const shownCycle = (cycle: readonly string[]): string => cycle.join(' → ')

function wayTo(last: string, { start, cameFrom }: { start: string; cameFrom: ReadonlyMap<string, string> }): string[] {
  const way = [start]
  for (let name: string | undefined = last; name !== undefined && name !== start; name = cameFrom.get(name))
    way.push(name)
  return [...way, start].reverse()
}

/** The model name of an entry. */
export const modelOf = (entry: ComboModel) => (typeof entry === 'string' ? entry : entry.model)
