import type { OptionName } from '../../traits.ts'
import type { TargetDifference } from './difference.ts'

const chat = /^openai-chat$/
const others = /^(?!openai$)/

/** Those of the built-in catalog. Nothing is known of servers that a user brings. */
export const vendorsOfChat =
  /^(?:anthropic|google|azure|bedrock|vertex|openrouter|vercel|groq|cerebras|sambanova|together|fireworks|deepinfra|huggingface|nvidia-nim|nebius|novita|siliconflow|baseten|scaleway|ollama|lmstudio|mistral|deepseek|xai|cohere|perplexity-agent|moonshot|zai|alibaba|minimax|meta|xiaomi|stepfun|inception|voyage|jina)$/

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

/**
 * Every other provider of OpenAI's formats. A vendor gets what all of them are known to take, and what it takes besides is in its own row;
 * a server that a user brings gets what its clients send, as it is not known what it takes.
 */
export const followers: readonly TargetDifference[] = [
  {
    formats: /^openai-/,
    providers: others,
    developerRole: false,
    textAfterCalls: false, // DeepSeek refuses it
    freeFormTools: false,
    ownTools: false,
    webSearch: false,
    toolChoices: ['none', 'required', 'tool'],
    cacheMarks: 'none',
  },
  {
    formats: chat,
    providers: others,
    takes: ['topK'],
    inputs: ['image', 'image-url', 'file', 'audio', 'video', 'video-url', 'youtube'],
    outputLimitField: 'max_tokens',
    reasoning: { efforts: ['none', 'low', 'medium', 'high'], replay: 'tool-loop' },
  },
  { formats: /^openai-/, providers: vendorsOfChat, lacks: OWN },
  {
    formats: chat,
    providers: vendorsOfChat,
    lacks: ['topK'],
    inputs: ['image', 'image-url', 'audio'],
    strictTools: false,
    reasoning: { by: 'none' },
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
  // Claude and Gemini by an API like OpenAI's: late instructions would be put first, and the newest do not sample.
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
