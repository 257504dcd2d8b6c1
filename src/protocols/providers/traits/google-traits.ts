import type { TargetDifference } from './difference.ts'

const native = /^gemini$/
const chat = /^openai-chat$/

/*
 * The differences of Gemini, in its own format and through APIs like OpenAI's. Sources: https://ai.google.dev/gemini-api/docs/thinking and
 * …/openai, https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thinking, October 2026; a newer model than these is treated like
 * Gemini 4.
 */
export const google: readonly TargetDifference[] = [
  // From 3.5 on, models ignore sampling parameters (4 refuses them) and do not continue an answer. No model offers penalties or probabilities.
  { models: /^gemini-(?:3\.[5-9]|[4-9])/, lacks: ['temperature', 'topP', 'topK'], prefill: false },
  { formats: native, models: /^gemini-[12]/, searchBesideTools: false },
  { models: /^gemini-/, lacks: ['frequencyPenalty', 'presencePenalty', 'logprobs'] },
  { formats: native, models: /^gemini-/, reasoning: { by: 'level', efforts: ['low', 'medium', 'high'] } },
  {
    formats: native,
    models: /^gemini-3(?:\.[156])?-flash/,
    reasoning: { efforts: ['minimal', 'low', 'medium', 'high'] },
  },
  { formats: native, models: /^gemini-3-pro/, reasoning: { efforts: ['low', 'high'] } },
  {
    formats: native,
    models: /^gemini-2\.5/,
    toolResultInputs: [],
    reasoning: {
      by: 'budget',
      efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
      minBudget: 512,
      maxBudget: 24_576,
    },
  },
  {
    formats: native,
    models: /^gemini-2\.5-pro/,
    reasoning: { efforts: ['minimal', 'low', 'medium', 'high', 'xhigh'], minBudget: 128, maxBudget: 32_768 },
  },
  // Models that make images require all of their own parts with signatures: …/thought-signatures and …/image-generation.
  { formats: native, models: /^gemini-[3-9].*image/, signsAnswers: true },
  { formats: native, models: /^gemma-?4/, reasoning: { by: 'level', efforts: ['minimal', 'high'] } },
  {
    formats: native,
    models: /^(?:gemini-(?:1|2\.0)|gemma-?[123])/,
    toolResultInputs: [],
    reasoning: { by: 'none' },
  },
  // Vertex stores nothing, fetches files by their address, refuses the ids of calls, and has no option to report searches.
  {
    formats: native,
    providers: /^vertex$/,
    takes: ['labels'],
    lacks: ['store'],
    inputs: ['image', 'image-url', 'file', 'file-url', 'audio', 'audio-url', 'video', 'video-url', 'youtube'],
    callIds: false,
    reportsSearches: false,
  },
  {
    formats: chat,
    providers: /^google$/,
    lacks: ['seed', 'parallelToolCalls'],
    reasoning: { replay: 'always' },
  },
  {
    formats: chat,
    providers: /^google$/,
    models: /^gemini-(?!1|2\.0)/,
    reasoning: { by: 'effort', efforts: ['low', 'medium', 'high'] },
  },
]
