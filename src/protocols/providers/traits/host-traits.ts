import type { TargetDifference } from './difference.ts'

const formats = /^openai-chat$/
const PENALTY_OPTIONS = ['frequencyPenalty', 'presencePenalty'] as const

/** How multi-vendor hosts and local servers differ from other providers of OpenAI's formats. Sources: as in vendor-traits.ts. */
export const hosts: readonly TargetDifference[] = [
  // Routers that translate a request for each vendor, and drop options that the vendor doesn't accept.
  {
    formats,
    providers: /^(?:openrouter|vercel)$/,
    supports: ['topK', 'logitBias', 'logprobs', 'verbosity'],
    inputs: ['image', 'image-url', 'file', 'file-url', 'audio', 'video', 'video-url', 'youtube'],
    outputLimitField: 'max_tokens',
    strictTools: true,
    lateSystem: false,
    reasoning: {
      control: 'reasoning-object',
      efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
      field: 'reasoning_details',
      replay: 'always',
    },
  },
  { formats, providers: /^openrouter$/, assistantImages: true },
  { formats, providers: /^openrouter$/, models: /^(?:claude|gemini)/, cacheBreakpoints: 'cache_control' },
  {
    formats,
    providers: /^groq$/,
    inputs: ['image', 'image-url'],
    outputLimitField: 'max_completion_tokens',
    reasoning: { field: 'reasoning' },
  },
  { formats, providers: /^groq$/, models: /^(?!gpt-oss)/, outputFormats: ['json'] },
  {
    formats,
    providers: /^cerebras$/,
    lacks: [...PENALTY_OPTIONS, 'parallelToolCalls'],
    inputs: ['image'],
    outputLimitField: 'max_completion_tokens',
    strictTools: true,
    reasoning: { field: 'reasoning' },
  },
  {
    formats,
    providers: /^fireworks$/,
    models: /^(?:deepseek-v4|kimi)/,
    supports: ['topK'],
    reasoning: { control: 'effort', efforts: ['low', 'medium', 'high'] },
  },
  {
    formats,
    providers: /^fireworks$/,
    models: /^glm-5/,
    reasoning: { control: 'effort', efforts: ['none', 'high', 'max'] },
  },
  { formats, providers: /^(?:together|fireworks|deepinfra)$/, supports: ['topK'] },
  { formats, providers: /^fireworks$/, supports: ['cacheKey'] },
  // Local servers don't accept image URLs; Ollama ignores the tool choice.
  { formats, providers: /^ollama$/, inputs: ['image'], toolChoices: [], reasoning: { field: 'reasoning' } },
  {
    formats,
    providers: /^lmstudio$/,
    supports: ['topK'],
    inputs: ['image'],
    toolChoices: ['none', 'required'],
    outputFormats: ['json-schema'],
  },
  // Besides web search, Perplexity supports only a few types of tools and instructions.
  {
    formats: /^openai-responses$/,
    providers: /^perplexity-agent$/,
    lacks: ['parallelToolCalls', 'topK'],
    webSearch: true,
  },
]
