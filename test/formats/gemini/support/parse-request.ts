import { geminiTranslator } from '../../../../src/formats/gemini/translator.ts'
import type { ParseContext } from '../../../../src/formats/translator.ts'
import type { JsonObject } from '../../../../src/lib/json.ts'
import { contexts } from '../../support/contexts.ts'

/** The least that a request can ask. */
export const QUESTION = { role: 'user', parts: [{ text: 'q' }] }

/** Parses a request of a Gemini client, which asks QUESTION unless its body has `contents`; with the warnings. */
export function parse(
  body: JsonObject,
  { isStrict = false, route }: { isStrict?: boolean; route?: ParseContext['route'] } = {},
) {
  const { warnings } = contexts(geminiTranslator, { isStrict })
  const request = geminiTranslator.parseRequest(
    { contents: [QUESTION], ...body },
    { warnings, route: route ?? { model: 'm', stream: false } },
  )
  return { ...request, warnings: warnings.list() }
}
