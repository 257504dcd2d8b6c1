import type { JsonObject } from '../../../../src/lib/json.ts'
import { chatTranslator } from '../../../../src/protocols/formats/openai-chat/chat-translator.ts'
import { contexts } from '../../support/contexts.ts'

/** The shortest possible conversation. */
export const MESSAGES = [{ role: 'user', content: 'q' }]

/** Parses a chat request, with `MESSAGES` unless the body has its own messages, and returns it with the warnings. */
export function parse(body: JsonObject, isStrict = false) {
  const { warnings } = contexts(chatTranslator, { isStrict })
  const request = chatTranslator.parseRequest({ model: 'm', messages: MESSAGES, ...body }, { warnings })
  return { ...request, warnings: warnings.list() }
}
