import type { Combo } from '../../types.ts'
import { getEntryName, type NamedModels } from './named-models.ts'

/**
 * Finds two different models in a combo, including through aliases and nested combos. Returns `undefined` if all names refer to one model. A model
 * has the same ID everywhere, apart from provider and vendor prefixes. `models` contains the combo's entries.
 */
export function findMixedModels(models: readonly string[], names: NamedModels): readonly [string, string] | undefined {
  let firstName: string | undefined
  for (const name of walkModels(models, names, new Set())) {
    firstName ??= name
    if (removePrefixes(name) !== removePrefixes(firstName)) return [firstName, name]
  }
  return undefined
}

/** Lists the model names behind combos and aliases. If a combo's models produce the same vectors, lists only the first. */
function* walkModels(models: readonly string[], names: NamedModels, visitedNames: Set<string>): Generator<string> {
  for (const name of models) {
    const combo = names.findCombo(name)
    const aliasTarget = combo ? undefined : names.findAliasTarget(name)
    if (!combo && (aliasTarget === undefined || aliasTarget === name)) yield name
    else if (!visitedNames.has(name)) {
      visitedNames.add(name) // two concurrent writers can create a cycle
      const nestedNames = walkModels(combo?.models ?? [aliasTarget ?? name], names, visitedNames)
      if (combo?.sameVectors) yield* takeFirst(nestedNames)
      else yield* nestedNames
    }
  }
}

function* takeFirst(names: Generator<string>): Generator<string> {
  for (const name of names) {
    yield name
    return
  }
}

/** Removes prefixes: `openai/text-embedding-3-small`, `or/openai/text-embedding-3-small`, and `text-embedding-3-small` are one model. */
const removePrefixes = (name: string): string =>
  name
    .slice(name.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/^(?:(?:us|eu|apac|global)\.)?(?:amazon|cohere)\./, '') // AWS adds these prefixes
    .replace(/:latest$/, '') // Ollama adds this suffix

/** Returns the end of a sentence about a combo that would mix the vectors of two models. */
export const describeMixedVectors = ([firstName, secondName]: readonly [string, string]): string =>
  `the vectors of "${firstName}" and "${secondName}" cannot be compared. Create a combo for each model or, if their vectors are the same, set "sameVectors" to true`

/** Returns the problem with an embedding combo that would mix the vectors of two models. */
export function findVectorProblem(
  { kind, models, sameVectors }: Pick<Combo, 'kind' | 'models' | 'sameVectors'>,
  names: NamedModels,
): string | undefined {
  const mixedModels =
    kind === 'embedding' && !sameVectors ? findMixedModels(models.map(getEntryName), names) : undefined
  return mixedModels && describeMixedVectors(mixedModels)
}
