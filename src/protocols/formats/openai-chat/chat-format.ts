import { createFinder } from '../../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { once } from '../../../lib/promises.ts'
import { hasOnlyItems, isEmptyValue, isNormalEnd } from '../errors/empty-responses.ts'
import { toEmbeddedError } from '../errors/load-error-readers.ts'
import {
  createFixedEndpoint,
  type ResponseReader,
  type ResponseReaders,
  type SharedFormat,
  toContentFields,
} from '../format.ts'
import { COMMENT_KEEP_ALIVE } from '../keep-alive-texts.ts'
import { loadFormatErrors } from '../load-format-errors.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../model-operations.ts'
import { findChoiceError, getChunkError, parseChatUsage } from './chat-response.ts'

/** Returns whether a request neither asks for usage nor opts out of it. Malformed options are left for the provider to reject. */
const mayRequestUsage = ({ stream_options: options = null }: JsonObject): boolean =>
  options === null || (isObject(options) && (options.include_usage ?? false) === false)

const responseReader: ResponseReader = {
  isResponse: hasChoices,
  isEmpty: ({ choices }) =>
    hasOnlyItems(
      choices,
      (choice) => isNormalEnd(choice.finish_reason, 'stop') && !('text' in choice) && isEmptyValue(choice.message),
    ),
  getError: (response) => {
    if (!isObject(response)) return undefined
    return toEmbeddedError(hasChoices(response) ? findChoiceError(response.choices) : getChunkError(response))
  },
  getUsage: (response) => (isObject(response) ? parseChatUsage(response.usage) : undefined),
  loadStateFactory: once(async () => (await import('./chat-stream-state.ts')).createChatStreamState),
  isResponseEvent: createFinder(['"choices"', '[DONE]']),
  assemblesEvents: true,
  contentFields: toContentFields(
    ...['content', 'refusal', 'transcript', 'tool_calls', 'function_call'],
    ...['reasoning_content', 'reasoning', 'reasoning_details', 'thinking', 'thinking_blocks'],
  ),
}

const chatReaders: ResponseReaders = {
  generate: responseReader,
  complete: { ...responseReader, assemblesEvents: false, contentFields: toContentFields('text') },
}

/** The properties that both endpoints share. */
const sharedOptions = { streamOnlyField: 'stream_options', mayRequestUsage, limitsOutput: true } as const

/** OpenAI Chat Completions. */
export const openaiChat: SharedFormat = {
  name: 'openai-chat',
  auth: 'bearer',
  defaultHeaders: {},
  endpoints: [
    createFixedEndpoint('openai-chat', '/chat/completions', sharedOptions),
    createFixedEndpoint('openai-chat', '/completions', { ...sharedOptions, operation: operations.complete }),
  ],
  clientDetection: { headers: [] },
  requestIdHeader: 'x-request-id',
  loadErrors: async () => (await loadFormatErrors()).chatErrors,
  keepAlive: COMMENT_KEEP_ALIVE,
  loadReaders: async () => chatReaders, // loaded with the gateway, because most requests use this format
  loadTranslator: async () => (await loadTranslators()).chatTranslator,
}

function hasChoices({ choices }: JsonObject): boolean {
  return Array.isArray(choices) && choices.length > 0
}
