import { createFinder } from '../../../lib/bytes.ts'
import { isObject } from '../../../lib/json.ts'
import { once } from '../../../lib/promises.ts'
import { isEmptyValue, isNormalEnd } from '../errors/empty-responses.ts'
import { toEmbeddedError } from '../errors/load-error-readers.ts'
import {
  createFixedEndpoint,
  createOutputLimit,
  FREE,
  type ResponseReader,
  type SharedFormat,
  toContentFields,
  toCountReader,
} from '../format.ts'
import { loadFormatErrors } from '../load-format-errors.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../model-operations.ts'
import { KEEP_ALIVE, parseMessageUsage } from './anthropic-response.ts'

const answers: ResponseReader = {
  isAnswer: ({ content, stop_reason: reason }) => Array.isArray(content) && (content.length > 0 || Boolean(reason)),
  isEmpty: ({ stop_reason: reason, content }) => isNormalEnd(reason, 'end_turn') && isEmptyValue(content),
  getError: (response) =>
    isObject(response) && !('content' in response) ? toEmbeddedError(response.error) : undefined,
  getUsage: (response) => (isObject(response) ? parseMessageUsage(response.usage) : undefined),
  loadWatcher: once(async () => (await import('./anthropic-stream-state.ts')).createMessageStreamState),
  isOwnEvent: createFinder(['"content_block_', '"message_start"', '"message_delta"', '"message_stop"', '"ping"']),
  assemblesEvents: true,
  contentFields: toContentFields('text', 'thinking', 'partial_json', 'input', 'data', 'content'), // compactions have `content`
}

/** Anthropic Messages. */
export const anthropicMessages: SharedFormat = {
  name: 'anthropic-messages',
  auth: 'x-api-key',
  defaultHeaders: { 'anthropic-version': '2023-06-01' },
  endpoints: [
    createFixedEndpoint('anthropic-messages', '/messages', { outputLimit: createOutputLimit('max_tokens') }),
    createFixedEndpoint('anthropic-messages', '/messages/count_tokens', {
      operation: operations.countTokens,
      streams: 'never',
      bound: FREE,
    }),
  ],
  clientDetection: { paths: /^\/v1\/(?:v1\/)?messages/, headers: ['anthropic-version'] }, // repeating /v1 is a common mistake
  requestIdHeader: 'request-id',
  loadErrors: async () => (await loadFormatErrors()).messageErrors,
  keepAlive: KEEP_ALIVE,
  answers: { generate: answers, 'count-tokens': toCountReader(answers) },
  loadEventFilter: once(async () => (await import('./anthropic-one-message.ts')).createMessageFilter),
  loadTranslator: async () => (await loadTranslators()).messagesTranslator,
}
