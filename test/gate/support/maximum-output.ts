import type { JsonObject } from '../../../src/lib/json.ts'
import { json, type Respond } from '../../pipeline/support/upstream.ts'
import { metered } from './metered-providers.ts'

/** The maximum output of the models in the tests' catalog. */
const MODEL_MOST = 4_000

/** Reads a number like a lenient server. */
const number = (value: unknown): number =>
  typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN

/**
 * Returns the highest token maximum that any server could read from these limits. Values that aren't counts mean no limit, because some servers
 * ignore them.
 */
function getMaximum(limits: readonly unknown[]): number {
  const given = limits.filter((limit) => limit !== undefined && limit !== null)
  const counts = given.filter((limit): limit is number => typeof limit === 'number' && limit >= 1)
  if (counts.length === 0 || counts.length < given.length) return MODEL_MOST
  return Math.min(MODEL_MOST, Math.ceil(Math.max(...counts)))
}

/** Returns the highest number of completions that any server would generate. */
const countChoices = (counts: readonly unknown[]): number =>
  Math.max(
    1,
    ...counts
      .map(number)
      .filter((count) => Number.isFinite(count))
      .map(Math.ceil),
  )

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null

/** Returns all fields with these names in an object and in its generation settings. */
function getMembers(body: unknown, names: readonly string[]): unknown[] {
  if (!isObject(body)) return []
  return Object.entries(body).flatMap(([name, value]) =>
    names.includes(name)
      ? [value]
      : ['generationConfig', 'generation_config'].includes(name)
        ? getMembers(value, names)
        : [],
  )
}

/** Returns the names of the limit fields that a server reads, by its path. */
const getLimits = (path: string): string[] => {
  if (path.includes(':')) return ['maxOutputTokens', 'max_output_tokens']
  return path.includes('responses') ? ['max_output_tokens'] : ['max_tokens', 'max_completion_tokens']
}
const COUNTS = ['n', 'best_of', 'candidateCount', 'candidate_count']

/** Creates providers that return as many tokens as a request allows, and report that number. */
export const respondGreedily =
  (reported: { tokens: number }): Respond =>
  (call, index) => {
    const body = JSON.parse(call.body)
    const prompts =
      Array.isArray(body.prompt) && typeof body.prompt[0] !== 'number' ? Math.max(1, body.prompt.length) : 1
    const output =
      getMaximum(getMembers(body, getLimits(call.url.pathname))) * countChoices(getMembers(body, COUNTS)) * prompts
    if (output > 10_000_000) return json({ error: { message: 'Too many' } }, 400)
    return metered({ input: 9, output }, reported)(call, index)
  }
