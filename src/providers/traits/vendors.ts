import type { Row } from './difference.ts'

const formats = /^openai-chat$/

/** What single vendors of Chat Completions differ in from other followers of OpenAI. Their documentation is named in definitions.*.ts. */
export const vendors: readonly Row[] = [
  // Thinks unless told not to; its own thoughts have to come back within a loop of tools. No schema of the answer, no forced call.
  {
    formats,
    providers: /^deepseek$/,
    toolChoices: ['none'],
    outputFormats: ['json'],
    inputs: [],
    reasoning: { by: 'thinking', efforts: ['none', 'low', 'high', 'max'] },
  },
  // Refuses every field that it does not know.
  {
    formats,
    providers: /^mistral$/,
    lacks: ['seed'],
    takes: ['cacheKey'],
    maxTemperature: 1.5,
    strictTools: true,
    streamUsage: false,
    toolIds: { characters: 'A-Za-z0-9', maxLength: 9, isExact: true },
    reasoning: { field: 'thinking-parts', replay: 'always' },
  },
  {
    formats,
    providers: /^google$/,
    lacks: ['frequencyPenalty', 'presencePenalty', 'seed', 'parallelToolCalls'],
    reasoning: { by: 'effort', efforts: ['minimal', 'low', 'medium', 'high'], replay: 'always' },
  },
  {
    formats,
    providers: /^openrouter$/,
    takes: ['topK', 'logitBias', 'logprobs'],
    inputs: ['image', 'image-url', 'file', 'file-url', 'audio', 'video'],
    outputLimitField: 'max_tokens',
    strictTools: true,
    reasoning: {
      by: 'reasoning-object',
      efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
      field: 'reasoning_details',
      replay: 'always',
    },
  },
  {
    formats,
    providers: /^(?:zai|moonshot)$/,
    outputFormats: ['json'],
    reasoning: { by: 'thinking', efforts: ['none', 'high'] },
  },
  { formats, providers: /^alibaba$/, takes: ['topK'], reasoning: { by: 'enable_thinking' } },
]
