import { isObject, type JsonObject } from '../../lib/json.ts'

/** What differs between the versions of the protocol, for the answer to a client. */
export interface ProtocolVersion {
  /** Is the data of a file tagged by what it is: `{ type: 'data', data }`? */
  tagsFiles: boolean
  /** Does a text name the sources that support it, besides those that are parts of their own? */
  citesInTexts: boolean
  /** Does the start of an input say that it is text and no JSON? */
  saysEncodings: boolean
}

export const versions: Readonly<Record<string, ProtocolVersion>> = {
  '3': { tagsFiles: false, citesInTexts: false, saysEncodings: false }, // AI SDK 6
  '4': { tagsFiles: true, citesInTexts: true, saysEncodings: true }, // AI SDK 7
}

/** The tokens for thoughts among the options of Anthropic, which are on top of `maxOutputTokens` as in AI SDK's provider of Anthropic. */
export function thinkingBudgetOf({ providerOptions }: JsonObject): number {
  const anthropic = isObject(providerOptions) ? providerOptions.anthropic : undefined
  const thinking = isObject(anthropic) ? anthropic.thinking : undefined
  const budget = isObject(thinking) ? thinking.budgetTokens : undefined
  return typeof budget === 'number' && budget > 0 ? budget : 0
}
