import type { OptionName } from '../../traits.ts'
import { baseTraits } from '../canonical/base-traits.ts'
import { parseProviderError } from '../errors/parse.ts'
import { writeError } from '../openai-errors.ts'
import type { Translator } from '../translator.ts'
import { writeAnswer, writeCount } from './client/answer.ts'
import { writeCompaction } from './client/compaction.ts'
import { parseRequest } from './client/request.ts'
import { createWriter } from './client/stream.ts'
import { optionNames } from './fields.ts'
import { answerInStream, parseAnswer } from './provider/answer.ts'
import { parseCount, writeCountRequest, writeRequest } from './provider/request.ts'
import { createReader } from './provider/stream.ts'

const media = ['image', 'image-url', 'file', 'file-url'] as const

/** Translates OpenAI Responses to the canonical form and back. */
export const responsesTranslator: Translator = {
  /** Those of OpenAI itself; compatible vendors are described by how they differ from them. */
  traits: {
    ...baseTraits,
    lacks: ['frequencyPenalty', 'presencePenalty'],
    inputs: media,
    toolResultInputs: media,
    minOutputTokens: 16,
    freeFormTools: true,
    ownTools: true,
    webSearch: true,
    strictOutput: true,
    jsonNeedsWord: true,
    cacheMarks: 'prompt_cache_breakpoint',
  },
  carries: new Set(Object.keys(optionNames) as OptionName[]), // by its type, the keys are all option names
  fieldNames: {
    ...optionNames,
    toolChoice: 'tool_choice',
    output: 'text.format',
    show: 'reasoning.summary',
    turns: 'input',
    cache: 'prompt_cache_breakpoint',
  },
  optionPlaces: {
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
  parseAnswer,
  answerInStream,
  writeAnswer,
  writeCompaction,
  createReader,
  createWriter,
  counter: { writeRequest: writeCountRequest, parseCount, writeCount },
  parseError: parseProviderError,
  writeError,
}
