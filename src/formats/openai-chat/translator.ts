import type { OptionName, Traits } from '../../traits.ts'
import { baseTraits } from '../canonical/base-traits.ts'
import { writeError } from '../openai-error.ts'
import type { Translator } from '../translator.ts'
import { parseVendorError } from '../vendor-error.ts'
import { parseAnswer } from './answer-parse.ts'
import { writeAnswer } from './answer-write.ts'
import { optionNames } from './option-names.ts'
import { parseRequest } from './request-parse.ts'
import { writeRequest } from './request-write.ts'
import { createReader } from './stream-parse.ts'
import { createWriter } from './stream-write.ts'

/** OpenAI Chat Completions, to and from the canonical form. */
export const chatTranslator: Translator = {
  traits: traits(),
  carries: new Set(Object.keys(optionNames) as OptionName[]), // its type says so
  fieldNames: {
    ...optionNames,
    toolChoice: 'tool_choice',
    output: 'response_format',
    show: 'reasoning',
    turns: 'messages',
    cache: 'cache_control',
  },
  parseRequest,
  writeRequest,
  parseAnswer,
  writeAnswer,
  createReader,
  createWriter,
  parseError: parseVendorError,
  writeError,
}

/** OpenAI itself; the vendors that follow it differ from this. */
function traits(): Traits {
  return {
    ...baseTraits,
    lacks: ['topK'],
    inputs: ['image', 'image-url', 'file', 'audio'],
    freeFormTools: true,
    webSearch: true,
    jsonNeedsWord: true,
    cacheMarks: 'prompt_cache_breakpoint',
    reasoning: { ...baseTraits.reasoning, replay: 'never' },
  }
}
