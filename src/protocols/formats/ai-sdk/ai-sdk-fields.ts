import { isObject, type JsonObject } from '../../../lib/json.ts'

/** How responses differ between protocol versions. */
export interface ProtocolVersion {
  /** Whether file data is tagged with its format: `{ type: 'data', data }`. */
  tagsFiles: boolean
  /** Whether a text part lists its sources, in addition to separate `source` parts. */
  citesInTexts: boolean
  /** Whether the start of a tool input states that the input is text instead of JSON. */
  statesEncodings: boolean
}

export const protocolVersions: Readonly<Record<string, ProtocolVersion>> = {
  '3': { tagsFiles: false, citesInTexts: false, statesEncodings: false }, // AI SDK 6
  '4': { tagsFiles: true, citesInTexts: true, statesEncodings: true }, // AI SDK 7
}

/** Reads Anthropic's thinking budget. As in the AI SDK's Anthropic provider, it is added to `maxOutputTokens`. */
export function readThinkingBudget({ providerOptions }: JsonObject): number {
  const anthropic = isObject(providerOptions) ? providerOptions.anthropic : undefined
  const thinking = isObject(anthropic) ? anthropic.thinking : undefined
  const budgetTokens = isObject(thinking) ? thinking.budgetTokens : undefined
  return typeof budgetTokens === 'number' && budgetTokens > 0 ? budgetTokens : 0
}
