import type { CanonicalRequest } from '../../../../src/protocols/formats/canonical/canonical-request.ts'
import { responsesTranslator } from '../../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { contexts } from '../../support/contexts.ts'
import { ours } from './streams.ts'

/** Writes a request for a Responses provider, and returns it with the warnings. */
export function write(request: Partial<CanonicalRequest>, options = {}) {
  const { warnings, target } = contexts(responsesTranslator, { ...ours, ...options })
  const full = { model: 'x', stream: false, streamUsage: false, turns: [], tools: [], options: {}, ...request }
  const { path, headers, body } = responsesTranslator.writeRequest(full, target)
  return { path, headers, body, warnings: warnings.list() }
}
