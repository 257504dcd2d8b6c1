import type { OptionName } from '../../../traits.ts'
import { baseTraits } from '../canonical/base-traits.ts'
import { parseProviderError } from '../errors/parse-error.ts'
import { writeError } from '../openai-errors.ts'
import type { Translator } from '../translator.ts'
import { writeCompaction } from './client/responses-client-compaction.ts'
import { parseRequest } from './client/responses-client-request.ts'
import { writeCount, writeResponse } from './client/responses-client-response.ts'
import { createWriter } from './client/responses-client-stream.ts'
import { parseCount, writeCountRequest, writeRequest } from './provider/responses-provider-request.ts'
import { findResponse, parseResponse } from './provider/responses-provider-response.ts'
import { createReader } from './provider/responses-provider-stream.ts'
import { optionNames } from './responses-fields.ts'

const MEDIA_INPUTS = ['image', 'image-url', 'file', 'file-url'] as const

/** Translates OpenAI Responses to and from the canonical format. */
export const responsesTranslator: Translator = {
  /** OpenAI's own traits. Other vendors only declare differences. */
  traits: {
    ...baseTraits,
    lacks: ['frequencyPenalty', 'presencePenalty'],
    inputs: MEDIA_INPUTS,
    toolResultInputs: MEDIA_INPUTS,
    minOutputTokens: 16,
    freeFormTools: true,
    ownTools: true,
    webSearch: true,
    strictOutput: true,
    jsonNeedsWord: true,
    cacheBreakpoints: 'prompt_cache_breakpoint',
    uncacheable: ['assistant'],
  },
  supportedOptions: new Set(Object.keys(optionNames) as OptionName[]), // `optionNames` has no other keys
  fieldNames: {
    ...optionNames,
    toolChoice: 'tool_choice',
    output: 'text.format',
    show: 'reasoning.summary',
    turns: 'input',
    cache: 'prompt_cache_breakpoint',
  },
  optionFields: {
    maxOutputTokens: ['max_output_tokens'],
    temperature: ['temperature'],
    topP: ['top_p'],
    presencePenalty: ['presence_penalty'],
    frequencyPenalty: ['frequency_penalty'],
    reasoning: ['reasoning.effort'],
  },
  hidesReasoning: true,
  parseRequest,
  writeRequest,
  parseResponse,
  findResponse,
  writeResponse,
  writeCompaction,
  createReader,
  createWriter,
  tokenCounter: { writeRequest: writeCountRequest, parseCount, writeCount },
  parseError: parseProviderError,
  writeError,
}
