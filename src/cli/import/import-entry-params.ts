import * as v from 'valibot'
import { entryParamsSchema } from '../../admin/combo-entry.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { readNumber } from './field-values.ts'
import type { PlannedValue } from './plan.ts'

/** Combo entry parameters, by their names in OpenAI, LiteLLM, and Portkey. */
const ENTRY_PARAM_NAMES = {
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

/** How the output describes an entry's parameters. */
export const ENTRY_PARAMS_NOTE = '"params" of its combo entry, which override what clients send'

/**
 * Converts another program's settings for a chat model to the `params` of a combo entry. `names` lists the converted settings; entries
 * don't support the others.
 */
export function readEntryParams(litellmParams: JsonObject): {
  params: Readonly<Record<string, PlannedValue>> | undefined
  names: readonly string[]
} {
  const params: Record<string, PlannedValue> = {}
  const names: string[] = []
  for (const [name, param] of Object.entries(ENTRY_PARAM_NAMES)) {
    const value = litellmParams[name]
    const converted = param === 'stopSequences' && typeof value === 'string' ? [value] : (readNumber(value) ?? value)
    if (converted === undefined || isObject(converted) || param in params) continue
    const found = v.safeParse(entryParamsSchema, { [param]: converted })
    if (!found.success) continue
    Object.assign(params, found.output)
    names.push(name)
  }
  return { names, params: names.length > 0 ? params : undefined }
}
