import * as v from 'valibot'
import { entryParams } from '../../admin/combo-entry.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { numberOf } from './given-fields.ts'
import type { PlannedValue } from './plan.ts'

/** The parameters of an entry of a combo, by the names that clients of OpenAI, LiteLLM and Portkey give them. */
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

/** How the output describes the parameters of an entry. */
export const ENTRY_PARAMS_WIN = '"params" of its combo entry, which override what clients send'

/**
 * The `params` of an entry for what another program sets for requests to a chat model, and the names of the settings that were taken. Settings that an
 * entry cannot have are not among them.
 */
export function entryParamsOf(given: JsonObject): {
  params: Readonly<Record<string, PlannedValue>> | undefined
  done: readonly string[]
} {
  const params: Record<string, PlannedValue> = {}
  const done: string[] = []
  for (const [name, param] of Object.entries(ENTRY_PARAMS)) {
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
