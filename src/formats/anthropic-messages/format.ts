import { isObject } from '../../lib/json.ts'
import { embeddedError } from '../errors/embedded.ts'
import { type Format, fixedEndpoint } from '../format.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../operations.ts'
import { messageErrors } from './errors.ts'
import { createMessageKeeper } from './one-message.ts'
import { createMessageStreamState, KEEP_ALIVE, messageUsage } from './stream-state.ts'

/** Anthropic Messages. */
export const anthropicMessages: Format = {
  name: 'anthropic-messages',
  auth: 'x-api-key',
  defaultHeaders: { 'anthropic-version': '2023-06-01' },
  endpoints: [
    fixedEndpoint('anthropic-messages', '/messages'),
    fixedEndpoint('anthropic-messages', '/messages/count_tokens', operations.countTokens),
  ],
  clientSigns: { paths: /^\/v1\/(?:v1\/)?messages/, headers: ['anthropic-version'] }, // also with /v1 twice, a common mistake
  requestIdHeader: 'request-id',
  errors: messageErrors,
  keepAlive: KEEP_ALIVE,
  watchStream: createMessageStreamState,
  createKeeper: createMessageKeeper,
  usageOf: (answer) => (isObject(answer) ? messageUsage(answer.usage) : undefined),
  errorIn: (answer) => (isObject(answer) && !('content' in answer) ? embeddedError(answer.error) : undefined),
  isAnswer: ({ content, stop_reason: reason }) => Array.isArray(content) && (content.length > 0 || Boolean(reason)),
  loadTranslator: async () => (await loadTranslators()).messagesTranslator,
}
