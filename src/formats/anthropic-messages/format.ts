import { isObject } from '../../lib/json.ts'
import { once } from '../../lib/once.ts'
import { embeddedError } from '../embedded-error.ts'
import { fixedEndpoint } from '../endpoint.ts'
import type { Format } from '../format.ts'
import { KEEP_ALIVE } from './keep-alive.ts'
import { createMessageKeeper } from './one-message.ts'
import { watchMessageStream } from './stream.ts'
import { messageUsage } from './usage.ts'

/** Anthropic Messages. */
export const anthropicMessages: Format = {
  name: 'anthropic-messages',
  auth: 'x-api-key',
  defaultHeaders: { 'anthropic-version': '2023-06-01' },
  endpoints: [
    fixedEndpoint('anthropic-messages', '/messages'),
    fixedEndpoint('anthropic-messages', '/messages/count_tokens', 'count-tokens'),
  ],
  clientSigns: { paths: /^\/v1\/(?:v1\/)?messages/, headers: ['anthropic-version'] }, // also with /v1 twice, a common mistake
  requestIdHeader: 'request-id',
  loadErrors: once(async () => (await import('./error.ts')).anthropicErrors),
  loadModels: once(async () => (await import('./models.ts')).anthropicModels),
  loadFailures: once(async () => (await import('./failures.ts')).messageFailures),
  keepAlive: KEEP_ALIVE,
  watchStream: watchMessageStream,
  createKeeper: createMessageKeeper,
  usageOf: (answer) => (isObject(answer) ? messageUsage(answer.usage) : undefined),
  errorIn: (answer) => (isObject(answer) && !('content' in answer) ? embeddedError(answer.error) : undefined),
  isAnswer: ({ content, stop_reason: reason }) => Array.isArray(content) && (content.length > 0 || Boolean(reason)),
  loadTranslator: once(async () => (await import('./translator.ts')).messagesTranslator),
}
