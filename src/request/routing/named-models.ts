/** Looks up combos and aliases by name. */
export interface NamedModels {
  /** Returns the entries of a combo. `sameVectors`: whether its author has declared that all its models produce the same vectors. */
  findCombo(name: string): { models: readonly string[]; sameVectors?: boolean | undefined } | undefined
  /** Returns the model name that an alias points to. */
  findAliasTarget(name: string): string | undefined
}

/** Returns whether a combo resolves to the name, directly or through aliases and nested combos. */
export function reachesModel(models: readonly string[], wanted: string, names: NamedModels): boolean {
  const seen = new Set<string>()
  const open = [...models]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === wanted) return true
    if (seen.has(name)) continue
    seen.add(name)
    open.push(...(names.findCombo(name)?.models ?? [names.findAliasTarget(name) ?? name]))
  }
  return false
}
