import { once } from '../../../lib/promises.ts'
import { createFixedEndpoint, type SharedFormat } from '../format.ts'
import { PING_KEEP_ALIVE } from '../keep-alive-texts.ts'
import { loadFormatErrors } from '../load-format-errors.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../model-operations.ts'

/** Anthropic Messages. */
export const anthropicMessages: SharedFormat = {
  name: 'anthropic-messages',
  auth: 'x-api-key',
  defaultHeaders: { 'anthropic-version': '2023-06-01' },
  endpoints: [
    createFixedEndpoint('anthropic-messages', '/messages', { limitsOutput: true }),
    createFixedEndpoint('anthropic-messages', '/messages/count_tokens', {
      operation: operations.countTokens,
      streams: 'never',
    }),
  ],
  clientDetection: { paths: /^\/v1\/(?:v1\/)?messages/, headers: ['anthropic-version'] }, // repeating /v1 is a common client mistake
  requestIdHeader: 'request-id',
  loadErrors: async () => (await loadFormatErrors()).anthropicErrors,
  keepAlive: PING_KEEP_ALIVE,
  loadReaders: once(async () => (await import('./anthropic-readers.ts')).anthropicReaders),
  loadEventFilter: once(async () => (await import('./anthropic-one-message.ts')).createMessageFilter),
  loadTranslator: async () => (await loadTranslators()).anthropicTranslator,
}
