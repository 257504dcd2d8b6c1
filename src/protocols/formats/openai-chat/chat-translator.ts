import type { OptionName } from '../../../traits.ts'
import { baseTraits } from '../canonical/base-traits.ts'
import { parseProviderError } from '../errors/parse-error.ts'
import { writeError } from '../openai-errors.ts'
import type { Translator } from '../translator.ts'
import { optionNames } from './chat-fields.ts'
import { parseRequest } from './client/chat-client-request.ts'
import { writeResponse } from './client/chat-client-response.ts'
import { createWriter } from './client/chat-client-stream.ts'
import { writeRequest } from './provider/chat-provider-request.ts'
import { parseResponse } from './provider/chat-provider-response.ts'
import { createReader } from './provider/chat-provider-stream.ts'

/** Translates OpenAI Chat Completions to and from the canonical format. */
export const chatTranslator: Translator = {
  /** OpenAI's own traits. Other vendors only declare differences. */
  traits: {
    ...baseTraits,
    lacks: ['topK'],
    inputs: ['image', 'image-url', 'file', 'audio'],
    freeFormTools: true,
    strictOutput: true,
    webSearch: true,
    jsonNeedsWord: true,
    cacheBreakpoints: 'prompt_cache_breakpoint',
    uncacheable: ['assistant'],
    reasoning: { ...baseTraits.reasoning, replay: 'never' },
  },
  supportedOptions: new Set(Object.keys(optionNames) as OptionName[]), // `optionNames` has no other keys
  fieldNames: {
    ...optionNames,
    toolChoice: 'tool_choice',
    output: 'response_format',
    show: 'reasoning',
    turns: 'messages',
    cache: 'cache_control',
  },
  optionFields: {
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
  parseResponse,
  writeResponse,
  createReader,
  createWriter,
  parseError: parseProviderError,
  writeError,
}
