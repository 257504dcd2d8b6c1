import type { TargetDifference } from './difference.ts'

const geminiFormat = /^gemini$/
const chatFormat = /^openai-chat$/

/*
 * How Gemini models differ, in their own format and behind OpenAI-compatible APIs. Sources: https://ai.google.dev/gemini-api/docs/thinking and
 * …/openai, https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thinking, October 2026. Newer models are treated like Gemini 4.
 */
export const google: readonly TargetDifference[] = [
  // Since 3.5, models ignore sampling parameters (4 rejects them) and don't continue a response. No model supports penalties or log probabilities.
  { models: /^gemini-(?:3\.[5-9]|[4-9])/, lacks: ['temperature', 'topP', 'topK'], prefill: false },
  { formats: geminiFormat, models: /^gemini-[12]/, searchWithTools: false },
  { models: /^gemini-/, lacks: ['frequencyPenalty', 'presencePenalty', 'logprobs'] },
  { formats: geminiFormat, models: /^gemini-/, reasoning: { control: 'level', efforts: ['low', 'medium', 'high'] } },
  {
    formats: geminiFormat,
    models: /^gemini-3(?:\.[156])?-flash/,
    reasoning: { efforts: ['minimal', 'low', 'medium', 'high'] },
  },
  { formats: geminiFormat, models: /^gemini-3-pro/, reasoning: { efforts: ['low', 'high'] } },
  {
    formats: geminiFormat,
    models: /^gemini-2\.5/,
    toolResultInputs: [],
    reasoning: {
      control: 'budget',
      efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
      minBudget: 512,
      maxBudget: 24_576,
    },
  },
  {
    formats: geminiFormat,
    models: /^gemini-2\.5-pro/,
    reasoning: { efforts: ['minimal', 'low', 'medium', 'high', 'xhigh'], minBudget: 128, maxBudget: 32_768 },
  },
  // Image models require signatures on all of their own parts: …/thought-signatures and …/image-generation.
  { formats: geminiFormat, models: /^gemini-[3-9].*image/, signsResponses: true },
  { formats: geminiFormat, models: /^gemma-?4/, reasoning: { control: 'level', efforts: ['minimal', 'high'] } },
  {
    formats: geminiFormat,
    models: /^(?:gemini-(?:1|2\.0)|gemma-?[123])/,
    toolResultInputs: [],
    reasoning: { control: 'none' },
  },
  // Vertex stores nothing, fetches files by URL, rejects call IDs, and can't report searches.
  {
    formats: geminiFormat,
    providers: /^vertex$/,
    supports: ['labels'],
    lacks: ['store'],
    inputs: ['image', 'image-url', 'file', 'file-url', 'audio', 'audio-url', 'video', 'video-url', 'youtube'],
    callIds: false,
    reportsSearches: false,
  },
  {
    formats: chatFormat,
    providers: /^google$/,
    lacks: ['seed', 'parallelToolCalls'],
    reasoning: { replay: 'always' },
  },
  {
    formats: chatFormat,
    providers: /^google$/,
    models: /^gemini-(?!1|2\.0)/,
    reasoning: { control: 'effort', efforts: ['low', 'medium', 'high'] },
  },
]
