import { isObject, type JsonObject } from '../../../lib/json.ts'

/** How responses differ between the versions of the protocol. */
export interface ProtocolVersion {
  /** Whether the data of a file is tagged with its format: `{ type: 'data', data }`. */
  tagsFiles: boolean
  /** Whether a text part lists its sources, in addition to the parts of type `source`. */
  citesInTexts: boolean
  /** Whether the start of a tool's input states that it is text instead of JSON. */
  statesEncodings: boolean
}

export const versions: Readonly<Record<string, ProtocolVersion>> = {
  '3': { tagsFiles: false, citesInTexts: false, statesEncodings: false }, // AI SDK 6
  '4': { tagsFiles: true, citesInTexts: true, statesEncodings: true }, // AI SDK 7
}

/** Reads Anthropic's thinking budget. As in the AI SDK's Anthropic provider, it is added to `maxOutputTokens`. */
export function readThinkingBudget({ providerOptions }: JsonObject): number {
  const anthropic = isObject(providerOptions) ? providerOptions.anthropic : undefined
  const thinking = isObject(anthropic) ? anthropic.thinking : undefined
  const budget = isObject(thinking) ? thinking.budgetTokens : undefined
  return typeof budget === 'number' && budget > 0 ? budget : 0
}
