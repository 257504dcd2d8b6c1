import type { WireFormat } from '../../../../src/types.ts'
import { messagesProblems } from './anthropic-messages.ts'
import { geminiProblems } from './gemini.ts'
import { chatProblems } from './openai-chat.ts'
import { responsesProblems } from './openai-responses.ts'
import type { Validator } from './validator.ts'

/** Return what is wrong with a request body, by the rules of each vendor. */
export const validators: Readonly<Record<WireFormat, Validator>> = {
  'openai-chat': chatProblems,
  'openai-responses': responsesProblems,
  'anthropic-messages': messagesProblems,
  gemini: geminiProblems,
}
