import type { OptionName } from '../../traits.ts'

/** What this format calls the options that it has a place for. */
export const optionNames: Readonly<Partial<Record<OptionName, string>>> = {
  candidates: 'generationConfig.candidateCount',
  frequencyPenalty: 'generationConfig.frequencyPenalty',
  labels: 'labels',
  logprobs: 'generationConfig.responseLogprobs',
  maxOutputTokens: 'generationConfig.maxOutputTokens',
  modalities: 'generationConfig.responseModalities',
  presencePenalty: 'generationConfig.presencePenalty',
  reasoning: 'generationConfig.thinkingConfig',
  seed: 'generationConfig.seed',
  serviceTier: 'serviceTier',
  speech: 'generationConfig.speechConfig',
  stop: 'generationConfig.stopSequences',
  store: 'store',
  temperature: 'generationConfig.temperature',
  topK: 'generationConfig.topK',
  topP: 'generationConfig.topP',
}
