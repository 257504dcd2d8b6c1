import type { OptionName } from '../../../traits.ts'
import type { TargetDifference } from './difference.ts'

const chatFormat = /^openai-chat$/
const otherProviders = /^(?!openai$)/

/** The built-in catalog's providers. Nothing is known about servers that users add. */
export const catalogProviders =
  /^(?:anthropic|google|azure|bedrock|vertex|openrouter|vercel|groq|cerebras|sambanova|together|fireworks|deepinfra|huggingface|nvidia-nim|nebius|novita|siliconflow|baseten|scaleway|ollama|lmstudio|mistral|deepseek|xai|cohere|perplexity-agent|moonshot|zai|alibaba|minimax|meta|xiaomi|stepfun|inception|voyage|jina)$/

/** Options that only OpenAI supports. Many other providers reject requests that contain any of them. */
const OPENAI_ONLY_OPTIONS: readonly OptionName[] = [
  'cacheKey',
  'cacheOptions',
  'cacheRetention',
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
 * All other providers of OpenAI's formats. A known vendor gets the options that all of them accept, and the ones in its own row. A user-added server
 * gets all options that clients send, because it is unknown which ones it accepts.
 */
export const compatibleProviders: readonly TargetDifference[] = [
  {
    formats: /^openai-/,
    providers: otherProviders,
    developerRole: false,
    textAfterCalls: false, // DeepSeek rejects text after tool calls
    freeFormTools: false,
    ownTools: false,
    strictOutput: false,
    webSearch: false,
    toolChoices: ['none', 'required', 'tool'],
    cacheBreakpoints: 'none',
  },
  {
    formats: chatFormat,
    providers: otherProviders,
    supports: ['topK'],
    inputs: ['image', 'image-url', 'file', 'audio', 'video', 'video-url', 'youtube'],
    outputLimitField: 'max_tokens',
    reasoning: { efforts: ['none', 'low', 'medium', 'high'], replay: 'tool-loop' },
  },
  { formats: /^openai-/, providers: catalogProviders, lacks: OPENAI_ONLY_OPTIONS },
  {
    formats: chatFormat,
    providers: catalogProviders,
    lacks: ['topK'],
    inputs: ['image', 'image-url', 'audio'],
    strictTools: false,
    reasoning: { control: 'none' },
  },
  // Azure serves OpenAI's models unchanged. Deployments with other names match no model.
  {
    formats: chatFormat,
    providers: /^azure$/,
    inputs: ['image', 'image-url'],
    outputLimitField: 'max_completion_tokens',
  },
  {
    formats: /^openai-/,
    providers: /^azure$/,
    models: /^(?:gpt-\d|o\d|codex)/,
    supports: ['cacheKey', 'labels', 'logitBias', 'logprobs', 'prediction', 'store', 'verbosity'],
    developerRole: true,
    freeFormTools: true,
    strictTools: true,
  },
  { formats: /^openai-/, providers: /^azure$/, models: /^gpt-(?:4\.1|5(?!\.[6-9]))/, supports: ['cacheRetention'] },
  // OpenAI's open-weight models handle reasoning the same way at every provider.
  {
    formats: chatFormat,
    models: /^gpt-oss/,
    reasoning: { control: 'effort', efforts: ['low', 'medium', 'high'], field: 'reasoning' },
  },
  // Claude and Gemini behind an OpenAI-compatible API: late instructions would be moved to the front, and the newest models don't accept sampling
  // parameters.
  { formats: chatFormat, models: /^(?:claude|gemini|gemma)/, lateSystem: false },
  {
    formats: chatFormat,
    models: /^claude-(?!instant|[123]|4-|[a-z]+-4(?:$|[-.:@][0-6](?!\d)|[-@:]20|:))/,
    lacks: ['temperature', 'topP', 'topK'],
  },
  {
    formats: chatFormat,
    models: /^claude-(?!instant|[123]|4-|[a-z]+-4(?:$|[-.:@][0-5](?!\d)|[-@:]20|:))/,
    prefill: false,
  },
]
