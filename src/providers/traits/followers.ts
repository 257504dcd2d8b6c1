import type { OptionName } from '../../traits.ts'
import type { Row } from './difference.ts'

const chat = /^openai-chat$/
const others = /^(?!openai$)/

/** What only OpenAI itself has; many others refuse a request that names one of them. */
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

/** Every other provider of OpenAI's formats: what all of them are known to take. What one takes besides is said in its own row. */
export const followers: readonly Row[] = [
  {
    formats: /^openai-/,
    providers: others,
    lacks: OWN,
    developerRole: false,
    freeFormTools: false,
    webSearch: false,
    toolChoices: ['none', 'required', 'tool'],
    cacheMarks: 'none',
  },
  {
    formats: chat,
    providers: others,
    inputs: ['image', 'image-url', 'audio'],
    outputLimitField: 'max_tokens',
    strictTools: false,
    reasoning: { by: 'none', replay: 'tool-loop' },
  },
  // Azure has OpenAI's models as they are. Deployments with names of their own are taken for none of them.
  { formats: chat, providers: /^azure$/, inputs: ['image', 'image-url'], outputLimitField: 'max_completion_tokens' },
  {
    formats: /^openai-/,
    providers: /^azure$/,
    models: /^(?:gpt-\d|o\d|codex)/,
    takes: ['cacheKey', 'labels', 'logitBias', 'logprobs', 'prediction', 'store', 'verbosity'],
    developerRole: true,
    freeFormTools: true,
    strictTools: true,
  },
  // OpenAI's open weights think the same everywhere.
  {
    formats: chat,
    models: /^gpt-oss/,
    reasoning: { by: 'effort', efforts: ['low', 'medium', 'high'], field: 'reasoning' },
  },
  // Claude and Gemini behind a door like OpenAI's: late instructions would be put first, and the newest do not sample.
  { formats: chat, models: /^(?:claude|gemini|gemma)/, lateSystem: false },
  {
    formats: chat,
    models: /^claude-(?!instant|[123]|4-|[a-z]+-4(?:$|[-.:@][0-6](?!\d)|[-@:]20|:))/,
    lacks: ['temperature', 'topP', 'topK'],
  },
  {
    formats: chat,
    models: /^claude-(?!instant|[123]|4-|[a-z]+-4(?:$|[-.:@][0-5](?!\d)|[-@:]20|:))/,
    prefill: false,
  },
]
