import { baseTraits } from '../canonical/base-traits.ts'
import type { UpstreamTranslator } from '../translator.ts'
import { parseError } from './converse-errors.ts'
import { writeCountRequest, writeRequest } from './provider/converse-provider-request.ts'
import { parseCount, parseResponse } from './provider/converse-provider-response.ts'
import { createReader } from './provider/converse-provider-stream.ts'

/** Translates the canonical format to and from Converse. Its traits are those of an unknown model. */
export const converseTranslator: UpstreamTranslator = {
  traits: {
    ...baseTraits,
    inputs: ['image', 'file'],
    maxTemperature: 1,
    developerRole: false,
    lateSystem: false,
    documents: true,
    emptyText: 'refused',
    prefill: false,
    strictTools: false,
    toolChoices: [],
    declaresTools: true,
    outputFormats: [],
    uncacheable: ['result-parts'],
    reasoning: { ...baseTraits.reasoning, control: 'none', efforts: ['low', 'medium', 'high'] },
  },
  supportedOptions: new Set(['maxOutputTokens', 'reasoning', 'serviceTier', 'stop', 'temperature', 'topK', 'topP']),
  writeRequest,
  parseResponse,
  createReader,
  tokenCounter: { writeRequest: writeCountRequest, parseCount },
  parseError,
}
