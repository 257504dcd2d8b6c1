import { isObject } from '../lib/json.ts'

/** The model ids in an upstream's answer, in its order, each once (spec.md, Upstream model fetch). */
export function upstreamIds(answer: unknown): string[] {
  const ids = modelsOf(answer).map(idOf)
  return [...new Set(ids.filter((id) => id !== undefined))]
}

function modelsOf(answer: unknown): unknown[] {
  if (Array.isArray(answer)) return answer
  if (!isObject(answer)) return []
  return [answer.data, answer.models, answer.results].find((models) => Array.isArray(models)) ?? []
}

/** The first of `id`, `name` and `model` that is a string and not blank, as it is. */
function idOf(model: unknown): string | undefined {
  if (!isObject(model)) return undefined
  return [model.id, model.name, model.model].find((id): id is string => typeof id === 'string' && id.trim() !== '')
}
