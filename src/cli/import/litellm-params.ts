import * as v from 'valibot'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { entryParams } from '../../management/combo-entry.ts'
import { numberOf, type PlannedValue } from './plan.ts'

/** The members of `litellm_params` that say which account and model a deployment is, and what it costs. */
export const READ_PARAMS = `
  model custom_llm_provider api_key api_base base_url api_version weight aws_access_key_id aws_secret_access_key aws_session_token
  aws_region_name vertex_project vertex_location vertex_credentials input_cost_per_token output_cost_per_token cache_read_input_token_cost
  cache_creation_input_token_cost
`
  .trim()
  .split(/\s+/)

/** Why nothing is made of other members. */
export const PARAM_REASONS: Readonly<Record<string, string>> = {
  rpm: "A target has no limit of its own: it is used as the deployment's share, and a provider's 429 sends the request on.",
  tpm: "A target has no limit of its own: it is used as the deployment's share, and a provider's 429 sends the request on.",
  timeout: 'Time-outs belong to combos and to the settings.',
  stream_timeout: 'Time-outs belong to combos and to the settings.',
  max_retries: 'Attempts belong to combos and to the settings.',
  input_cost_per_second: 'Prices by the second go into "prices" of the connection, as "second".',
}

const CHAT_MODES = ['chat', 'completion', 'responses']

/** The parameters of an entry of a combo, by those that LiteLLM calls them. */
const ENTRY_PARAMS = {
  max_completion_tokens: 'maxTokens',
  max_tokens: 'maxTokens',
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  stop: 'stopSequences',
  seed: 'seed',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  reasoning_effort: 'reasoning',
} as const

/**
 * What a deployment sets for its requests, as an entry of a combo here, and the names of what was taken: not what an entry cannot have, and nothing
 * of a deployment that is for something else than chat.
 */
export function setByDeployment(
  given: JsonObject,
  mode: string | undefined,
): { params: Readonly<Record<string, PlannedValue>> | undefined; done: readonly string[] } {
  const params: Record<string, PlannedValue> = {}
  const done: string[] = []
  const isChat = mode === undefined || CHAT_MODES.includes(mode)
  for (const [name, param] of isChat ? Object.entries(ENTRY_PARAMS) : []) {
    const value = given[name]
    const asked = param === 'stopSequences' && typeof value === 'string' ? [value] : (numberOf(value) ?? value)
    if (asked === undefined || isObject(asked) || param in params) continue
    const found = v.safeParse(entryParams, { [param]: asked })
    if (!found.success) continue
    Object.assign(params, found.output)
    done.push(name)
  }
  return { done, params: done.length > 0 ? params : undefined }
}
