import { isObject, type JsonObject } from '../lib/json.ts'
import type { ProviderFormat } from '../types.ts'

/**
 * Is the answer empty: did the model end its turn normally, or for no reason that it says, without a text, a call, a thought or a refusal?
 * An answer that was cut short or filtered is not, as it says why.
 */
export function isBlankAnswer(format: ProviderFormat, answer: JsonObject): boolean {
  switch (format) {
    case 'openai-chat':
      return all(
        answer.choices,
        (choice) => isEnd(choice.finish_reason, 'stop') && !('text' in choice) && isNothing(choice.message),
      )
    case 'openai-responses':
      return (
        isEnd(answer.status, 'completed') &&
        all(answer.output, (item) => item.type === 'message' && isNothing(item.content))
      )
    case 'anthropic-messages':
      return isEnd(answer.stop_reason, 'end_turn') && isNothing(answer.content)
    case 'gemini':
      return (
        hasSome(answer.candidates) &&
        all(answer.candidates, ({ finishReason, content }) => isEnd(finishReason, 'STOP') && isNothing(content))
      )
    case 'bedrock-converse':
      return false // such answers of Converse are on record as good ones
  }
}

/** Some servers leave the reason out. */
const isEnd = (reason: unknown, normal: string) => reason === normal || reason === undefined || reason === null

const hasSome = (list: unknown): list is unknown[] => Array.isArray(list) && list.length > 0

const all = (list: unknown, is: (item: JsonObject) => boolean) =>
  Array.isArray(list) && list.every((item) => isObject(item) && is(item))

/** Does the value contain nothing but members that name a role or a type? */
function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isNothing)
  if (!isObject(value)) return !value
  return Object.entries(value).every(([name, member]) => name === 'role' || name === 'type' || isNothing(member))
}
