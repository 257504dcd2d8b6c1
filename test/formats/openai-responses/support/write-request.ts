import type { CanonicalRequest } from '../../../../src/formats/canonical/request.ts'
import { responsesTranslator } from '../../../../src/formats/openai-responses/translator.ts'
import { contexts } from '../../support/contexts.ts'
import { ours } from './streams.ts'

/** What a provider of responses is sent for a request; with the warnings. */
export function write(request: Partial<CanonicalRequest>, options = {}) {
  const { warnings, target } = contexts(responsesTranslator, { ...ours, ...options })
  const whole = { model: 'x', stream: false, streamUsage: false, turns: [], tools: [], options: {}, ...request }
  const { path, headers, body } = responsesTranslator.writeRequest(whole, target)
  return { path, headers, body, warnings: warnings.list() }
}
