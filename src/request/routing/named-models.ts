import type { Combo, ComboModel } from '../../types.ts'

/** Looks up combos and aliases by name. */
export interface NamedModels {
  /** Returns a combo's entries. `sameVectors` means that its author has declared that all its models produce the same vectors. */
  findCombo(name: string): { models: readonly string[]; sameVectors?: boolean | undefined } | undefined
  /** Returns the model name that an alias points to. */
  findAliasTarget(name: string): string | undefined
}

/** Returns a combo entry's model name. */
export const getEntryName = (entry: ComboModel): string => (typeof entry === 'string' ? entry : entry.model)

/** Looks up the names of combos and aliases. Combos take precedence. */
export function createNamedModels(
  combos: ReadonlyArray<Pick<Combo, 'name' | 'models' | 'sameVectors'>>,
  aliases: ReadonlyArray<{ alias: string; model: string }>,
): NamedModels {
  const combosByName = new Map(combos.map((combo) => [combo.name, combo]))
  const aliasTargets = new Map(aliases.map(({ alias, model }) => [alias, model]))
  return {
    findCombo(name) {
      const combo = combosByName.get(name)
      return combo && { models: combo.models.map(getEntryName), sameVectors: combo.sameVectors }
    },
    findAliasTarget: (name) => aliasTargets.get(name),
  }
}

/** Returns whether a combo resolves to the name, directly or through aliases and nested combos. */
export function reachesModel(models: readonly string[], model: string, names: NamedModels): boolean {
  const visitedNames = new Set<string>()
  const pendingNames = [...models]
  for (let name = pendingNames.pop(); name !== undefined; name = pendingNames.pop()) {
    if (name === model) return true
    if (visitedNames.has(name)) continue
    visitedNames.add(name)
    pendingNames.push(...(names.findCombo(name)?.models ?? [names.findAliasTarget(name) ?? name]))
  }
  return false
}

/**
 * Finds the chain of names through which `start` leads back to itself. It begins and ends with `start`. `successors` contains the names that each
 * name leads to.
 */
export function findCycle(start: string, successors: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const cameFrom = new Map<string, string>()
  const pendingNames = [start]
  for (let name = pendingNames.pop(); name !== undefined; name = pendingNames.pop()) {
    for (const model of successors.get(name) ?? []) {
      if (model === start) return tracePath(name, { start, cameFrom })
      if (cameFrom.has(model)) continue
      cameFrom.set(model, name)
      pendingNames.push(model)
    }
  }
  return undefined
}

/** Returns whether the name can be an alias for itself, which publishes a model under `<provider>/<model>`. Other names wouldn't resolve. */
export const isDirectModel = (model: string): boolean => /.\/./.test(model)

/** Formats a cycle as `a → b → a`. */
export const formatCycle = (cycle: readonly string[]): string => cycle.join(' → ')

function tracePath(
  lastName: string,
  { start, cameFrom }: { start: string; cameFrom: ReadonlyMap<string, string> },
): string[] {
  const path = [start]
  for (let name: string | undefined = lastName; name !== undefined && name !== start; name = cameFrom.get(name))
    path.push(name)
  return [...path, start].reverse()
}
