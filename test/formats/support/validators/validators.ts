import type { WireFormat } from '../../../../src/types.ts'
import { messagesProblems } from './anthropic-messages.ts'
import { geminiProblems } from './gemini.ts'
import { chatProblems } from './openai-chat.ts'
import { responsesProblems } from './openai-responses.ts'
import type { Validator } from './validator.ts'

/** The validators of request bodies, by format. Each enforces its vendor's rules. */
export const validators: Readonly<Record<WireFormat, Validator>> = {
  'openai-chat': chatProblems,
  'openai-responses': responsesProblems,
  'anthropic-messages': messagesProblems,
  gemini: geminiProblems,
}
