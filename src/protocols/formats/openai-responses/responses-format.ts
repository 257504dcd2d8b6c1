import { once } from '../../../lib/promises.ts'
import { createFixedEndpoint, type Endpoint, type SharedFormat } from '../format.ts'
import { COMMENT_KEEP_ALIVE } from '../keep-alive-texts.ts'
import { loadFormatErrors } from '../load-format-errors.ts'
import { loadTranslators } from '../load-translators.ts'
import { operations } from '../model-operations.ts'
import { readCompactionMode } from './compaction-mode.ts'
import { listReferences } from './responses-references.ts'

/** Fields that refer to data that a provider stores. */
const statefulFields = ['previous_response_id', 'conversation', 'background']

/** Properties that all endpoints share. */
const sharedOptions: Pick<Endpoint, 'statefulFields' | 'streamOnlyField' | 'getReferences'> = {
  statefulFields,
  streamOnlyField: 'stream_options',
  getReferences: ({ body }) => listReferences(body.input),
}

/** The OpenAI Responses format. */
export const openaiResponses: SharedFormat = {
  name: 'openai-responses',
  auth: 'bearer',
  defaultHeaders: {},
  endpoints: [
    createFixedEndpoint('openai-responses', '/responses', {
      ...sharedOptions,
      getCompactionMode: readCompactionMode,
      limitsOutput: true,
    }),
    createFixedEndpoint('openai-responses', '/responses/input_tokens', {
      ...sharedOptions,
      operation: operations.countTokens,
      streams: 'never',
    }),
    createFixedEndpoint('openai-responses', '/responses/compact', {
      ...sharedOptions,
      operation: operations.compact,
      streams: 'never',
    }),
  ],
  clientDetection: { paths: /^\/v1\/responses/, headers: [] },
  requestIdHeader: 'x-request-id',
  loadErrors: async () => (await loadFormatErrors()).responseErrors,
  keepAlive: COMMENT_KEEP_ALIVE,
  loadReaders: once(async () => (await import('./responses-readers.ts')).responsesReaders),
  loadTranslator: async () => (await loadTranslators()).responsesTranslator,
}
