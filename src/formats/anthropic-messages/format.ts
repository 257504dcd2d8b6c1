import { createFinder } from '../../lib/bytes.ts'
import { isObject } from '../../lib/json.ts'
import { embeddedError } from '../errors/embedded.ts'
import { isEmptyValue, isNormalEnd } from '../errors/empty.ts'
import {
  type AnswerReader,
  countsLike,
  FREE,
  fixedEndpoint,
  outputLimitIn,
  type SharedFormat,
  saidIn,
} from '../format.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../operations.ts'
import { messageErrors } from './errors.ts'
import { createMessageKeeper } from './one-message.ts'
import { createMessageStreamState, KEEP_ALIVE, messageUsage } from './stream-state.ts'

const answers: AnswerReader = {
  isAnswer: ({ content, stop_reason: reason }) => Array.isArray(content) && (content.length > 0 || Boolean(reason)),
  isEmpty: ({ stop_reason: reason, content }) => isNormalEnd(reason, 'end_turn') && isEmptyValue(content),
  errorIn: (answer) => (isObject(answer) && !('content' in answer) ? embeddedError(answer.error) : undefined),
  usageOf: (answer) => (isObject(answer) ? messageUsage(answer.usage) : undefined),
  watchStream: createMessageStreamState,
  isOwnEvent: createFinder(['"content_block_', '"message_start"', '"message_delta"', '"message_stop"', '"ping"']),
  gathersEvents: true,
  said: saidIn('text', 'thinking', 'partial_json', 'input'),
}

/** Anthropic Messages. */
export const anthropicMessages: SharedFormat = {
  name: 'anthropic-messages',
  auth: 'x-api-key',
  defaultHeaders: { 'anthropic-version': '2023-06-01' },
  endpoints: [
    fixedEndpoint('anthropic-messages', '/messages', { outputLimit: outputLimitIn('max_tokens') }),
    fixedEndpoint('anthropic-messages', '/messages/count_tokens', {
      operation: operations.countTokens,
      streams: 'never',
      bound: FREE,
    }),
  ],
  clientSigns: { paths: /^\/v1\/(?:v1\/)?messages/, headers: ['anthropic-version'] }, // also with /v1 twice, a common mistake
  requestIdHeader: 'request-id',
  errors: messageErrors,
  keepAlive: KEEP_ALIVE,
  answers: { generate: answers, 'count-tokens': countsLike(answers) },
  createKeeper: createMessageKeeper,
  loadTranslator: async () => (await loadTranslators()).messagesTranslator,
}
