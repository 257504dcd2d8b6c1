import { isObject, type JsonObject } from '../../lib/json.ts'

/** The differences between answers in the versions of the protocol. */
export interface ProtocolVersion {
  /** Do the data of a file have a tag with their form: `{ type: 'data', data }`? */
  tagsFiles: boolean
  /** Does a text name the sources that support it, in addition to the parts of the type `source`? */
  citesInTexts: boolean
  /** Does the start of an input say that it is text and no JSON? */
  saysEncodings: boolean
}

export const versions: Readonly<Record<string, ProtocolVersion>> = {
  '3': { tagsFiles: false, citesInTexts: false, saysEncodings: false }, // AI SDK 6
  '4': { tagsFiles: true, citesInTexts: true, saysEncodings: true }, // AI SDK 7
}

/** The tokens for thoughts, an option of Anthropic. As in the AI SDK's provider of Anthropic, they are on top of `maxOutputTokens`. */
export function thinkingBudgetOf({ providerOptions }: JsonObject): number {
  const anthropic = isObject(providerOptions) ? providerOptions.anthropic : undefined
  const thinking = isObject(anthropic) ? anthropic.thinking : undefined
  const budget = isObject(thinking) ? thinking.budgetTokens : undefined
  return typeof budget === 'number' && budget > 0 ? budget : 0
}
