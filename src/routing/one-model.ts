/** What combos and aliases refer to, looked up by name alone. */
export interface NamedModels {
  /** The entries of the combo of this name. `sameVectors`: its author has declared that all its models make the same vectors. */
  comboOf(name: string): { models: readonly string[]; sameVectors?: boolean | undefined } | undefined
  /** The model name that the alias of this name stands for. */
  meaningOf(name: string): string | undefined
}

/**
 * Two different models that a combo leads to, also through aliases and combos; `undefined` where all names are of one model. A model has the same
 * id everywhere, behind the names of providers and vendors. `models`: the entries of the combo.
 */
export function twoModelsOf(models: readonly string[], names: NamedModels): readonly [string, string] | undefined {
  let first: string | undefined
  for (const name of leavesOf(models, names, new Set())) {
    first ??= name
    if (bareId(name) !== bareId(first)) return [first, name]
  }
  return undefined
}

/** Does a combo lead to the name, also through aliases and combos? */
export function leadsTo(models: readonly string[], wanted: string, names: NamedModels): boolean {
  const seen = new Set<string>()
  const open = [...models]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === wanted) return true
    if (seen.has(name)) continue
    seen.add(name)
    open.push(...(names.comboOf(name)?.models ?? [names.meaningOf(name) ?? name]))
  }
  return false
}

/** The names of models behind those of combos and aliases; of a combo whose models are said to be the same, one. */
function* leavesOf(models: readonly string[], names: NamedModels, seen: Set<string>): Generator<string> {
  for (const name of models) {
    const combo = names.comboOf(name)
    const meaning = combo ? undefined : names.meaningOf(name)
    if (!combo && (meaning === undefined || meaning === name)) yield name
    else if (!seen.has(name)) {
      seen.add(name) // two writers at once can make a circle
      const inner = leavesOf(combo?.models ?? [meaning ?? name], names, seen)
      if (combo?.sameVectors) yield* firstOf(inner)
      else yield* inner
    }
  }
}

function* firstOf(names: Generator<string>): Generator<string> {
  for (const name of names) {
    yield name
    return
  }
}

/** `openai/text-embedding-3-small`, `or/openai/text-embedding-3-small` and `text-embedding-3-small` are one model. */
const bareId = (name: string): string =>
  name
    .slice(name.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/^(?:(?:us|eu|apac|global)\.)?(?:amazon|cohere)\./, '') // at AWS
    .replace(/:latest$/, '') // at Ollama

/** The rest of a sentence about a combo that would mix the vectors of two models. */
export const mixedVectors = ([one, other]: readonly [string, string]): string =>
  `"${one}" and "${other}" are two models, whose vectors cannot be compared. Make a combo for each, or, if their vectors are the same, set "sameVectors" to true`
