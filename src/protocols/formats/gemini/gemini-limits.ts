import { isObject, type JsonObject } from '../../../lib/json.ts'
import { setMember } from '../../../lib/json-edit.ts'
import type { OutputLimit, RequestBound } from '../format.ts'
import { getHighestLimit, readResponseCount } from '../request-numbers.ts'

/** The output limit in the generation config. Google accepts both spellings of each name. */
export const geminiOutputLimit: OutputLimit = {
  get: (body) => getHighestLimit(listConfigs(body).flatMap((config) => LIMIT_FIELDS.map((name) => config[name]))),
  set({ text, body }, tokens) {
    const outers = CONFIG_FIELDS.filter((name) => isObject(body[name]))
    return (outers.length > 0 ? outers : CONFIG_FIELDS.slice(0, 1)).reduce((result, outer) => {
      const present = LIMIT_FIELDS.filter((name) => (getConfig(body, outer)[name] ?? null) !== null)
      const inners = present.length > 0 ? present : LIMIT_FIELDS.slice(0, 1)
      return setMember(result, outer, (config) =>
        inners.reduce(
          (json, inner) => setMember(json, inner, () => String(tokens)),
          config?.startsWith('{') ? config : '{}',
        ),
      )
    }, text)
  },
  name: 'generationConfig.maxOutputTokens',
}

/** Bounds requests by the number of candidates that they request. */
export const geminiBound: RequestBound = {
  countResponses: (body) =>
    Math.max(
      ...listConfigs(body).flatMap(({ candidateCount, candidate_count: count }) => [
        readResponseCount(candidateCount),
        readResponseCount(count),
      ]),
    ),
}

const CONFIG_FIELDS = ['generationConfig', 'generation_config']
const LIMIT_FIELDS = ['maxOutputTokens', 'max_output_tokens']

const listConfigs = (body: JsonObject): JsonObject[] => CONFIG_FIELDS.map((name) => getConfig(body, name))

function getConfig(body: JsonObject, name: string): JsonObject {
  const config = body[name]
  return isObject(config) ? config : {}
}
