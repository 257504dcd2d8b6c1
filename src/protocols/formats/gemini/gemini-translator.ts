import type { OptionName, Traits } from '../../../traits.ts'
import { ALL_EFFORTS, baseTraits } from '../canonical/base-traits.ts'
import type { Translator } from '../translator.ts'
import { parseCountRequest, parseRequest } from './client/gemini-client-request.ts'
import { writeCount, writeResponse } from './client/gemini-client-response.ts'
import { createWriter } from './client/gemini-client-stream.ts'
import { parseError, writeError } from './gemini-errors.ts'
import { writeCountRequest, writeRequest } from './provider/gemini-provider-request.ts'
import { parseCount, parseResponse } from './provider/gemini-provider-response.ts'
import { createReader } from './provider/gemini-provider-stream.ts'

const optionNames: Readonly<Partial<Record<OptionName, string>>> = {
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

/** Translates Gemini's generateContent to and from the canonical format. */
export const geminiTranslator: Translator = {
  traits: createTraits(),
  supportedOptions: new Set(Object.keys(optionNames) as OptionName[]), // `optionNames` has no other keys
  fieldNames: {
    ...optionNames,
    toolChoice: 'toolConfig.functionCallingConfig',
    output: 'generationConfig.responseMimeType',
    show: 'generationConfig.thinkingConfig.includeThoughts',
    turns: 'contents',
    detail: 'generationConfig.mediaResolution',
  },
  optionFields: {
    maxOutputTokens: ['generationConfig.maxOutputTokens'],
    temperature: ['generationConfig.temperature'],
    topP: ['generationConfig.topP'],
    topK: ['generationConfig.topK'],
    stop: ['generationConfig.stopSequences'],
    seed: ['generationConfig.seed'],
    presencePenalty: ['generationConfig.presencePenalty'],
    frequencyPenalty: ['generationConfig.frequencyPenalty'],
    reasoning: ['generationConfig.thinkingConfig.thinkingBudget', 'generationConfig.thinkingConfig.thinkingLevel'],
  },
  hidesReasoning: true,
  parseRequest,
  writeRequest,
  parseResponse,
  writeResponse,
  createReader,
  createWriter,
  tokenCounter: { parseRequest: parseCountRequest, writeRequest: writeCountRequest, parseCount, writeCount },
  parseError,
  writeError,
}

/** Creates the Gemini API's traits. For models with thinking levels, see google-traits.ts. Vertex accepts labels and stores nothing. */
function createTraits(): Traits {
  return {
    ...baseTraits,
    lacks: ['labels'],
    unionTools: true,
    ownTools: true,
    reportsSearches: true,
    plainOutput: true,
    inputs: ['image', 'file', 'audio', 'video', 'youtube'],
    assistantImages: true,
    toolResultInputs: ['image', 'file'],
    maxStopSequences: 5,
    developerRole: false,
    lateSystem: false,
    emptyText: 'blanks',
    toolNames: { characters: 'A-Za-z0-9_.:-', first: 'A-Za-z_', maxLength: 128 },
    strictTools: false,
    webSearch: true,
    reasoning: {
      ...baseTraits.reasoning,
      control: 'budget',
      efforts: ALL_EFFORTS,
      budgets: { none: 0, minimal: 512, low: 1_024, medium: 8_192, high: 24_576, xhigh: 24_576, max: 24_576 },
      minBudget: 512,
      maxBudget: 24_576,
    },
  }
}
