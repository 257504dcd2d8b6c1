import type { JsonObject } from '../../lib/json.ts'
import { setMember } from '../../lib/json-edit.ts'
import type { ClientFormat } from '../../types.ts'
import { readThinkingBudget } from './ai-sdk/ai-sdk-fields.ts'
import type { Endpoint, OutputLimit } from './format.ts'
import { geminiOutputLimit } from './gemini/gemini-limits.ts'
import { getHighestLimit } from './request-numbers.ts'

/**
 * Creates an output limit in a body field. `names` contains all of the field's possible names; the first one is used if a request has none of them.
 * If a request has several, the highest limit counts, because it is unknown which one the provider reads.
 */
const createOutputLimit = (...names: readonly [string, ...string[]]): OutputLimit => ({
  get: (body) => getHighestLimit(names.map((name) => body[name])),
  set({ text, body }, tokens, field) {
    const presentNames = names.filter((name) => (body[name] ?? null) !== null)
    const fieldsToWrite = presentNames.length > 0 ? presentNames : [names.includes(field) ? field : names[0]]
    return fieldsToWrite.reduce((result, name) => setMember(result, name, () => String(tokens)), text)
  },
  name: names[0],
})

const completionLimit = createOutputLimit('max_tokens')
const aiSdkLimit = createOutputLimit('maxOutputTokens')

/** The output limits for chats. */
const chatLimits: Readonly<Record<ClientFormat, OutputLimit>> = {
  'openai-chat': createOutputLimit('max_completion_tokens', 'max_tokens'),
  'openai-responses': createOutputLimit('max_output_tokens'),
  'anthropic-messages': createOutputLimit('max_tokens'),
  gemini: geminiOutputLimit,
  'ai-sdk': {
    ...aiSdkLimit,
    get(body: JsonObject) {
      const limit = aiSdkLimit.get(body)
      return limit === undefined ? undefined : limit + readThinkingBudget(body)
    },
  },
}

/** Returns the functions that read and set the output limit of an endpoint's requests, or `undefined` if they can't have one. */
export function getOutputLimit({ limitsOutput, operation, format }: Endpoint): OutputLimit | undefined {
  if (!limitsOutput) return undefined
  return operation.name === 'complete' ? completionLimit : chatLimits[format]
}
