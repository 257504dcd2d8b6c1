import { tokenCount } from '../../formats/canonical/values.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { entryOf } from '../../lib/maps.ts'
import type { VendorForm } from '../forms.ts'
import type { Judgement, Moderation, ModerationRequest } from './moderation.ts'

/** How a vendor is asked for moderation. */
export type ModerationForm = VendorForm<ModerationRequest, Moderation>

/** The texts of a request, as a list or as one text, as the client has sent them. */
export const textsOf = ({ inputs, isList }: ModerationRequest): string | string[] =>
  isList ? inputs.map(({ text }) => text) : (inputs[0]?.text ?? '')

/** Reads an answer; what it lacks, if it is none. `names`: OpenAI's names of the vendor's categories, some of which may become one. */
export function moderationIn(
  json: JsonObject,
  { inputs }: ModerationRequest,
  names: Readonly<Record<string, string>> = {},
): Moderation | string {
  const { id, model, results, usage } = json
  if (!Array.isArray(results) || results.length !== inputs.length) return 'a result for each input'
  const judgements = results.map((result) => judgementIn(result, names))
  if (!judgements.every((judgement) => judgement !== undefined)) return 'categories in each result'
  return {
    ...(typeof id === 'string' && { id }),
    ...(typeof model === 'string' && { model }),
    results: judgements.filter((judgement) => judgement !== undefined),
    ...usageIn(usage),
  }
}

function judgementIn(result: unknown, names: Readonly<Record<string, string>>): Judgement | undefined {
  if (!isObject(result) || !isObject(result.categories)) return undefined
  const { category_scores: given } = result
  const categories: Record<string, boolean> = {}
  const scores: Record<string, number> = {}
  for (const [own, flag] of Object.entries(result.categories)) {
    const name = entryOf(names, own) ?? own
    const score = isObject(given) ? given[own] : undefined
    categories[name] = flag === true || (categories[name] ?? false)
    if (typeof score === 'number') scores[name] = Math.max(score, scores[name] ?? 0)
  }
  const { flagged = Object.values(categories).includes(true) } = result
  return { flagged: flagged === true, categories, scores }
}

function usageIn(usage: unknown): Pick<Moderation, 'usage'> {
  if (!isObject(usage)) return {}
  return { usage: { inputTokens: tokenCount(usage.prompt_tokens ?? usage.total_tokens), outputTokens: 0 } }
}
