import type { OptionName, Traits } from '../../traits.ts'
import { baseTraits } from '../canonical/base-traits.ts'
import { writeError } from '../openai-error.ts'
import type { Translator } from '../translator.ts'
import { parseVendorError } from '../vendor-error.ts'
import { answerIn } from './answer-in.ts'
import { parseAnswer } from './answer-parse.ts'
import { writeAnswer } from './answer-write.ts'
import { writeCompaction } from './compaction.ts'
import { parseCount, writeCount, writeCountRequest } from './count-tokens.ts'
import { optionNames } from './option-names.ts'
import { parseRequest } from './request-parse.ts'
import { writeRequest } from './request-write.ts'
import { createReader } from './stream-parse.ts'
import { createWriter } from './stream-write.ts'

/** OpenAI Responses, to and from the canonical form. */
export const responsesTranslator: Translator = {
  traits: traits(),
  carries: new Set(Object.keys(optionNames) as OptionName[]), // its type says so
  fieldNames: {
    ...optionNames,
    toolChoice: 'tool_choice',
    output: 'text.format',
    show: 'reasoning.summary',
    turns: 'input',
    cache: 'prompt_cache_breakpoint',
  },
  keepsThoughts: true,
  parseRequest,
  writeRequest,
  parseAnswer,
  answerIn,
  writeAnswer,
  writeCompaction,
  createReader,
  createWriter,
  counter: { writeRequest: writeCountRequest, parseCount, writeCount },
  parseError: parseVendorError,
  writeError,
}

/** OpenAI itself; the vendors that follow it differ from this. */
function traits(): Traits {
  const media = ['image', 'image-url', 'file', 'file-url'] as const
  return {
    ...baseTraits,
    lacks: ['frequencyPenalty', 'presencePenalty'],
    inputs: media,
    toolResultInputs: media,
    minOutputTokens: 16,
    freeFormTools: true,
    ownTools: true,
    webSearch: true,
    jsonNeedsWord: true,
    cacheMarks: 'prompt_cache_breakpoint',
  }
}
