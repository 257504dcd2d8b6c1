import { chatTranslator } from '../../../../src/formats/openai-chat/translator.ts'
import type { JsonObject } from '../../../../src/lib/json.ts'
import { contexts } from '../../support/contexts.ts'

/** The least that a request can ask. */
export const MESSAGES = [{ role: 'user', content: 'q' }]

/** Parses a chat request, which asks MESSAGES unless its body has its own; with the warnings. */
export function parse(body: JsonObject, isStrict = false) {
  const { warnings } = contexts(chatTranslator, { isStrict })
  const request = chatTranslator.parseRequest({ model: 'm', messages: MESSAGES, ...body }, { warnings })
  return { ...request, warnings: warnings.list() }
}
