import type { OptionName, Traits } from '../../../traits.ts'
import { baseTraits } from '../canonical/base-traits.ts'
import type { Translator } from '../translator.ts'
import { parseError, writeError } from './anthropic-errors.ts'
import { parseRequest } from './client/anthropic-client-request.ts'
import { writeCount, writeResponse } from './client/anthropic-client-response.ts'
import { createWriter } from './client/anthropic-client-stream.ts'
import { writeCountRequest, writeRequest } from './provider/anthropic-provider-request.ts'
import { parseCount, parseResponse } from './provider/anthropic-provider-response.ts'
import { createReader } from './provider/anthropic-provider-stream.ts'

const optionNames: Partial<Record<OptionName, string>> = {
  cacheOptions: 'cache_control',
  endUser: 'metadata.user_id',
  maxOutputTokens: 'max_tokens',
  parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
  reasoning: 'thinking',
  serviceTier: 'service_tier',
  stop: 'stop_sequences',
  temperature: 'temperature',
  topK: 'top_k',
  topP: 'top_p',
}

/** Translates Anthropic Messages to and from the canonical format. */
export const anthropicTranslator: Translator = {
  traits: createTraits(),
  supportedOptions: new Set(Object.keys(optionNames) as OptionName[]), // `optionNames` has no other keys
  fieldNames: {
    ...optionNames,
    toolChoice: 'tool_choice',
    output: 'output_config.format',
    show: 'thinking.display',
    turns: 'messages',
    cache: 'cache_control',
  },
  optionFields: {
    maxOutputTokens: ['max_tokens'],
    temperature: ['temperature'],
    topP: ['top_p'],
    topK: ['top_k'],
    stop: ['stop_sequences'],
    reasoning: ['thinking', 'output_config.effort'],
  },
  showsBudgetedReasoning: true,
  parseRequest,
  writeRequest,
  parseResponse,
  writeResponse,
  createReader,
  createWriter,
  tokenCounter: { writeRequest: writeCountRequest, parseCount, writeCount },
  parseError,
  writeError,
}

/** Creates the traits of the format itself. Individual models support less, whether they're Anthropic's or a compatible vendor's. */
function createTraits(): Traits {
  return {
    ...baseTraits,
    inputs: ['image', 'image-url', 'file', 'file-url', 'search-result'],
    toolResultInputs: ['image', 'image-url', 'file', 'file-url', 'search-result'],
    maxTemperature: 1,
    maxStopSequences: Number.MAX_SAFE_INTEGER,
    developerRole: false,
    lateSystem: false,
    documents: true,
    emptyText: 'refused',
    toolNames: { ...baseTraits.toolNames, maxLength: 128 },
    toolChoices: ['none', 'required', 'tool'],
    webSearch: true,
    ownTools: true,
    outputFormats: ['json-schema'],
    cacheBreakpoints: 'cache_control',
    reasoning: {
      ...baseTraits.reasoning,
      control: 'adaptive',
      efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
    },
  }
}
