import type { OptionName, Traits } from '../../traits.ts'
import { baseTraits, EFFORTS } from '../canonical/base-traits.ts'
import type { Translator } from '../translator.ts'
import { parseAnswer } from './answer-parse.ts'
import { writeAnswer } from './answer-write.ts'
import { parseCount, parseCountRequest, writeCount, writeCountRequest } from './count-tokens.ts'
import { parseError } from './error-parse.ts'
import { writeError } from './error-write.ts'
import { optionNames } from './option-names.ts'
import { parseRequest } from './request-parse.ts'
import { writeRequest } from './request-write.ts'
import { createReader } from './stream-parse.ts'
import { createWriter } from './stream-write.ts'

/** Gemini generateContent, to and from the canonical form. */
export const geminiTranslator: Translator = {
  traits: traits(),
  carries: new Set(Object.keys(optionNames) as OptionName[]), // its type says so
  fieldNames: {
    ...optionNames,
    toolChoice: 'toolConfig.functionCallingConfig',
    output: 'generationConfig.responseMimeType',
    show: 'generationConfig.thinkingConfig.includeThoughts',
    turns: 'contents',
    detail: 'generationConfig.mediaResolution',
  },
  keepsThoughts: true,
  parseRequest,
  writeRequest,
  parseAnswer,
  writeAnswer,
  createReader,
  createWriter,
  counter: { parseRequest: parseCountRequest, writeRequest: writeCountRequest, parseCount, writeCount },
  parseError,
  writeError,
}

/**
 * The Gemini API. Budgets are what all its models understand; those that think by levels say so. Vertex takes labels and has nothing to
 * store.
 */
function traits(): Traits {
  return {
    ...baseTraits,
    lacks: ['labels'],
    unionTools: true,
    tellsSearches: true,
    plainOutput: true,
    inputs: ['image', 'file', 'audio', 'video', 'youtube'],
    saidImages: true,
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
      by: 'budget',
      efforts: EFFORTS,
      budgets: { none: 0, minimal: 512, low: 1_024, medium: 8_192, high: 24_576, xhigh: 24_576, max: 24_576 },
      minBudget: 512,
      maxBudget: 24_576,
    },
  }
}
