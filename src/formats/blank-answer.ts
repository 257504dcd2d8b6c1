import { isObject, type JsonObject } from '../lib/json.ts'
import type { ProviderFormat } from '../types.ts'

/**
 * Has the model ended its turn of its own will without a word, a call, a thought or a refusal? What was cut short or held back is an answer,
 * for it says why it is empty.
 */
export function isBlankAnswer(format: ProviderFormat, answer: JsonObject): boolean {
  switch (format) {
    case 'openai-chat':
      return all(
        answer.choices,
        (choice) => choice.finish_reason === 'stop' && 'message' in choice && isNothing(choice.message),
      )
    case 'openai-responses':
      return (
        answer.status === 'completed' &&
        all(answer.output, (item) => item.type === 'message' && isNothing(item.content))
      )
    case 'anthropic-messages':
      return answer.stop_reason === 'end_turn' && isNothing(answer.content)
    case 'gemini':
      return (
        hasSome(answer.candidates) &&
        all(answer.candidates, ({ finishReason, content }) => finishReason === 'STOP' && isNothing(content))
      )
    case 'bedrock-converse':
      return false // such answers of Converse are on record as good ones
  }
}

const hasSome = (list: unknown): list is unknown[] => Array.isArray(list) && list.length > 0

const all = (list: unknown, is: (item: JsonObject) => boolean) =>
  Array.isArray(list) && list.every((item) => isObject(item) && is(item))

/** No text anywhere within, and no member but those that say whose or of what kind it would be. */
function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isNothing)
  if (!isObject(value)) return !value
  return Object.entries(value).every(([name, member]) => name === 'role' || name === 'type' || isNothing(member))
}
