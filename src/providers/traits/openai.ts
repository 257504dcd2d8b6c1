import type { Row } from './difference.ts'

const SAMPLING = ['temperature', 'topP', 'frequencyPenalty', 'presencePenalty', 'logprobs', 'logitBias'] as const

/*
 * OpenAI's models, wherever they are served. Sources: https://developers.openai.com/api/docs/guides/reasoning and the model pages, October
 * 2026; refusals that https://github.com/pydantic/pydantic-ai and https://github.com/BerriAI/litellm measured.
 */
const rows: readonly Row[] = [
  // Models that think: the o series and everything from GPT-5 on.
  {
    models: /^(?:o\d|gpt-[5-9]|codex)/,
    lacks: [...SAMPLING, 'stop', 'prediction'],
    outputLimitField: 'max_completion_tokens',
    reasoning: { by: 'effort', efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] },
  },
  { models: /^o\d/, lacks: ['parallelToolCalls', 'verbosity'], reasoning: { efforts: ['low', 'medium', 'high'] } },
  { models: /^gpt-5(?!\.)/, reasoning: { efforts: ['minimal', 'low', 'medium', 'high'] } },
  { models: /^gpt-5\.1/, reasoning: { efforts: ['none', 'low', 'medium', 'high'] } },
  { models: /^gpt-5\.[2-5]/, reasoning: { efforts: ['none', 'low', 'medium', 'high', 'xhigh'] } },
  { models: /^gpt-5\.[2-5]-pro/, reasoning: { efforts: ['medium', 'high', 'xhigh'] } },
  { models: /^gpt-5-pro/, reasoning: { efforts: ['high'] } },
  { models: /^gpt-6-astra/, reasoning: { efforts: ['low', 'medium', 'high', 'xhigh', 'max'] } },
  { models: /^gpt-5[.\d]*-chat/, reasoning: { by: 'none' } },
  { models: /^gpt-5-chat/, takes: SAMPLING },
  // Models that do not: they take what thinking excludes, and not what came with it.
  {
    models: /^(?:gpt-[34]|chatgpt|chat-latest)/,
    lacks: ['verbosity'],
    freeFormTools: false,
    reasoning: { by: 'none' },
  },
  // Explicit points of caching came with GPT-5.6.
  { models: /^(?:o\d|gpt-[34]|chatgpt|gpt-5(?!\.[6-9]))/, lacks: ['cacheOptions'], cacheMarks: 'none' },
  // Only models that are made for it search on this endpoint, and only those of speech listen.
  { formats: /^openai-chat$/, models: /^(?!.*search)/, webSearch: false },
  { formats: /^openai-chat$/, models: /^(?:gpt|o\d|chat)(?!.*audio)/, inputs: ['image', 'image-url', 'file'] },
]

export const openai: readonly Row[] = rows.map((row) => ({ formats: /^openai-/, ...row }))
