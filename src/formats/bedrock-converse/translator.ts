import { baseTraits } from '../canonical/base-traits.ts'
import type { UpstreamTranslator } from '../translator.ts'
import { parseAnswer } from './answer-parse.ts'
import { converseCounter } from './count-tokens.ts'
import { parseError } from './error.ts'
import { writeRequest } from './request-write.ts'
import { createReader } from './stream-parse.ts'

/** Converse, from the canonical form and back. Its traits are those of a model that nothing is known of. */
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
    reasoning: { ...baseTraits.reasoning, by: 'none', efforts: ['low', 'medium', 'high'] },
  },
  carries: new Set(['maxOutputTokens', 'reasoning', 'serviceTier', 'stop', 'temperature', 'topK', 'topP']),
  writeRequest,
  parseAnswer,
  createReader,
  counter: converseCounter,
  parseError,
}
