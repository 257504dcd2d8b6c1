import type { TargetDifference } from './difference.ts'

const formats = /^openai-/
const chatFormat = /^openai-chat$/
const SAMPLING_OPTIONS = [
  'temperature',
  'topP',
  'frequencyPenalty',
  'presencePenalty',
  'logprobs',
  'logitBias',
] as const

/*
 * How OpenAI's models differ, at every provider. Sources: https://developers.openai.com/api/docs/guides/reasoning and the model pages, October 2026;
 * measurements in https://github.com/pydantic/pydantic-ai and https://github.com/BerriAI/litellm.
 */
export const openai: readonly TargetDifference[] = [
  // Reasoning models: the o series, and all models since GPT-5.
  {
    formats,
    models: /^(?:o\d|gpt-[5-9]|codex)/,
    lacks: ['stop', 'prediction'],
    outputLimitField: 'max_completion_tokens',
    reasoning: {
      control: 'effort',
      efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
      excludes: SAMPLING_OPTIONS,
      isDefault: true,
    },
  },
  { formats, models: /^o\d/, lacks: ['parallelToolCalls', 'verbosity'], freeFormTools: false },
  { formats, models: /^o\d|^gpt-5-codex/, reasoning: { efforts: ['low', 'medium', 'high'] } },
  { formats, models: /^gpt-5(?!\.|-codex)/, reasoning: { efforts: ['minimal', 'low', 'medium', 'high'] } },
  { formats, models: /^gpt-5\.1/, reasoning: { efforts: ['none', 'low', 'medium', 'high'] } },
  { formats, models: /^gpt-5\.[2-5]/, reasoning: { efforts: ['none', 'low', 'medium', 'high', 'xhigh'] } },
  { formats, models: /^gpt-5\.[1-4]/, reasoning: { isDefault: false } },
  {
    formats,
    models: /^gpt-5\.\d-(?:pro|chat)/,
    reasoning: { efforts: ['medium', 'high', 'xhigh'], isDefault: true },
  },
  { formats, models: /^gpt-5\.1-codex/, reasoning: { efforts: ['low', 'medium', 'high'], isDefault: true } },
  { formats, models: /^gpt-5-pro/, reasoning: { efforts: ['high'] } },
  { formats, models: /^gpt-6-astra/, reasoning: { efforts: ['low', 'medium', 'high', 'xhigh', 'max'] } },
  { formats: chatFormat, models: /^gpt-6-astra/, reasoning: { efforts: ['low', 'medium', 'high', 'xhigh'] } },
  { formats, models: /^gpt-5\.\d-chat/, reasoning: { efforts: ['medium'] } },
  { formats, models: /^gpt-5-chat/, reasoning: { control: 'none', isDefault: false } },
  // Models without reasoning.
  {
    formats,
    models: /^(?:gpt-[34]|chatgpt)/,
    lacks: ['verbosity'],
    freeFormTools: false,
    reasoning: { control: 'none' },
  },
  { formats, models: /^chat-latest/, lacks: [...SAMPLING_OPTIONS, 'stop'], reasoning: { control: 'none' } },
  // Cache breakpoints are supported since GPT-5.6. Since GPT-5.2, Chat Completions rejects tools together with reasoning, except through routers.
  { formats, models: /^(?:o\d|gpt-[34]|chatgpt|gpt-5(?!\.[6-9]))/, lacks: ['cacheOptions'], cacheBreakpoints: 'none' },
  // GPT-4.1 to GPT-5.5 have a separate option for how long a prompt is cached.
  {
    formats,
    models: /^(?:o\d|gpt-3|gpt-4(?!\.1)|chatgpt|gpt-5\.[6-9]|gpt-[6-9])/,
    lacks: ['cacheRetention'],
  },
  {
    formats: chatFormat,
    providers: /^(?!openrouter$|vercel$)/,
    models: /^gpt-(?:5\.[2-9]|[6-9])/,
    reasoning: { rejectsTools: true },
  },
  // Only these two providers can compact conversations, although others may have the path.
  { formats: /^openai-responses$/, providers: /^(?:openai|azure)$/, supportsCompaction: true },
  // In Chat Completions, only search models search the web, and only speech models accept audio.
  { formats: chatFormat, models: /^(?!.*search)/, webSearch: false },
  { formats: chatFormat, providers: /^openai$/, models: /^(?!.*audio)/, inputs: ['image', 'image-url', 'file'] },
]
