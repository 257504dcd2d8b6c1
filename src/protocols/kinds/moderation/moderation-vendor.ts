import { isObject, type JsonObject } from '../../../lib/json.ts'
import { getEntry } from '../../../lib/maps.ts'
import { readTokenCount } from '../../formats/canonical/canonical-values.ts'
import type { VendorAdapter } from '../kind-adapters.ts'
import type { ModerationRequest, ModerationResponse, ModerationResult } from './moderation.ts'

/** A moderation vendor's adapter. */
export type ModerationAdapter = VendorAdapter<ModerationRequest, ModerationResponse>

/** Returns a request's strings as the client sent them: a list or a single string. */
export const getTexts = ({ inputs, isList }: ModerationRequest): string | string[] =>
  isList ? inputs.map(({ text }) => text) : (inputs[0]?.text ?? '')

/**
 * Reads a response. If anything is missing, returns a description of it. `names` maps the vendor's categories to OpenAI's; several may map to the
 * same one.
 */
export function readModeration(
  json: JsonObject,
  { inputs }: ModerationRequest,
  names: Readonly<Record<string, string>> = {},
): ModerationResponse | string {
  const { id, model, results, usage } = json
  if (!Array.isArray(results) || results.length !== inputs.length) return 'a result for each input'
  const moderationResults = results.map((result) => readResult(result, names))
  if (!moderationResults.every((moderationResult) => moderationResult !== undefined)) return 'categories in each result'
  return {
    ...(typeof id === 'string' && { id }),
    ...(typeof model === 'string' && { model }),
    results: moderationResults.filter((moderationResult) => moderationResult !== undefined),
    ...readUsage(usage),
  }
}

function readResult(result: unknown, names: Readonly<Record<string, string>>): ModerationResult | undefined {
  if (!isObject(result) || !isObject(result.categories)) return undefined
  const { category_scores: vendorScores } = result
  const categories: Record<string, boolean> = {}
  const scores: Record<string, number> = {}
  for (const [category, flag] of Object.entries(result.categories)) {
    const name = getEntry(names, category) ?? category
    const score = isObject(vendorScores) ? vendorScores[category] : undefined
    categories[name] = flag === true || (categories[name] ?? false)
    if (typeof score === 'number') scores[name] = Math.max(score, scores[name] ?? 0)
  }
  const { flagged = Object.values(categories).includes(true) } = result
  return { flagged: flagged === true, categories, scores }
}

function readUsage(usage: unknown): Pick<ModerationResponse, 'usage'> {
  if (!isObject(usage)) return {}
  const inputTokens = readTokenCount(usage.prompt_tokens) || readTokenCount(usage.total_tokens)
  return inputTokens > 0 ? { usage: { inputTokens, outputTokens: 0 } } : {}
}
