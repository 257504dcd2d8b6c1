import type { OptionName } from '../../traits.ts'
import { baseTraits } from '../canonical/base-traits.ts'
import { parseProviderError } from '../errors/parse.ts'
import { writeError } from '../openai-errors.ts'
import type { Translator } from '../translator.ts'
import { writeAnswer } from './client/answer.ts'
import { parseRequest } from './client/request.ts'
import { createWriter } from './client/stream.ts'
import { optionNames } from './fields.ts'
import { parseAnswer } from './provider/answer.ts'
import { writeRequest } from './provider/request.ts'
import { createReader } from './provider/stream.ts'

/** Translates OpenAI Chat Completions to the canonical form and back. */
export const chatTranslator: Translator = {
  /** Those of OpenAI itself; compatible vendors are described by how they differ from them. */
  traits: {
    ...baseTraits,
    lacks: ['topK'],
    inputs: ['image', 'image-url', 'file', 'audio'],
    freeFormTools: true,
    strictOutput: true,
    webSearch: true,
    jsonNeedsWord: true,
    cacheMarks: 'prompt_cache_breakpoint',
    reasoning: { ...baseTraits.reasoning, replay: 'never' },
  },
  carries: new Set(Object.keys(optionNames) as OptionName[]), // by its type, the keys are all option names
  fieldNames: {
    ...optionNames,
    toolChoice: 'tool_choice',
    output: 'response_format',
    show: 'reasoning',
    turns: 'messages',
    cache: 'cache_control',
  },
  optionPlaces: {
    maxOutputTokens: ['max_completion_tokens', 'max_tokens'],
    temperature: ['temperature'],
    topP: ['top_p'],
    topK: ['top_k'],
    stop: ['stop'],
    seed: ['seed', 'random_seed'],
    presencePenalty: ['presence_penalty'],
    frequencyPenalty: ['frequency_penalty'],
    reasoning: [
      ...['reasoning_effort', 'reasoning.effort', 'reasoning.enabled', 'reasoning.max_tokens', 'thinking'],
      ...['thinking_budget', 'enable_thinking', 'chat_template_kwargs.enable_thinking'],
    ],
  },
  parseRequest,
  writeRequest,
  parseAnswer,
  writeAnswer,
  createReader,
  createWriter,
  parseError: parseProviderError,
  writeError,
}
