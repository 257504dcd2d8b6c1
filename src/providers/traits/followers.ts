import type { OptionName } from '../../traits.ts'
import type { Row } from './difference.ts'

const formats = /^openai-chat$/

/** What only OpenAI itself has; most others refuse a request that names one of them. */
const OWN: readonly OptionName[] = [
  'cacheKey',
  'cacheOptions',
  'endUser',
  'labels',
  'logitBias',
  'logprobs',
  'modalities',
  'moderation',
  'prediction',
  'serviceTier',
  'speech',
  'store',
  'verbosity',
]

/** Every other provider of Chat Completions: what all of them are known to take. What a vendor takes besides is said with the vendor. */
export const followers: readonly Row[] = [
  {
    formats,
    providers: /^(?!openai$)/,
    lacks: OWN,
    inputs: ['image', 'image-url', 'audio'],
    outputLimitField: 'max_tokens',
    developerRole: false,
    freeFormTools: false,
    strictTools: false,
    webSearch: false,
    toolChoices: ['none', 'required', 'tool'],
    cacheMarks: 'none',
    reasoning: { by: 'none', replay: 'tool-loop' },
  },
  // Open weights of OpenAI think the same everywhere.
  { formats, models: /^gpt-oss/, reasoning: { by: 'effort', efforts: ['low', 'medium', 'high'], field: 'reasoning' } },
]
