import { isObject, type JsonObject } from '../../../lib/json.ts'
import { setMember } from '../../../lib/json-edit.ts'
import type { OutputLimit, RequestBound } from '../format.ts'
import { getHighestLimit, readResponseCount } from '../request-numbers.ts'

/** The output limit in the generation config. Google accepts both spellings of each name. */
export const geminiOutputLimit: OutputLimit = {
  get: (body) => getHighestLimit(listConfigs(body).flatMap((config) => LIMIT_FIELDS.map((name) => config[name]))),
  set({ text, body }, tokens) {
    const configNames = CONFIG_FIELDS.filter((name) => isObject(body[name]))
    return (configNames.length > 0 ? configNames : CONFIG_FIELDS.slice(0, 1)).reduce((result, configName) => {
      const presentLimits = LIMIT_FIELDS.filter((name) => (getConfig(body, configName)[name] ?? null) !== null)
      const limitNames = presentLimits.length > 0 ? presentLimits : LIMIT_FIELDS.slice(0, 1)
      return setMember(result, configName, (config) =>
        limitNames.reduce(
          (json, limitName) => setMember(json, limitName, () => String(tokens)),
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
