import type { JsonObject } from '../../../../src/lib/json.ts'
import { geminiTranslator } from '../../../../src/protocols/formats/gemini/gemini-translator.ts'
import type { ParseContext } from '../../../../src/protocols/formats/translator.ts'
import { contexts } from '../../support/contexts.ts'

/** The minimal request. */
export const QUESTION = { role: 'user', parts: [{ text: 'q' }] }

/** Parses a Gemini client's request, and returns it with its warnings. The content is `QUESTION` unless the body has `contents`. */
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
